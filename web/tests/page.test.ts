import assert from "node:assert/strict";
import { test } from "node:test";
import { cssColour, linearColour, Scale } from "../src/colours";
import { sharpEdges, triangles } from "../src/edges";
import { number, roundUp, timeDecimals, units } from "../src/format";
import { actionOf, BINDINGS, bindingsFor, keyNames } from "../src/keys";
import { Player } from "../src/player";
import { throttle } from "../src/throttle";
import { trailRows } from "../src/trail";
import { type Vector } from "../src/types";

/** Lightness as the eye has it, from linear sRGB. */
function lightness([r, g, b]: number[]): number {
  const y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

for (const theme of ["dark", "light"] as const)
  test(`the ${theme} colours grow lighter in even steps`, () => {
    const all = Array.from({ length: 33 }, (_, i) => lightness(linearColour(i / 32, theme)));
    const steps = all.slice(1).map((x, i) => x - all[i]);
    const mean = steps.reduce((a, b) => a + b) / steps.length;
    assert.ok(steps.every((step) => step > 0.4 * mean && step < 1.8 * mean), steps.join(" "));
  });

test("a scale holds its ends, and shows the middle where it has no width", () => {
  const scale = new Scale([1, 3], "dark");
  assert.deepEqual([0, 1, 2, 3, 9].map((x) => scale.position(x)), [0, 0, 0.5, 1, 1]);
  assert.equal(new Scale([2, 2], "dark").position(2), 0.5);
  assert.equal(scale.position(NaN), 0.5);
  const out = new Float32Array(3);
  scale.write(3, 0.5, out, 0);
  linearColour(1, "dark").forEach((x, i) => assert.ok(Math.abs(out[i] - 0.5 * x) < 1e-6));
  assert.match(cssColour(0.3, "light"), /^rgb\(\d+ \d+ \d+\)$/);
});

test("no key does two things", () => {
  for (const mode of ["replay", "offline", "live"] as const) {
    const keys = bindingsFor(mode).flatMap((binding) => binding.keys);
    assert.equal(new Set(keys).size, keys.length);
  }
  assert.equal(actionOf("L", "replay"), "loop");
  assert.equal(actionOf("l", "live"), "lock");
  assert.equal(actionOf("ArrowRight", "offline"), "forward");
  assert.equal(actionOf("ArrowRight", "live"), "more");
  assert.equal(actionOf("q", "live"), null);
  assert.ok(BINDINGS.every((binding) => keyNames(binding).length > 0));
});

test("the clock stops at the end, or begins again", () => {
  const player = new Player(1, 3);
  player.toggle();
  assert.ok(player.tick(1));
  assert.equal(player.time, 2);
  player.tick(5);
  assert.deepEqual([player.time, player.playing], [3, false]);
  assert.ok(!player.tick(1));
  player.toggle(); // from the end: play again
  assert.equal(player.time, 1);
  player.loop = true;
  player.speed = 2;
  player.tick(1.25);
  assert.equal(player.time, 1.5);
  player.seek(99);
  assert.equal(player.time, 3);
  player.seek(NaN);
  assert.equal(player.time, 3);
  player.faster(-1);
  assert.equal(player.speed, 1);
  player.faster(99);
  assert.equal(player.speed, 20);
});

test("a throttled call passes the first and the last value on", async () => {
  const seen: number[] = [];
  const call = throttle<number>(20, (value) => seen.push(value));
  for (let i = 0; i < 50; i++) call(i);
  await new Promise((done) => setTimeout(done, 40));
  assert.deepEqual(seen, [0, 49]);
});

test("a path is made of the frames at hand, oldest first", () => {
  const at = (index: number) => ({ index, row: Float32Array.of(0.1 * index) });
  const source = { nearest: (time: number) => at(Math.min(Math.max(Math.round(10 * time), 90), 100)) };
  const rows = trailRows(source, at(100), 0.1);
  assert.equal(rows.length, 11); // what lies before the first frame is left out
  assert.ok(rows.every((row, i) => i === 0 || row[0] > rows[i - 1][0]));
});

test("edges of a box are drawn, those between smooth or coplanar faces are not", () => {
  const points: Vector[] = [];
  for (const x of [-1, 1]) for (const y of [-1, 1]) for (const z of [-1, 1]) points.push([x, y, z]);
  const faces = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]; // of mixed orientation
  assert.equal(sharpEdges(points, faces).length, 12 * 6);
  assert.equal(triangles(points, faces).length, 12 * 9);
  const split = [[0, 1, 3], [0, 2, 3], ...faces.slice(1)]; // one side as two triangles that face opposite ways
  assert.equal(sharpEdges(points, split).length, 12 * 6);
});

test("numbers are short and say what they are", () => {
  assert.equal(number(10.7234), "10.72");
  assert.equal(number(-0.00000123), "−1.23e−6");
  assert.equal(number(0), "0");
  assert.equal(number(null), "–");
  assert.equal(number(NaN), "–");
  assert.equal(number(Infinity), "∞");
  assert.equal(timeDecimals(0.01), 2);
  assert.equal(timeDecimals(0.0005), 4);
  assert.equal(timeDecimals(5), 0);
  assert.equal(units("kg m2 s-1"), "kg m² s⁻¹");
  assert.equal(units("1"), "");
  assert.deepEqual([0.3, 1, 1.2, 6, 13].map(roundUp), [0.5, 1, 2, 10, 20]);
});
