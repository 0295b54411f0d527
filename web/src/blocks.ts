// Blocks of frames, kept while there is room: the least recently used one goes first.

import { type Frame, type Layout } from "./layout";
import { nearestIndex } from "./search";

export class Block {
  readonly count: number;
  readonly from: number;
  readonly to: number;

  constructor(
    readonly first: number,
    readonly every: number,
    readonly data: Float32Array,
    private readonly layout: Layout,
  ) {
    if (data.length === 0 || data.length % layout.size !== 0)
      throw new Error(`a block of ${data.length} numbers does not hold frames of ${layout.size}`);
    this.count = data.length / layout.size;
    this.from = data[0];
    this.to = data[(this.count - 1) * layout.size];
  }

  frame(row: number): Frame {
    const size = this.layout.size;
    return { index: this.first + row * this.every, row: this.data.subarray(row * size, (row + 1) * size) };
  }

  /** The row whose time is nearest. */
  rowAt(time: number): number {
    return nearestIndex(this.count, (row) => this.data[row * this.layout.size], time);
  }

  timeOf(row: number): number {
    return this.data[row * this.layout.size];
  }
}

export class BlockCache {
  private readonly blocks = new Map<string, Block>(); // a Map keeps its order: the first entry is the least recently used
  private readonly pinned = new Set<Block>();
  bytes = 0;

  constructor(private readonly limit: number) {}

  static key(first: number, every: number): string {
    return `${every}:${first}`;
  }

  has(first: number, every: number): boolean {
    return this.blocks.has(BlockCache.key(first, every));
  }

  /** Keep a block; a pinned one is never dropped. */
  put(block: Block, pin = false): void {
    const key = BlockCache.key(block.first, block.every);
    const old = this.blocks.get(key);
    if (old) this.drop(key, old);
    this.blocks.set(key, block);
    this.bytes += block.data.byteLength;
    if (pin) this.pinned.add(block);
    for (const [other, candidate] of this.blocks) {
      if (this.bytes <= this.limit) break;
      if (candidate !== block && !this.pinned.has(candidate)) this.drop(other, candidate);
    }
  }

  /** Of all frames at hand, the one nearest in time. */
  nearest(time: number): Frame | null {
    let best: Block | null = null;
    let bestRow = 0;
    let bestGap = Infinity;
    for (const block of this.blocks.values()) {
      if (Math.max(block.from - time, time - block.to) >= bestGap) continue;
      const row = block.rowAt(time);
      const gap = Math.abs(block.timeOf(row) - time);
      if (gap < bestGap) [best, bestRow, bestGap] = [block, row, gap];
    }
    if (!best) return null;
    this.touch(best);
    return best.frame(bestRow);
  }

  /** The frame of one sample, if it is here. */
  sample(index: number): Frame | null {
    for (const block of this.blocks.values()) {
      const row = (index - block.first) / block.every;
      if (row >= 0 && row < block.count && Number.isInteger(row)) return block.frame(row);
    }
    return null;
  }

  private touch(block: Block): void {
    const key = BlockCache.key(block.first, block.every);
    this.blocks.delete(key);
    this.blocks.set(key, block);
  }

  private drop(key: string, block: Block): void {
    this.blocks.delete(key);
    this.pinned.delete(block);
    this.bytes -= block.data.byteLength;
  }
}
