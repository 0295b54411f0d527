// The controls of a live run: reel, impulse, rate, record, reset.

import { Dial } from "./dial";
import { number } from "./format";
import { type Command, type ReelCommand } from "./link";
import { get } from "./notices";
import { throttle } from "./throttle";
import { type Limits, type ReelStatus, type Status, type Vector } from "./types";

const SEND_EVERY = 30; // ms, while a slider moves
const HANDS_OFF = 500; // ms after a touch in which the server's echo does not move a slider
const RATE_STEP = 1.25; // of the keys
const DEFAULT_LIMITS: Limits = { reels: {}, impulses: {}, rate: [0.1, 10] };

export class Controls {
  private readonly torque = new Dial("torque", "N m", () => this.touch(), (value) => this.command({ type: "torque", value }));
  private readonly speed = new Dial("payout", "m/s", () => this.touch(), (value) => this.command({ type: "speed", value }));
  private readonly rate = get<HTMLInputElement>("rate"); // logarithm of the rate, so that both ways feel alike
  private readonly impulseSize = get<HTMLInputElement>("impulse-size");
  private readonly reelName = get<HTMLSelectElement>("reel-name");
  private readonly bodyName = get<HTMLSelectElement>("body-name");
  private limits = DEFAULT_LIMITS;
  private status: Status | null = null;
  private touched = -Infinity;
  private readonly sendRate = throttle<number>(SEND_EVERY, (value) => this.send({ type: "rate", value }));

  constructor(private readonly send: (command: Command) => void) {
    get("controls").hidden = false;
    get("controls").addEventListener("submit", (event) => event.preventDefault());
    for (const id of ["lock", "free"] as const) get(id).addEventListener("click", () => this.command({ type: id }));
    for (const id of ["drive", "reel", "impulse", "record", "reset"] as const) get(id).addEventListener("click", () => this[id]());
    this.rate.addEventListener("input", () => this.setRate(10 ** Number(this.rate.value)));
    this.impulseSize.addEventListener("keydown", (event) => event.key === "Enter" && this.impulseSize.blur());
    this.reelName.addEventListener("change", () => this.chooseReel());
    this.bodyName.addEventListener("change", () => this.chooseBody());
    for (const select of [this.reelName, this.bodyName, get("impulse-direction")]) select.addEventListener("change", () => select.blur());
  }

  setLimits(limits: Limits | undefined): void {
    this.limits = limits ?? DEFAULT_LIMITS;
    [this.rate.min, this.rate.max] = this.limits.rate.map((rate) => String(Math.log10(rate)));
    if (offer(this.reelName, Object.keys(this.limits.reels))) this.chooseReel();
    if (offer(this.bodyName, Object.keys(this.limits.impulses))) this.chooseBody();
    for (const row of document.querySelectorAll<HTMLElement>("#controls .of-reel")) row.hidden = this.reelName.options.length === 0;
    get("impulse-box").hidden = this.bodyName.options.length === 0;
  }

  /** Tell the chosen reel to do something. */
  command(command: ReelCommand): void {
    this.send({ ...command, string: this.reelName.value });
  }

  /** The sliders are those of another reel from now on. */
  private chooseReel(): void {
    const limits = this.limits.reels[this.reelName.value];
    if (!limits) return;
    this.torque.setRange(limits.torque);
    this.speed.setRange(limits.speed);
    this.torque.show(this.chosen?.torque ?? 0);
    this.speed.show(this.chosen?.mode === "speed" ? this.chosen.speed : 0);
    this.touched = -Infinity;
    if (this.status) this.show(this.status);
  }

  private chooseBody(): void {
    const most = this.limits.impulses[this.bodyName.value];
    if (most === undefined) return;
    this.impulseSize.max = String(most);
    this.impulseSize.value = String(Number((0.25 * most).toPrecision(2)));
  }

  private get chosen(): ReelStatus | undefined {
    return this.status?.reels[this.reelName.value];
  }

  setConnected(on: boolean): void {
    get("controls").inert = !on;
    get("controls").style.opacity = on ? "" : "0.5";
  }

  show(status: Status): void {
    this.status = status;
    const press = (id: string, on: boolean) => get(id).setAttribute("aria-pressed", String(on));
    const reel = this.chosen;
    press("lock", reel?.mode === "locked");
    press("free", reel?.mode === "free");
    press("drive", reel?.mode === "torque");
    press("reel", reel?.mode === "speed");
    press("record", status.recording !== null);
    get("recording").hidden = status.recording === null;
    get("recording").textContent = status.recording === null ? "" : `recording to ${status.recording}`;
    if (performance.now() - this.touched < HANDS_OFF) return;
    if (reel?.mode === "torque") this.torque.show(reel.torque);
    if (reel?.mode === "speed") this.speed.show(reel.speed);
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
    (this.chosen?.mode === "speed" ? this.speed : this.torque).nudge(steps);
  }

  faster(steps: number): void {
    this.setRate((this.status?.rate ?? 1) * RATE_STEP ** steps);
  }

  impulse(): void {
    const size = this.impulseSize.valueAsNumber || 0;
    const direction = get<HTMLSelectElement>("impulse-direction").value.split(",").map(Number);
    this.send({ type: "impulse", body: this.bodyName.value, impulse: direction.map((x) => x * size) as Vector });
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

/** Put names into a list, which is hidden where there is nothing to choose; says whether they are others than before. */
function offer(select: HTMLSelectElement, names: string[]): boolean {
  select.hidden = names.length < 2;
  if (select.options.length === names.length && names.every((name, i) => select.options[i].value === name)) return false;
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  return true;
}
