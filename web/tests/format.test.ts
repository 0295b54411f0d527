import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { between, number, value } from "../src/format";

const TABLE = JSON.parse(readFileSync(new URL("../../../tests/data/quantities.json", import.meta.url), "utf8")) as [number, string, string][];

test("numbers are written as the package writes them, but for the minus and raised powers of units", () => {
  for (const [x, unit, text] of TABLE) assert.equal(value(x, unit), text.replace("kg m2 s-1", "kg m² s⁻¹").replaceAll("-", "−"));
});

test("a range has one unit, and what is no number a dash", () => {
  assert.equal(between(9656.3, 10623.9, "N"), "9.656 to 10.62 kN");
  assert.equal(number(NaN), "–");
  assert.equal(number(-Infinity), "−∞");
});
