// The controls of a live run: reel, kick, rate, record, reset.

import { number, roundUp } from "./format";
import { type Command } from "./link";
import { get } from "./notices";
import { throttle } from "./throttle";
import { type Limits, type Status, type Vector } from "./types";

const SEND_EVERY = 30; // ms, while a slider moves
const HANDS_OFF = 500; // ms after a touch in which the server's echo does not move a slider
const TORQUE_STEPS = 50; // of the keys, over the whole range
const FINEST = 1000; // parts of the range that a slider tells apart
const RATE_STEP = 1.25; // of the keys
const DEFAULT_LIMITS: Limits = { torque: [-1, 1], kick: 1, rate: [0.1, 10] };

export class Controls {
  private readonly torque = get<HTMLInputElement>("torque");
  private readonly torqueNumber = get<HTMLInputElement>("torque-number");
  private readonly rate = get<HTMLInputElement>("rate"); // logarithm of the rate, so that both ways feel alike
  private readonly kickSize = get<HTMLInputElement>("kick-size");
  private limits = DEFAULT_LIMITS;
  private status: Status | null = null;
  private touched = -Infinity;
  private readonly sendTorque = throttle<number>(SEND_EVERY, (value) => this.send({ type: "torque", value }));
  private readonly sendRate = throttle<number>(SEND_EVERY, (value) => this.send({ type: "rate", value }));

  constructor(private readonly send: (command: Command) => void) {
    get("controls").hidden = false;
    get("controls").addEventListener("submit", (event) => event.preventDefault());
    for (const id of ["lock", "free"] as const) get(id).addEventListener("click", () => send({ type: id }));
    for (const id of ["drive", "kick", "record", "reset"] as const) get(id).addEventListener("click", () => this[id]());
    this.torque.addEventListener("input", () => this.setTorque(this.rounded(Number(this.torque.value))));
    this.torque.addEventListener("dblclick", () => this.setTorque(0));
    this.torqueNumber.addEventListener("change", () => this.setTorque(this.torqueNumber.valueAsNumber));
    this.rate.addEventListener("input", () => this.setRate(10 ** Number(this.rate.value)));
    // Enter in a field means "take it": give the keys back to the page
    for (const field of [this.torqueNumber, this.kickSize])
      field.addEventListener("keydown", (event) => event.key === "Enter" && field.blur());
    get("kick-direction").addEventListener("change", () => get("kick-direction").blur());
  }

  setLimits(limits: Limits | undefined): void {
    this.limits = limits ?? DEFAULT_LIMITS;
    const [low, high] = this.limits.torque;
    for (const input of [this.torque, this.torqueNumber]) [input.min, input.max] = [String(low), String(high)];
    this.torque.step = "any";
    if (!this.torqueNumber.value) this.showTorque(Math.min(Math.max(0, low), high));
    [this.rate.min, this.rate.max] = this.limits.rate.map((rate) => String(Math.log10(rate)));
    this.kickSize.max = String(this.limits.kick);
    if (!this.kickSize.value && limits) this.kickSize.value = String(Number((0.25 * this.limits.kick).toPrecision(2)));
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
    press("record", status.recording !== null);
    get("recording").hidden = status.recording === null;
    get("recording").textContent = status.recording === null ? "" : `recording to ${status.recording}`;
    if (performance.now() - this.touched < HANDS_OFF) return;
    if (status.mode === "torque") this.showTorque(status.torque);
    this.showRate(status.rate);
  }

  drive(): void {
    this.setTorque(Number(this.torque.value));
  }

  nudge(steps: number): void {
    const [low, high] = this.limits.torque;
    this.setTorque(this.rounded(Number(this.torque.value) + (steps * (high - low)) / TORQUE_STEPS));
  }

  faster(steps: number): void {
    this.setRate((this.status?.rate ?? 1) * RATE_STEP ** steps);
  }

  kick(): void {
    const size = this.kickSize.valueAsNumber || 0;
    const direction = get<HTMLSelectElement>("kick-direction").value.split(",").map(Number);
    this.send({ type: "kick", impulse: direction.map((x) => x * size) as Vector });
  }

  record(): void {
    this.send({ type: "record", on: !this.status?.recording });
  }

  reset(): void {
    this.send({ type: "reset" });
  }

  private setTorque(value: number): void {
    if (!Number.isFinite(value)) return;
    const [low, high] = this.limits.torque;
    const kept = Math.min(Math.max(value, low), high);
    this.touched = performance.now();
    this.showTorque(kept);
    this.sendTorque(kept);
  }

  /** To short numbers, among them zero: a hand on a slider or a key means no more digits. */
  private rounded(value: number): number {
    const [low, high] = this.limits.torque;
    const step = roundUp((high - low) / FINEST);
    return Number((Math.round(value / step) * step).toPrecision(12)) || 0;
  }

  private showTorque(value: number): void {
    this.torque.value = String(value);
    this.torqueNumber.value = String(Number(value.toPrecision(4)));
    this.torque.setAttribute("aria-valuetext", `${number(value, 3)} N m`);
  }

  private setRate(value: number): void {
    const [low, high] = this.limits.rate;
    const near = Math.abs(Math.log(value)) < 0.03 ? 1 : value; // real time is easy to find again
    const kept = Math.min(Math.max(near, low), high);
    this.touched = performance.now();
    if (this.status) this.status.rate = kept;
    this.showRate(kept);
    this.sendRate(kept);
  }

  private showRate(value: number): void {
    this.rate.value = String(Math.log10(value));
    get("rate-number").textContent = `${number(value, 3)}×`;
  }
}
