// Where frames come from: the page itself, or a server that is asked for blocks of them.

import { Block, BlockCache } from "./blocks";
import { type Frame, Layout, type Row } from "./layout";
import { TimeIndex } from "./search";
import { type Meta } from "./types";

export interface FrameSource {
  /** The frame nearest in time among those at hand. */
  nearest(time: number): Frame | null;
  /** The time of a sample, exact where it is at hand. */
  timeOf(index: number): number;
  /** Say what will be drawn, so that it can be fetched: a time, every how many samples, and which way time runs. */
  want(time: number, every: number, direction: -1 | 0 | 1): void;
  /** About so many frames over a range of times. */
  sweep(from: number, to: number, count: number): Promise<Row[]>;
  /** Whether what was wanted is still on its way. */
  readonly waiting: boolean;
}

export type FetchFrames = (first: number, count: number, every: number) => Promise<Float32Array>;

const CACHE_BYTES = 96 * 2 ** 20;
const BLOCK_BYTES = 2 ** 20;
const BLOCK_ROWS = 256;
const AHEAD = 2; // blocks beyond the one in view
const IN_FLIGHT = 2; // few, so that a dragged slider does not queue up requests nobody needs any more
const RETRY_FIRST = 500; // ms
const RETRY_LAST = 8000;
const SCREEN_RATE = 60; // pictures per second

/** Every how many samples to show, a power of two: more than one per picture would not be seen. */
export function strideFor(speed: number, sampleInterval: number): number {
  const perPicture = speed / SCREEN_RATE / sampleInterval;
  return perPicture > 1 ? 2 ** Math.floor(Math.log2(perPicture)) : 1;
}

/** Rows of a block, a power of two: 256, or fewer where frames are large. */
export function blockRows(frameSize: number): number {
  const fit = Math.max(1, BLOCK_BYTES / (4 * frameSize));
  return Math.min(BLOCK_ROWS, 2 ** Math.floor(Math.log2(fit)));
}

export class MemoryFrames implements FrameSource {
  readonly waiting = false;
  private readonly block: Block;

  constructor(data: Float32Array, layout: Layout) {
    this.block = new Block(0, 1, data, layout);
  }

  nearest(time: number): Frame {
    return this.block.frame(this.block.rowAt(time));
  }

  timeOf(index: number): number {
    return this.block.timeOf(Math.min(Math.max(index, 0), this.block.count - 1));
  }

  want(): void {}

  sweep(from: number, to: number, count: number): Promise<Row[]> {
    const [first, last] = [this.block.rowAt(from), this.block.rowAt(to)];
    const every = Math.max(1, Math.floor((last - first) / count));
    const rows: Row[] = [];
    for (let row = first; row <= last; row += every) rows.push(this.block.frame(row).row);
    return Promise.resolve(rows);
  }
}

interface Request {
  first: number;
  every: number;
  pin: boolean;
}

export class RemoteFrames implements FrameSource {
  private readonly cache = new BlockCache(CACHE_BYTES);
  private readonly times: TimeIndex;
  private readonly rows: number;
  private readonly flying = new Set<string>();
  private wanted: Request[] = [];
  private retryAt = 0;
  private retryDelay = RETRY_FIRST;

  constructor(
    private readonly meta: Meta,
    private readonly layout: Layout,
    private readonly fetchFrames: FetchFrames,
    private readonly arrived: () => void,
    private readonly trouble: (problem: Error | null) => void,
  ) {
    this.times = new TimeIndex(meta.samples, meta.start, meta.end);
    this.rows = blockRows(layout.size);
  }

  /** One block now, for the first picture; then a coarse view of the whole run, so that a dragged slider always shows something. */
  async open(): Promise<void> {
    await this.load({ first: 0, every: 1, pin: true });
    const every = 2 ** Math.ceil(Math.log2(Math.max(1, this.meta.samples / this.rows)));
    if (every > 1) void this.load({ first: 0, every, pin: true });
  }

  get waiting(): boolean {
    return this.wanted.length > 0 && !this.cache.has(this.wanted[0].first, this.wanted[0].every);
  }

  nearest(time: number): Frame | null {
    return this.cache.nearest(time);
  }

  timeOf(index: number): number {
    const sample = Math.min(Math.max(index, 0), this.meta.samples - 1);
    return this.cache.sample(sample)?.row[0] ?? this.times.time(sample);
  }

  want(time: number, every: number, direction: -1 | 0 | 1): void {
    const span = this.rows * every;
    const current = Math.floor(this.times.index(time) / span);
    this.wanted = [];
    for (let i = 0; i <= (direction ? AHEAD : 0); i++) {
      const first = (current + i * direction) * span;
      if (first >= 0 && first < this.meta.samples) this.wanted.push({ first, every, pin: false });
    }
    this.pump();
  }

  async sweep(from: number, to: number, count: number): Promise<Row[]> {
    const [first, last] = [this.times.index(from), this.times.index(to)];
    const every = Math.max(1, Math.floor((last - first) / count));
    const wanted = Math.floor((last - first) / every) + 1;
    const block = new Block(first, every, await this.fetchFrames(first, wanted, every), this.layout);
    return Array.from({ length: block.count }, (_, row) => block.frame(row).row);
  }

  private pump(): void {
    if (performance.now() < this.retryAt) return;
    for (const request of this.wanted) {
      if (this.flying.size >= IN_FLIGHT) return;
      const known = this.cache.has(request.first, request.every);
      if (!known && !this.flying.has(BlockCache.key(request.first, request.every))) void this.load(request);
    }
  }

  private async load({ first, every, pin }: Request): Promise<void> {
    const key = BlockCache.key(first, every);
    this.flying.add(key);
    try {
      const block = new Block(first, every, await this.fetchFrames(first, this.rows, every), this.layout);
      this.cache.put(block, pin);
      this.times.learn(block.first, block.from);
      this.times.learn(block.first + (block.count - 1) * every, block.to);
      this.retryDelay = RETRY_FIRST;
      this.trouble(null);
      this.arrived();
    } catch (problem) {
      this.retryAt = performance.now() + this.retryDelay;
      this.retryDelay = Math.min(2 * this.retryDelay, RETRY_LAST);
      this.trouble(problem as Error);
    } finally {
      this.flying.delete(key);
      this.pump();
    }
  }
}
