// A slider with a number beside it: the command of the drum, in newton metres or metres a second.

import { number, roundUp } from "./format";
import { get } from "./notices";
import { throttle } from "./throttle";
import { type Range } from "./types";

const SEND_EVERY = 30; // ms, while a slider moves
const KEY_STEPS = 50; // of the keys, over the whole range
const FINEST = 1000; // parts of the range that a slider tells apart

export class Dial {
  private readonly slider: HTMLInputElement;
  private readonly field: HTMLInputElement;
  private range: Range = [-1, 1];
  private readonly send: (value: number) => void;

  constructor(id: string, private readonly unit: string, private readonly touched: () => void, send: (value: number) => void) {
    this.slider = get<HTMLInputElement>(id);
    this.field = get<HTMLInputElement>(`${id}-number`);
    this.send = throttle<number>(SEND_EVERY, send);
    this.slider.addEventListener("input", () => this.set(this.rounded(Number(this.slider.value))));
    this.slider.addEventListener("dblclick", () => this.set(0));
    this.field.addEventListener("change", () => this.set(this.field.valueAsNumber));
    // Enter in a field means "take it": give the keys back to the page
    this.field.addEventListener("keydown", (event) => event.key === "Enter" && this.field.blur());
  }

  setRange(range: Range): void {
    this.range = range;
    for (const input of [this.slider, this.field]) [input.min, input.max] = [String(range[0]), String(range[1])];
    this.slider.step = "any";
    if (!this.field.value) this.show(this.kept(0));
  }

  /** Send the slider's value to the drum. */
  drive(): void {
    this.set(Number(this.slider.value));
  }

  nudge(steps: number): void {
    this.set(this.rounded(Number(this.slider.value) + (steps * (this.range[1] - this.range[0])) / KEY_STEPS));
  }

  show(value: number): void {
    this.slider.value = String(value);
    this.field.value = String(Number(value.toPrecision(4)));
    this.slider.setAttribute("aria-valuetext", `${number(value, 3)} ${this.unit}`);
  }

  private set(value: number): void {
    if (!Number.isFinite(value)) return;
    const kept = this.kept(value);
    this.touched();
    this.show(kept);
    this.send(kept);
  }

  private kept(value: number): number {
    return Math.min(Math.max(value, this.range[0]), this.range[1]);
  }

  /** To short numbers, among them zero: a hand on a slider or a key means no more digits. */
  private rounded(value: number): number {
    const step = roundUp((this.range[1] - this.range[0]) / FINEST);
    return Number((Math.round(value / step) * step).toPrecision(12)) || 0;
  }
}
