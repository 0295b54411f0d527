// The controls of a live run: reel, impulse, rate, record, reset.

import { Dial } from "./dial";
import { number } from "./format";
import { type Command } from "./link";
import { get } from "./notices";
import { throttle } from "./throttle";
import { type Limits, type Status, type Vector } from "./types";

const SEND_EVERY = 30; // ms, while a slider moves
const HANDS_OFF = 500; // ms after a touch in which the server's echo does not move a slider
const RATE_STEP = 1.25; // of the keys
const DEFAULT_LIMITS: Limits = { torque: [-1, 1], speed: [-1, 1], impulse: 1, rate: [0.1, 10] };

export class Controls {
  private readonly torque = new Dial("torque", "N m", () => this.touch(), (value) => this.send({ type: "torque", value }));
  private readonly speed = new Dial("payout", "m/s", () => this.touch(), (value) => this.send({ type: "speed", value }));
  private readonly rate = get<HTMLInputElement>("rate"); // logarithm of the rate, so that both ways feel alike
  private readonly impulseSize = get<HTMLInputElement>("impulse-size");
  private limits = DEFAULT_LIMITS;
  private status: Status | null = null;
  private touched = -Infinity;
  private readonly sendRate = throttle<number>(SEND_EVERY, (value) => this.send({ type: "rate", value }));

  constructor(private readonly send: (command: Command) => void) {
    get("controls").hidden = false;
    get("controls").addEventListener("submit", (event) => event.preventDefault());
    for (const id of ["lock", "free"] as const) get(id).addEventListener("click", () => send({ type: id }));
    for (const id of ["drive", "reel", "impulse", "record", "reset"] as const) get(id).addEventListener("click", () => this[id]());
    this.rate.addEventListener("input", () => this.setRate(10 ** Number(this.rate.value)));
    this.impulseSize.addEventListener("keydown", (event) => event.key === "Enter" && this.impulseSize.blur());
    get("impulse-direction").addEventListener("change", () => get("impulse-direction").blur());
  }

  setLimits(limits: Limits | undefined): void {
    this.limits = limits ?? DEFAULT_LIMITS;
    this.torque.setRange(this.limits.torque);
    this.speed.setRange(this.limits.speed);
    [this.rate.min, this.rate.max] = this.limits.rate.map((rate) => String(Math.log10(rate)));
    this.impulseSize.max = String(this.limits.impulse);
    if (!this.impulseSize.value && limits) this.impulseSize.value = String(Number((0.25 * this.limits.impulse).toPrecision(2)));
  }

  setConnected(on: boolean): void {
    get("controls").inert = !on;
    get("controls").style.opacity = on ? "" : "0.5";
  }

  show(status: Status): void {
    this.status = status;
    const press = (id: string, on: boolean) => get(id).setAttribute("aria-pressed", String(on));
    press("lock", status.mode === "locked");
    press("free", status.mode === "free");
    press("drive", status.mode === "torque");
    press("reel", status.mode === "speed");
    press("record", status.recording !== null);
    get("recording").hidden = status.recording === null;
    get("recording").textContent = status.recording === null ? "" : `recording to ${status.recording}`;
    if (performance.now() - this.touched < HANDS_OFF) return;
    if (status.mode === "torque") this.torque.show(status.torque);
    if (status.mode === "speed") this.speed.show(status.speed);
    this.showRate(status.rate);
  }

  drive(): void {
    this.torque.drive();
  }

  reel(): void {
    this.speed.drive();
  }

  /** The keys move what the drum follows: its speed while that is given, else the torque. */
  nudge(steps: number): void {
    (this.status?.mode === "speed" ? this.speed : this.torque).nudge(steps);
  }

  faster(steps: number): void {
    this.setRate((this.status?.rate ?? 1) * RATE_STEP ** steps);
  }

  impulse(): void {
    const size = this.impulseSize.valueAsNumber || 0;
    const direction = get<HTMLSelectElement>("impulse-direction").value.split(",").map(Number);
    this.send({ type: "impulse", impulse: direction.map((x) => x * size) as Vector });
  }

  record(): void {
    this.send({ type: "record", on: !this.status?.recording });
  }

  reset(): void {
    this.send({ type: "reset" });
  }

  private touch(): void {
    this.touched = performance.now();
  }

  private setRate(value: number): void {
    const [low, high] = this.limits.rate;
    const near = Math.abs(Math.log(value)) < 0.03 ? 1 : value; // real time is easy to find again
    const kept = Math.min(Math.max(near, low), high);
    this.touch();
    if (this.status) this.status.rate = kept;
    this.showRate(kept);
    this.sendRate(kept);
  }

  private showRate(value: number): void {
    this.rate.value = String(Math.log10(value));
    get("rate-number").textContent = `${number(value, 3)}×`;
  }
}
