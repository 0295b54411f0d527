import assert from "node:assert/strict";
import { test } from "node:test";
import { Block, BlockCache } from "../src/blocks";
import { blockRows, RemoteFrames, strideFor } from "../src/frames";
import { History } from "../src/history";
import { Layout } from "../src/layout";
import { type Meta } from "../src/types";

const pendulum = { lines: [{ elements: 2, length: 10, reel: {}, end_reel: null }], bodies: [{}] } as unknown as Pick<Meta, "lines" | "bodies">;
const layout = new Layout(pendulum);

/** Frames whose first number is the time; the rest counts up. */
function rows(times: number[], of = layout): Float32Array {
  const data = new Float32Array(times.length * of.size);
  times.forEach((time, i) => {
    for (let k = 0; k < of.size; k++) data[i * of.size + k] = k;
    data[i * of.size] = time;
  });
  return data;
}

const block = (first: number, every: number, times: number[]) => new Block(first, every, rows(times), layout);

test("a frame is read where the protocol puts its numbers", () => {
  assert.equal(layout.size, 3 + 9 + 12 + 2 + 2);
  const row = new Float32Array(layout.size);
  row.set([1.5, 4, 4.5, /* nodes */ 0, 0, 0, 3, 4, 0, 3, 4, 6 /* body */, 3, 4, 6, 0, -1, 0, 1, 0, 0, 0, 0, 1 /* tension */, 7, 8 /* energy */, 9, 10]);
  const [strand] = layout.strands;
  assert.deepEqual([strand.keptLength(row), strand.turn(row, 0), strand.turn(row, 1)], [4, 4.5, 0]);
  assert.deepEqual(layout.positions(row), [0, 0, 0, 3, 4, 0, 3, 4, 6]);
  // elements of 5 m and 6 m, of 6 m unstretched in two elements
  assert.ok(Math.abs(strand.strain(row, 0) - (5 / 3 - 1)) < 1e-12);
  assert.equal(strand.value(row, "strain", 1), 1);
  assert.equal(strand.value(row, "tension", 1), 8);
  assert.equal(strand.value(row, "energy_density", 0), 9);
  // the body's x axis points along y: a quarter turn about z at the last node
  assert.deepEqual(layout.bodyPoint(row, 0, [2, 0, 1], [0, 0, 0]), [3, 6, 7]);
  assert.ok(layout.drawable(row));
  row[4] = NaN;
  assert.ok(!layout.drawable(row));
});

test("each line and body has its own numbers in a frame", () => {
  const lines = [{ elements: 1, length: 8 }, { elements: 2, length: 10, reel: {}, end_reel: {} }]; // nothing, and a wheel and a drum
  const two = new Layout({ lines, bodies: [{}, {}, {}] } as unknown as Meta);
  assert.equal(two.size, 1 + 2 + 2 + 3 * 5 + 12 * 3 + 2 * 3);
  const row = Float32Array.from({ length: two.size }, (_, k) => k);
  const [first, second] = two.strands;
  assert.deepEqual([first.keptLength(row), second.keptLength(row)], [1, 2]);
  assert.deepEqual([first.turn(row, 0), second.turn(row, 0), second.turn(row, 1)], [0, 3, 4]);
  assert.deepEqual([first.node(row, 1), second.node(row, 0), second.node(row, 2)], [[8, 9, 10], [11, 12, 13], [17, 18, 19]]);
  assert.deepEqual([...two.pose(row, 1)], [32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43]);
  assert.deepEqual([first.value(row, "tension", 0), second.value(row, "tension", 1)], [56, 58]);
  assert.deepEqual([first.value(row, "energy_density", 0), second.value(row, "energy_density", 1)], [59, 61]);
});

test("a block that holds no whole frames is refused", () => {
  assert.throws(() => new Block(0, 1, new Float32Array(layout.size + 1), layout), /does not hold frames/);
  assert.throws(() => new Block(0, 1, new Float32Array(0), layout), /does not hold frames/);
});

test("the nearest frame is found by its own time, in any block and at any stride", () => {
  const cache = new BlockCache(1e9);
  assert.equal(cache.nearest(0), null);
  cache.put(block(0, 4, [0, 4, 8, 12]));
  cache.put(block(4, 1, [4, 5, 5.5, 7])); // not uniform
  assert.equal(cache.nearest(5.6)?.index, 6);
  assert.equal(cache.nearest(6.4)?.index, 7);
  assert.equal(cache.nearest(11)?.index, 12);
  assert.equal(cache.nearest(-3)?.index, 0);
  assert.equal(cache.nearest(99)?.index, 12);
  assert.equal(cache.sample(5)?.row[0], 5);
  assert.equal(cache.sample(8)?.row[0], 8);
  assert.equal(cache.sample(9), null);
});

