// The clock of the replay.

export const SPEEDS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

export class Player {
  time: number;
  playing = false;
  loop = false;
  speed = 1;

  constructor(
    public start: number,
    public end: number,
  ) {
    this.time = start;
  }

  seek(time: number): void {
    if (Number.isFinite(time)) this.time = Math.min(Math.max(time, this.start), this.end);
  }

  toggle(): void {
    // play at the end means play again
    if (!this.playing && this.time >= this.end) this.time = this.start;
    this.playing = !this.playing;
  }

  faster(steps: number): void {
    let at = SPEEDS.findIndex((speed) => speed >= this.speed);
    if (at < 0) at = SPEEDS.length - 1;
    this.speed = SPEEDS[Math.min(Math.max(at + steps, 0), SPEEDS.length - 1)];
  }

  /** Advance by seconds of the wall clock; says whether the time changed. */
  tick(elapsed: number): boolean {
    if (!this.playing) return false;
    const length = this.end - this.start;
    let next = this.time + elapsed * this.speed;
    if (next >= this.end) {
      if (this.loop && length > 0) next = this.start + ((next - this.start) % length);
      else [next, this.playing] = [this.end, false];
    }
    this.time = next;
    return true;
  }
}
