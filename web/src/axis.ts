// Ranges and ticks of the charts' axes.

import { type Range } from "./types";

/** A tick with as many digits as its neighbours need to differ. */
export function tick(x: number, step: number, all: number[]): string {
  const largest = Math.max(...all.map(Math.abs), step);
  if (x === 0) return "0";
  if (largest >= 1e5 || largest < 1e-3) return inFull(x, step);
  return x.toFixed(decimalsOf(step)).replace("-", "−");
}

/** With a power of ten, and no more digits than x needs. */
function inFull(x: number, step: number): string {
  let digits = 0;
  while (digits < 6 && Math.abs(Number(x.toExponential(digits)) - x) > 1e-6 * step) digits++;
  const [mantissa, exponent] = x.toExponential(digits).split("e");
  return `${mantissa}e${Number(exponent)}`.replaceAll("-", "−");
}

/** Decimals that write a step in full: none for 2, one for 2.5, two for 0.05. */
function decimalsOf(step: number): number {
  for (let decimals = 0; decimals < 10; decimals++) {
    const scaled = step * 10 ** decimals;
    if (scaled > 0.5 && Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return decimals;
  }
  return 10;
}

/** Room above and below; values that differ by rounding alone get an axis whose ticks can be read. */
export function padded(low: number | null, high: number | null): Range {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const room = high - low > 1e-9 * size ? 0.06 * (high - low) : 0.1 * size || 1e-18;
  return [low - room, high + room];
}