test("the cache stays within its bytes and drops what was used least recently, never what is pinned", () => {
  const one = block(0, 1, [0, 1]).data.byteLength;
  const cache = new BlockCache(3 * one);
  cache.put(block(0, 1, [0, 1]), true);
  cache.put(block(2, 1, [2, 3]));
  cache.put(block(4, 1, [4, 5]));
  cache.nearest(2); // use it
  cache.put(block(6, 1, [6, 7]));
  assert.equal(cache.bytes, 3 * one);
  assert.deepEqual([0, 2, 4, 6].map((first) => cache.has(first, 1)), [true, true, false, true]);
  cache.put(block(6, 1, [6, 7])); // the same block again takes no more room
  assert.equal(cache.bytes, 3 * one);
});

test("strides and blocks are powers of two that fit the speed and the frames", () => {
  assert.equal(strideFor(1, 0.01), 1);
  assert.equal(strideFor(20, 0.01), 32);
  assert.equal(strideFor(0.05, 0.001), 1);
  assert.equal(strideFor(20, 1e-4), 2048);
  assert.equal(blockRows(114), 256);
  assert.equal(blockRows(5014), 32);
  assert.equal(blockRows(1e7), 1);
});

const meta = { samples: 100_000, start: 0, end: 999.99, series: [{}, {}], ...pendulum } as unknown as Meta;

test("a long run is asked for in blocks around the time, ahead in the direction of play", async () => {
  const asked: [number, number, number][] = [];
  let arrived = 0;
  const source = new RemoteFrames(
    meta,
    layout,
    async (first, count, every) => {
      asked.push([first, count, every]);
      return rows(Array.from({ length: Math.min(count, Math.ceil((meta.samples - first) / every)) }, (_, i) => 0.01 * (first + i * every)));
    },
    () => arrived++,
    (problem) => assert.equal(problem, null),
  );
  await source.open();
  assert.deepEqual(asked, [[0, 256, 1], [0, 256, 512]]);
  await new Promise((done) => setTimeout(done, 0));
  asked.length = 0;
  source.want(500, 1, 0);
  assert.ok(source.waiting);
  const first = Math.floor(50_000 / 256) * 256;
  assert.deepEqual(asked, [[first, 256, 1]]);
  await new Promise((done) => setTimeout(done, 0));
  assert.ok(!source.waiting);
  assert.equal(source.nearest(500)?.index, 50_000);
  asked.length = 0;
  source.want(500, 1, -1);
  await new Promise((done) => setTimeout(done, 0));
  assert.deepEqual(asked, [[first - 256, 256, 1], [first - 512, 256, 1]]);
  assert.equal(arrived, 5);
});

test("a server that fails is asked again later, and says so", async () => {
  let problems = 0;
  const source = new RemoteFrames(meta, layout, () => Promise.reject(new Error("gone")), () => assert.fail(), (problem) => (problems += problem ? 1 : 0));
  source.want(1, 1, 0);
  await new Promise((done) => setTimeout(done, 0));
  source.want(1, 1, 0); // too soon
  await new Promise((done) => setTimeout(done, 0));
  assert.equal(problems, 1);
  assert.ok(source.waiting);
});

test("a live history drops what is old, and begins again when time goes back", () => {
  const history = new History(meta);
  const state = (time: number) => Float64Array.from([time, 10 * time, -time, ...rows([time])]);
  for (let i = 0; i <= 900; i++) history.push(state(0.1 * i));
  assert.ok(history.start > 20 && history.start <= 30 && Math.abs(history.end - 90) < 1e-4);
  assert.ok(history.curves.times.length < 901);
  assert.equal(history.nearest(85.02)?.index, 850);
  assert.equal(history.step(history.nearest(85)!, -2).index, 848);
  assert.equal(history.push(state(0)), true);
  assert.equal(history.end, 0);
  assert.deepEqual(history.curves.columns, [[0], [-0]]);
  assert.throws(() => history.push(new Float64Array(3)), /3 numbers came; rows of 3 and a frame of 28 were expected/);
});
