// The numbers beside the curves of a long run: its curves are thinned out, so the samples around the current time are asked for.

import { type FetchTable } from "./payload";
import { type Table } from "./series";

const SAMPLES = 1000; // on either side of the time
const LEAST_PAUSE = 250; // ms between requests; fast playback over fine samples would need one for every picture

export class ExactValues {
  private tables: Table[] = [];
  private range: [number, number] = [Infinity, -Infinity];
  private busy = false;
  private asked = -Infinity;

  constructor(
    private readonly fetchTables: FetchTable[],
    private readonly interval: number,
  ) {}

  /** Tables that hold every sample near a time; null while they are on their way. */
  near(time: number): Table[] | null {
    if (time >= this.range[0] && time <= this.range[1]) return this.tables;
    void this.fetch(time);
    return null;
  }

  private async fetch(time: number): Promise<void> {
    if (this.busy || performance.now() - this.asked < LEAST_PAUSE) return;
    this.busy = true;
    this.asked = performance.now();
    const reach = SAMPLES * this.interval;
    try {
      this.tables = await Promise.all(this.fetchTables.map((fetchTable) => fetchTable(time - reach, time + reach, 4 * SAMPLES)));
      this.range = [time - 0.9 * reach, time + 0.9 * reach];
    } catch {
      // the frames come from the same server, and their loss is announced
    } finally {
      this.busy = false;
    }
  }
}
