// Ranges and ticks of the charts' axes.

import { type Range } from "./types";

const MANY = 1e4; // steps between zero and a tick, from which ticks are told from an offset
const RAISED: Record<string, string> = { "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹" };

/** Short ticks, and what must be added to all of them or multiplied with, as a note; empty where there is nothing. */
export function ticks(all: number[], step: number): { texts: string[]; note: string } {
  const largest = Math.max(...all.map(Math.abs), 0);
  if (!(largest > 0) || !(step > 0)) return { texts: all.map((x) => (x === 0 ? "0" : String(x))), note: "" };
  const offset = largest > MANY * step ? offsetBelow(Math.min(...all), step * all.length) : 0;
  const rest = all.map((x) => x - offset);
  const size = Math.max(...rest.map(Math.abs), step);
  const power = size >= 1e5 || size < 1e-2 ? Math.floor(Math.log10(size)) : 0;
  const decimals = decimalsOf(step / 10 ** power);
  const texts = rest.map((x) => (Math.abs(x) < 1e-6 * step ? "0" : (x / 10 ** power).toFixed(decimals).replace("-", "−")));
  const raised = [...String(power)].map((c) => RAISED[c]).join("");
  const plus = offset === 0 ? "" : `${offset < 0 ? "−" : "+"} ${inFull(Math.abs(offset), step)}`;
  return { texts, note: [power === 0 ? "" : `× 10${raised}`, plus].filter(Boolean).join(" ") };
}

/** A round number at or below x, to so many meters or whatever it is. */
function offsetBelow(x: number, width: number): number {
  const round = 10 ** Math.ceil(Math.log10(width));
  return Math.floor(x / round) * round;
}

/** All digits down to a step, and no more. */
function inFull(x: number, step: number): string {
  return Number(x.toPrecision(Math.min(15, Math.max(1, Math.ceil(Math.log10(x / step)))))).toString();
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
export function padded(low: number | null, high: number | null, floor = 0): Range {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const room = high - low > 1e-9 * size && high - low > floor ? 0.06 * (high - low) : 0.1 * size || 1;
  return [low - room, high + room];
}

/** A range about a place in it, shrunk or stretched by a factor. */
export function zoomedAt([from, to]: Range, place: number, factor: number): Range {
  return [place - (place - from) * factor, place + (to - place) * factor];
}
