// The last stretch of a live run: frames to look at, curves to plot.

import { type FrameSource } from "./frames";
import { type Frame, Layout, type Row } from "./layout";
import { nearestIndex } from "./search";
import { Rolling } from "./series";
import { type Meta } from "./types";

export const HISTORY_SECONDS = 60;
const HISTORY_BYTES = 64 * 2 ** 20;

export class History implements Pick<FrameSource, "nearest"> {
  readonly layout: Layout;
  curves: Rolling;
  private readonly series: number;
  private readonly shape: string;
  private rows: Row[] = [];
  private first = 0; // number of the oldest row since the start

  constructor(meta: Meta) {
    this.layout = new Layout(meta);
    this.shape = shapeOf(meta);
    this.series = meta.series.length;
    this.curves = new Rolling(this.series, HISTORY_SECONDS);
  }

  /** Whether states of this run can follow those of another. */
  fits(meta: Meta): boolean {
    return shapeOf(meta) === this.shape;
  }

  get start(): number {
    return this.rows[0]?.[0] ?? 0;
  }

  get end(): number {
    return this.rows[this.rows.length - 1]?.[0] ?? 0;
  }

  /** Where the curves begin; a page that came later has them without frames. */
  get begun(): number {
    return this.curves.times[0] ?? 0;
  }

  get empty(): boolean {
    return this.rows.length === 0;
  }

  /** Take what comes from the server: rows of time and series, then a frame. Time that goes back is a run that began again; says whether it did. */
  push(numbers: Float64Array): boolean {
    const width = 1 + this.series;
    const curves = numbers.length - this.layout.size;
    if (curves < width || curves % width !== 0) throw new Error(`a state of ${numbers.length} numbers came; rows of ${width} and a frame of ${this.layout.size} were expected`);
    const row = new Float32Array(numbers.subarray(curves));
    const again = !this.empty && row[0] < this.end;
    if (again) this.clear();
    // a paused run may send the same state again
    if (!this.empty && row[0] === this.end) this.rows[this.rows.length - 1] = row;
    else this.rows.push(row);
    for (let at = 0; at < curves; at += width) {
      const time = numbers[at];
      if (!(time <= this.latest)) this.curves.push(time, numbers.subarray(at + 1, at + width));
    }
    this.trim();
    return again;
  }

  private get latest(): number {
    return this.curves.times[this.curves.times.length - 1] ?? -Infinity;
  }

  clear(): void {
    this.rows = [];
    this.first = 0;
    this.curves = new Rolling(this.series, HISTORY_SECONDS);
  }

  nearest(time: number): Frame | null {
    if (this.empty) return null;
    return this.frame(nearestIndex(this.rows.length, (i) => this.rows[i][0], time));
  }

  /** The frame so many states on from a given one. */
  step(frame: Frame, states: number): Frame {
    return this.frame(Math.min(Math.max(frame.index - this.first + states, 0), this.rows.length - 1));
  }

  /** About so many rows from a time on. */
  sweep(from: number, count: number): Row[] {
    const rows = this.rows.filter((row) => row[0] >= from);
    const every = Math.max(1, Math.floor(rows.length / count));
    return rows.filter((_, i) => i % every === 0);
  }

  private frame(at: number): Frame {
    return { index: this.first + at, row: this.rows[at] };
  }

  private trim(): void {
    const most = Math.max(2, Math.floor(HISTORY_BYTES / (4 * this.layout.size)));
    const oldest = this.end - HISTORY_SECONDS;
    let drop = Math.max(0, this.rows.length - most);
    while (this.rows[drop][0] < oldest) drop++;
    // in lumps, since shifting an array costs its whole length
    if (drop < 0.1 * this.rows.length) return;
    this.rows.splice(0, drop);
    this.first += drop;
  }
}

/** All that the places of numbers in a state follow from. */
function shapeOf({ lines, bodies, series }: Meta): string {
  return JSON.stringify([lines.map(({ elements, length }) => [elements, length]), bodies.length, series.length]);
}
