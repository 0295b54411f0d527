import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import { padded, ticks, zoomedAt } from "../src/axis";
import { towardCenter } from "../src/orbit";
import { bytesOfBase64, checkedBoot, gunzip } from "../src/payload";
import { asRows, unpackedLongs, unpackedWords } from "../src/planes";
import { nearestIndex, TimeIndex } from "../src/search";
import { decodeTable, differences, join, Rolling, valueAt } from "../src/series";

test("a table is times and then one series after another", () => {
  const table = decodeTable(Float64Array.from([0, 1, 2, 10, 11, 12, 20, 21, 22]), 2);
  assert.deepEqual([...table.times as Float64Array], [0, 1, 2]);
  assert.equal(valueAt(table, 1, 1.2), 21);
  assert.throws(() => decodeTable(new Float64Array(8), 2), /do not hold/);
});

test("values are looked up by time, and there is none far outside or where it is no number", () => {
  const table = { times: [0, 1, 1, 4], columns: [[5, 6, 7, NaN]] };
  assert.equal(valueAt(table, 0, 0.4), 5);
  assert.equal(valueAt(table, 0, 0.6), 6);
  assert.equal(valueAt(table, 0, 4), null);
  assert.equal(valueAt(table, 0, 9), null);
  assert.equal(valueAt({ times: [], columns: [[]] }, 0, 0), null);
});

test("the nearest of sorted numbers, against looking at all of them", () => {
  const times = [0, 0.1, 0.1, 0.5, 2, 2.25, 7];
  for (let x = -1; x < 8; x += 0.0625) {
    const best = Math.min(...times.map((time) => Math.abs(time - x)));
    assert.equal(Math.abs(times[nearestIndex(times.length, (i) => times[i], x)] - x), best);
  }
  assert.equal(nearestIndex(1, () => 3, 99), 0);
});

test("runs with different samples share an axis without inventing values", () => {
  const a = { times: [0, 1, 2], columns: [[1, NaN, 3]] };
  const b = { times: [0.5, 1, 3], columns: [[7, 8, 9]] };
  assert.deepEqual(join([a, b]), [
    [0, 0.5, 1, 2, 3],
    [1, undefined, null, 3, undefined],
    [undefined, 7, 8, undefined, 9],
  ]);
  assert.deepEqual(join([{ times: [1, 1, 2], columns: [[4, 5, 6]] }]), [[1, 1, 2], [4, 5, 6]]); // a peak and a trough at one time
});

test("a rolling table keeps its seconds", () => {
  const rolling = new Rolling(1, 10);
  for (let i = 0; i < 5000; i++) rolling.push(0.01 * i, [i]);
  assert.ok(rolling.times[0] <= 40 && rolling.times[0] > 35);
  assert.equal(rolling.times.length, rolling.columns[0].length);
});

test("the guess of a sample gets better with every time that is learned", () => {
  const times = new TimeIndex(1001, 0, 10);
  assert.equal(times.index(5), 500);
  times.learn(100, 5); // the samples lie closer at the end
  assert.equal(times.index(5), 100);
  assert.equal(times.index(2.5), 50);
  assert.equal(times.time(100), 5);
  assert.equal(times.time(550), 7.5);
  assert.equal(times.index(-1), 0);
  assert.equal(times.index(11), 1000);
  assert.equal(new TimeIndex(1, 3, 3).index(9), 0);
});

test("embedded bytes come back as they were", async () => {
  const numbers = Float64Array.from({ length: 1000 }, (_, i) => Math.sin(i));
  const text = gzipSync(new Uint8Array(numbers.buffer)).toString("base64");
  assert.deepEqual(new Float64Array(await gunzip(bytesOfBase64(`\n${text}\n`))), numbers);
});

test("a page with unusable data says what is wrong", () => {
  assert.throws(() => checkedBoot("{"), /not valid JSON/);
  assert.throws(() => checkedBoot('{"mode": "film", "runs": []}'), /unknown mode/);
  assert.throws(() => checkedBoot('{"mode": "replay", "runs": []}'), /one to four runs/);
  assert.throws(() => checkedBoot('{"mode": "replay", "runs": [{"title": "a", "lines": [{"elements": 2}], "samples": 0}]}'), /no samples/);
  assert.throws(() => checkedBoot('{"mode": "replay", "runs": [{"title": "a", "lines": [], "samples": 1}]}'), /no lines/);
});

