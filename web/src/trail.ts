// Which frames make up the path of the last few seconds.

import { type FrameSource } from "./frames";
import { type Frame, type Row } from "./layout";

const SECONDS = 3;
const POINTS = 120;
const LEAST_SAMPLES = 40; // of coarsely sampled runs, more than the seconds would give

/** Rows from the oldest to the newest that end with this frame; what is not at hand is left out. */
export function trailRows(source: Pick<FrameSource, "nearest">, frame: Frame, interval: number): Row[] {
  const end = frame.row[0];
  const step = Math.max(SECONDS / POINTS, interval);
  const count = Math.max(Math.min(POINTS, Math.ceil(SECONDS / step)), Math.min(LEAST_SAMPLES, POINTS));
  const rows: Row[] = [frame.row];
  let last = frame.index;
  for (let i = 1; i <= count; i++) {
    const time = end - i * step;
    const past = source.nearest(time);
    if (!past || Math.abs(past.row[0] - time) > step || past.index >= last) continue;
    rows.push(past.row);
    last = past.index;
  }
  return rows.reverse();
}
