// The controls of a live run: reels, a body to strike or to steer, rate, record, reset.

import { number } from "./format";
import { Held } from "./held";
import { type Command } from "./link";
import { get } from "./notices";
import { ReelPanel, type Way } from "./reelpanel";
import { throttle } from "./throttle";
import { type Limits, type Status, type Vector } from "./types";

const SEND_EVERY = 30; // ms, while a slider moves
const HANDS_OFF = 500; // ms after a touch in which the server's echo does not move a slider
const STEERED = 0.4; // of the greatest speed
const RATE_STEP = 1.25; // of the keys
const DEFAULT_LIMITS: Limits = { reels: {}, impulses: {}, steered: {}, carried: {}, rate: [0.1, 10] };

export class Controls {
  private readonly rate = get<HTMLInputElement>("rate"); // logarithm of the rate, so that both ways feel alike
  private readonly impulseSize = get<HTMLInputElement>("impulse-size");
  private readonly bodyName = get<HTMLSelectElement>("body-name");
  private panels: ReelPanel[] = [];
  private current = 0;
  private limits = DEFAULT_LIMITS;
  private status: Status | null = null;
  private touched = -Infinity;
  private readonly sendRate = throttle<number>(SEND_EVERY, (rate) => this.send({ type: "rate", value: rate }));

  constructor(private readonly send: (command: Command) => void) {
    get("controls").hidden = false;
    get("controls").addEventListener("submit", (event) => event.preventDefault());
    for (const id of ["impulse", "record", "reset"] as const) get(id).addEventListener("click", () => this[id]());
    this.rate.addEventListener("input", () => this.setRate(10 ** Number(this.rate.value)));
    this.impulseSize.addEventListener("keydown", (event) => event.key === "Enter" && this.impulseSize.blur());
    this.bodyName.addEventListener("change", () => this.chooseBody());
    for (const select of [this.bodyName, get("impulse-direction")]) select.addEventListener("change", () => select.blur());
    for (const button of document.querySelectorAll<HTMLElement>("[data-steer]")) {
      const direction = (button.dataset.steer ?? "").split(",").map((x) => STEERED * Number(x)) as Vector;
      new Held((on) => this.steer(on ? direction : [0, 0, 0])).by(button);
    }
    const alarm = get<HTMLInputElement>("alarm");
    alarm.addEventListener("change", () => this.send({ type: "alarm", value: alarm.valueAsNumber > 0 ? 1e3 * alarm.valueAsNumber : null }));
    alarm.addEventListener("keydown", (event) => event.key === "Enter" && alarm.blur());
  }

  setLimits(limits: Limits | undefined): void {
    this.limits = limits ?? DEFAULT_LIMITS;
    [this.rate.min, this.rate.max] = this.limits.rate.map((rate) => String(Math.log10(rate)));
    const reels = Object.entries(this.limits.reels);
    if (reels.length === this.panels.length && reels.every(([name], i) => this.panels[i].name === name)) {
      this.panels.forEach((panel) => panel.setLimits(this.limits.reels[panel.name]));
    } else {
      this.panels = reels.map(
        ([name, own], i) => new ReelPanel(name, reels.length === 1, own, (command) => this.send({ ...command, line: name }), () => this.choose(i)),
      );
      get("reels").replaceChildren(...this.panels.map((panel) => panel.element));
      this.choose(0);
    }
    if (offer(this.bodyName, Object.keys(this.limits.impulses))) this.chooseBody();
    get("impulse-box").hidden = this.bodyName.options.length === 0;
    get("steer-box").hidden = this.steered === undefined;
  }

  /** What was asked for is not done. */
  refused(): void {
    for (const panel of this.panels) panel.refused();
  }

  /** The run began again. */
  again(): void {
    for (const panel of this.panels) panel.again();
  }

  /** The reel that keys and a gamepad drive. */
  get panel(): ReelPanel | undefined {
    return this.panels[this.current];
  }

  /** Wind the reel that keys drive, while they are held. */
  wind(way: Way, on: boolean): void {
    this.panel?.wind(way, on);
  }

  nextReel(): void {
    this.choose((this.current + 1) % Math.max(1, this.panels.length));
  }

  private choose(current: number): void {
    this.current = current;
    this.panels.forEach((panel, i) => panel.setCurrent(this.panels.length > 1 && i === current));
  }

  private chooseBody(): void {
    const most = this.limits.impulses[this.bodyName.value];
    if (most === undefined) return;
    this.impulseSize.max = String(most);
    this.impulseSize.value = String(Number((0.25 * most).toPrecision(2)));
  }

  setConnected(on: boolean): void {
    get("controls").inert = !on;
    get("controls").classList.toggle("off", !on);
  }

  show(status: Status): void {
    this.status = status;
    for (const panel of this.panels) if (status.reels[panel.name]) panel.show(status.reels[panel.name]);
    for (const id of ["reels", "impulse-box", "steer-box"]) get(id).inert = status.ended;
    get("record").setAttribute("aria-pressed", String(status.recording !== null));
    this.showAlarm(status);
    get("recording").hidden = status.recording === null;
    get("recording").textContent = status.recording === null ? "" : `recording to ${status.recording}`;
    if (performance.now() - this.touched >= HANDS_OFF) this.showRate(status.rate);
  }

  private showAlarm({ alarm: { limit, excess } }: Status): void {
    const field = get<HTMLInputElement>("alarm");
    if (document.activeElement !== field) field.value = limit === null ? "" : String(Number((limit / 1e3).toPrecision(4)));
    get("alarm-box").classList.toggle("alarmed", excess !== null);
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

  /** The body that is steered: the chosen one where reels hold it, else the first that they do. */
  private get steered(): string | undefined {
    const { steered } = this.limits;
    return this.bodyName.value in steered ? this.bodyName.value : Object.keys(steered)[0];
  }

  get steers(): boolean {
    return this.steered !== undefined;
  }

  /** Move a body by the reels that hold it, in parts of the greatest speed. */
  steer(direction: Vector): void {
    const body = this.steered;
    if (body === undefined) return;
    this.send({ type: "steer", body, velocity: direction.map((x) => x * this.limits.steered[body]) as Vector });
  }

  private setRate(asked: number): void {
    const [low, high] = this.limits.rate;
    const near = Math.abs(Math.log(asked)) < 0.03 ? 1 : asked; // real time is easy to find again
    const kept = Math.min(Math.max(near, low), high);
    this.touched = performance.now();
    if (this.status) this.status.rate = kept;
    this.showRate(kept);
    this.sendRate(kept);
  }

  private showRate(rate: number): void {
    this.rate.value = String(Math.log10(rate));
    this.rate.setAttribute("aria-valuetext", `${number(rate, 3)} times real time`);
    get("rate-number").textContent = `${number(rate, 3)}×`;
  }
}

/** Put names into a list, which is hidden where there is nothing to choose; says whether they are others than before. */
function offer(select: HTMLSelectElement, names: string[]): boolean {
  select.hidden = names.length < 2;
  if (select.options.length === names.length && names.every((name, i) => select.options[i].value === name)) return false;
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  return true;
}