test("ticks are written with the digits their step needs", () => {
  assert.deepEqual(ticks([5, 7.5, 10], 2.5), { texts: ["5.0", "7.5", "10.0"], note: "" });
  assert.deepEqual(ticks([-20, 0, 20], 20), { texts: ["−20", "0", "20"], note: "" });
  assert.deepEqual(ticks([0.1, 0.15], 0.05).texts, ["0.10", "0.15"]);
  assert.deepEqual(ticks([1e-16, 2e-16], 1e-16), { texts: ["1", "2"], note: "× 10⁻¹⁶" });
  assert.deepEqual(ticks([-5e-6, -2.5e-6, 0], 2.5e-6), { texts: ["−5.0", "−2.5", "0"], note: "× 10⁻⁶" });
  assert.deepEqual(ticks([120000, 140000], 20000), { texts: ["1.2", "1.4"], note: "× 10⁵" });
  // values that differ in their last digits are told from a round number below them
  assert.deepEqual(ticks([0.15243628, 0.15243629, 0.1524363], 1e-8), { texts: ["0.8", "0.9", "1.0"], note: "× 10⁻⁷ + 0.1524362" });
  assert.deepEqual(zoomedAt([0, 10], 2, 0.5), [1, 6]);
});

test("an axis has a width even where a curve has none", () => {
  for (const [low, high] of [[3, 3], [0, 0], [-1e-16, 1e-16], [1e9, 1e9]]) {
    const [from, to] = padded(low, high);
    assert.ok(from < low && to > high);
  }
  assert.deepEqual(padded(null, null), [0, 1]);
  const [from, to] = padded(9, 9 + 1e-13);
  assert.ok(to - from > 1, "rounding is not blown up");
});

test("differences are taken curve by curve at the times of the other run", () => {
  const a = { times: [0, 1, 2], columns: [[0, 10, 20], [5, 5, 5]] };
  const b = { times: [0.5, 1.5, 9], columns: [[1, 2, 3], [6, 16, 0]] };
  const [none, found] = differences([a, b], [["x", "y"], ["z", "x"]]);
  assert.ok(none.columns.flatMap((column) => Array.from(column)).every(Number.isNaN));
  assert.deepEqual(Array.from(found.columns[1]).slice(0, 2), [1, 1]);
  assert.ok(Number.isNaN(found.columns[1][2]) && Array.from(found.columns[0]).every(Number.isNaN), "nothing to compare with");
});

/** What the package does, number by number. */
function packed<T extends number | bigint>(series: T[][], size: number, less: (a: T, b: T) => bigint): Uint8Array {
  const changes = series.flatMap((one) => one.map((x, i) => less(x, i === 0 ? (0 as T) : one[i - 1])));
  return Uint8Array.from({ length: size * changes.length }, (_, k) => Number((changes[k % changes.length] >> BigInt(8 * Math.floor(k / changes.length))) & 255n));
}

test("numbers of an offline page come back bit by bit", () => {
  const floats = [[0, -1.5, 3.25e30, NaN], [7, 7, -0, 1e-42]];
  const words = floats.map((one) => [...new Uint32Array(Float32Array.from(one).buffer)]);
  const rows = asRows(unpackedWords(packed(words, 4, (a, b) => BigInt.asUintN(32, BigInt(a) - BigInt(b))), 2), 2);
  assert.deepEqual([...rows], [0, 1, 2, 3].flatMap((i) => floats.map((one) => Math.fround(one[i]))));
  const longs = floats.map((one) => [...new BigUint64Array(Float64Array.from(one).buffer)]);
  const back = new Float64Array(unpackedLongs(packed(longs, 8, (a, b) => BigInt.asUintN(64, BigInt(a) - BigInt(b))), 2).buffer);
  assert.deepEqual([...back], floats.flat());
});

test("the center of attraction is where Kepler's equation puts it", () => {
  for (const eccentricity of [0, 0.3, 0.9])
    for (let anomaly = -9; anomaly < 9; anomaly += 0.37) {
      const mean = anomaly - eccentricity * Math.sin(anomaly);
      const place = [Math.cos(anomaly) - eccentricity, Math.sqrt(1 - eccentricity ** 2) * Math.sin(anomaly)];
      const [x, y, z] = towardCenter({ center: "Earth", rate: 2, eccentricity, mean_anomaly: 0.4 }, 0.5 * (mean - 0.4));
      const far = 1 - eccentricity * Math.cos(anomaly);
      assert.ok(Math.hypot(x + place[0] / far, y + place[1] / far) < 1e-9 && z === 0, `${eccentricity} ${anomaly}`);
    }
});
