// Looking up times in sorted numbers.

/** The index in [0, count) whose key is nearest to x; keys must not decrease. */
export function nearestIndex(count: number, key: (index: number) => number, x: number): number {
  let low = 0;
  let high = count - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (key(middle) <= x) low = middle;
    else high = middle;
  }
  if (high <= 0) return 0;
  return x - key(low) <= key(high) - x ? low : high;
}

/** A guess of which sample has a time: straight lines between the samples whose time is known. */
export class TimeIndex {
  private readonly indices: number[];
  private readonly times: number[];

  constructor(samples: number, start: number, end: number) {
    this.indices = samples > 1 ? [0, samples - 1] : [0];
    this.times = samples > 1 ? [start, end] : [start];
  }

  learn(index: number, time: number): void {
    let at = this.indices.findIndex((known) => known >= index);
    if (at < 0) at = this.indices.length;
    const known = this.indices[at] === index;
    this.indices.splice(at, known ? 1 : 0, index);
    this.times.splice(at, known ? 1 : 0, time);
  }

  index(time: number): number {
    return Math.round(interpolate(this.times, this.indices, time));
  }

  time(index: number): number {
    return interpolate(this.indices, this.times, index);
  }
}

function interpolate(xs: number[], ys: number[], x: number): number {
  const last = xs.length - 1;
  if (!(x > xs[0])) return ys[0];
  if (x >= xs[last]) return ys[last];
  let high = 1;
  while (xs[high] < x) high++;
  const width = xs[high] - xs[high - 1];
  return width > 0 ? ys[high - 1] + ((ys[high] - ys[high - 1]) * (x - xs[high - 1])) / width : ys[high];
}
