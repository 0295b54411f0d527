import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { cssColor, linearColor, Scale, shownRange } from "../src/colors";
import { sharpEdges, triangles } from "../src/edges";
import { framed, OPEN } from "../src/framing";
import { number, pace, roundUp, timeDecimals, units } from "../src/format";
import { COLORS, DASHES, styleOf } from "../src/lines";
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
  test(`the ${theme} colors grow lighter in even steps`, () => {
    const all = Array.from({ length: 33 }, (_, i) => lightness(linearColor(i / 32, theme)));
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
  linearColor(1, "dark").forEach((x, i) => assert.ok(Math.abs(out[i] - 0.5 * x) < 1e-6));
  assert.match(cssColor(0.3, "light"), /^rgb\(\d+ \d+ \d+\)$/);
});

test("no key does two things", () => {
  for (const mode of ["replay", "offline", "live"] as const) {
    const keys = bindingsFor(mode).flatMap((binding) => binding.keys);
    assert.equal(new Set(keys).size, keys.length);
  }
  assert.equal(actionOf("L", "replay"), "loop");
  assert.equal(actionOf("l", "live"), "lock");
  assert.equal(actionOf("ArrowRight", "offline"), "forward");
  assert.equal(actionOf("d", "live"), "more");
  assert.equal(actionOf("ArrowUp", "live"), "in");
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

test("values of both signs have a color scale that is gray at zero and equally strong on both sides", () => {
  for (const theme of ["dark", "light"] as const) {
    const scale = new Scale([-1, 3], theme);
    assert.equal(scale.zero, 0.25);
    const spread = (x: number) => {
      const color = linearColor(scale.position(x), theme, scale.zero);
      return Math.max(...color) - Math.min(...color);
    };
    assert.ok(spread(0) < 0.01 && spread(3) > 0.2 && spread(-1) > spread(-0.3), `${[0, 3, -1, -0.3].map(spread)}`);
  }
  assert.equal(new Scale([-0.001, 3], "dark").zero, null, "a little below zero is no sign of its own");
  assert.deepEqual([shownRange([1, 4]), shownRange([3, 4]), shownRange([-1, 4])], [[0, 4], [3, 4], [-1, 4]]);
});

test("no two of the curves in a chart look alike", () => {
  const all = Array.from({ length: COLORS * DASHES.length }, (_, i) => JSON.stringify(styleOf(i, 0, 1)));
  assert.equal(new Set(all).size, all.length);
  const runs = [0, 1, 2, 3].flatMap((run) => Array.from({ length: DASHES.length }, (_, i) => JSON.stringify(styleOf(i, run, 4))));
  assert.equal(new Set(runs).size, runs.length);
});

/** What dichromats see of a color, linear (Machado, Oliveira and Fernandes 2009). */
const SIGHTS = [
  [1, 0, 0, 0, 1, 0, 0, 0, 1],
  [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
];

/** OKLab of linear sRGB. */
function oklab([r, g, b]: number[]): number[] {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

test("curves are told apart by their colors alone, also by the color-blind", () => {
  const sheet = readFileSync("src/theme.css", "utf8");
  const linear = (byte: number) => (byte <= 10.3 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
  const found = [...sheet.matchAll(/--series-\d: #(\w{6})/g)].map(([, hex]) => [0, 2, 4].map((at) => linear(parseInt(hex.slice(at, at + 2), 16))));
  assert.equal(found.length, 2 * COLORS);
  for (const theme of [found.slice(0, COLORS), found.slice(COLORS)])
    for (const sight of SIGHTS) {
      const seen = theme.map((c) => oklab([0, 1, 2].map((i) => Math.min(Math.max(c.reduce((sum, x, j) => sum + sight[3 * i + j] * x, 0), 0), 1))));
      seen.forEach((a, i) =>
        seen.slice(0, i).forEach((b) => assert.ok(Math.hypot(...a.map((x, k) => x - b[k])) > 0.12, `${i} is too near to another`)),
      );
    }
});

/** Corners of a box around the origin, seen along its third axis. */
const box = (x: number, y: number, z: number): Vector[] => [-x, x].flatMap((a) => [-y, y].flatMap((b) => [-z, z].map((c): Vector => [a, b, c])));

test("a box is framed as large as what covers the picture allows", () => {
  const [width, height, slope] = [800, 600, 0.3];
  const legend = { left: 600, top: 450, right: 790, bottom: 590 };
  for (const sides of [[4, 3, 0], [1, 9, 1], [9, 1, 1], [5, 5, 5], [0, 1, 0]] as Vector[]) {
    const corners = box(...sides);
    const open = framed(corners, [width, height], OPEN, slope);
    const { distance, shift } = framed(corners, [width, height], { top: 40, bottom: 30, corners: [legend] }, slope);
    assert.ok(distance >= open.distance);
    for (const [x, y, z] of corners) {
      const scale = (0.5 * height) / (slope * (distance - z));
      const [left, top] = [0.5 * width + scale * x - shift[0], 0.5 * height - scale * y - shift[1]];
      assert.ok(left > 20 && left < width - 20 && top > 55 && top < height - 45, `${sides}: ${left}, ${top}`);
      assert.ok(left < legend.left || top < legend.top, `${sides}: behind the legend`);
    }
  }
  const narrow = framed(box(1, 9, 1), [width, height], { top: 40, bottom: 30, corners: [legend] }, slope);
  assert.equal(narrow.shift[0], 0); // what does not reach the legend stays in the middle
});

test("a simulation that cannot keep its rate says so", () => {
  assert.equal(pace(1, 1), "1× real time");
  assert.equal(pace(19, 20), "19× real time");
  assert.equal(pace(5.3, 20), "5.3× real time instead of 20×: the computer does not keep up");
  assert.equal(pace(0, 0), "0× real time"); // paused
});
