// The numbers behind the plots.

import { nearestIndex } from "./search";

/** Times and, for each series, its values. */
export interface Table {
  times: ArrayLike<number>;
  columns: ArrayLike<number>[];
}

/** Values on a common time axis: undefined where another run has a sample and this one has none, null where a value is no number. */
export type Joined = [times: number[], ...columns: (number | null | undefined)[][]];

export function decodeTable(data: Float64Array, series: number): Table {
  const n = data.length / (1 + series);
  if (!Number.isInteger(n)) throw new Error(`${data.length} numbers do not hold a time axis and ${series} series`);
  const part = (i: number) => data.subarray(i * n, (i + 1) * n);
  return { times: part(0), columns: Array.from({ length: series }, (_, i) => part(i + 1)) };
}

/** The value nearest in time; null outside the table (by more than its own spacing) and where there is no number. */
export function valueAt(table: Table, column: number, time: number): number | null {
  const { times, columns } = table;
  const n = times.length;
  if (n === 0) return null;
  const spacing = n > 1 ? (times[n - 1] - times[0]) / (n - 1) : Infinity;
  if (time < times[0] - spacing || time > times[n - 1] + spacing) return null;
  const value = columns[column][nearestIndex(n, (i) => times[i], time)];
  return Number.isFinite(value) ? value : null;
}

/** Each run less the first, curve by curve as they are named; nothing is left of the first. */
export function differences(tables: Table[], names: string[][]): Table[] {
  const [base] = tables;
  return tables.map((table, run) => ({
    times: table.times,
    columns: table.columns.map((column, i) => {
      const of = run === 0 ? -1 : names[0].indexOf(names[run][i]);
      const at = of < 0 ? () => NaN : interpolator(base.times, base.columns[of]);
      return Array.from(column, (x, k) => x - at(table.times[k]));
    }),
  }));
}

/** Straight lines between samples, asked for at times that do not decrease; no number outside. */
function interpolator(times: ArrayLike<number>, values: ArrayLike<number>): (time: number) => number {
  let i = 0;
  return (time) => {
    while (i < times.length - 2 && times[i + 1] < time) i++;
    const [a, b] = [times[i], times[Math.min(i + 1, times.length - 1)]];
    if (!(time >= a && time <= b)) return NaN;
    return b > a ? values[i] + ((values[i + 1] - values[i]) * (time - a)) / (b - a) : values[i];
  };
}

const finite = (x: number) => (Number.isFinite(x) ? x : null);

/** Runs sampled at different times, on one axis. */
export function join(tables: Table[]): Joined {
  const heads = tables.map(() => 0);
  const times: number[] = [];
  const columns: (number | null | undefined)[][] = tables.flatMap((table) => table.columns.map(() => []));
  for (;;) {
    let now = Infinity;
    tables.forEach((table, k) => {
      if (heads[k] < table.times.length) now = Math.min(now, table.times[heads[k]]);
    });
    if (now === Infinity) return [times, ...columns];
    times.push(now);
    let at = 0;
    tables.forEach((table, k) => {
      const here = heads[k] < table.times.length && table.times[heads[k]] === now;
      for (const column of table.columns) columns[at++].push(here ? finite(column[heads[k]]) : undefined);
      if (here) heads[k]++;
    });
  }
}

/** The last stretch of a run that goes on: rows come in at the end, and old ones leave at the front. */
export class Rolling {
  times: number[] = [];
  columns: number[][];

  constructor(
    series: number,
    private readonly seconds: number,
  ) {
    this.columns = Array.from({ length: series }, () => []);
  }

  push(time: number, values: ArrayLike<number>): void {
    this.times.push(time);
    this.columns.forEach((column, i) => column.push(values[i]));
    // in lumps, since shifting an array at every state would cost its whole length
    const old = this.times.findIndex((t) => t >= time - this.seconds);
    if (old > 0.25 * this.times.length) {
      this.times.splice(0, old);
      for (const column of this.columns) column.splice(0, old);
    }
  }
}
