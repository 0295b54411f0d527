// The controls of one drum or driven sheave: buttons that wind while they are held, a length to go to, and a dial for speed or torque.

import { Dial, type Scope } from "./dial";
import { number, value } from "./format";
import { Held } from "./held";
import { type ReelCommand } from "./link";
import { type Range, type ReelLimits, type ReelStatus } from "./types";

const HANDS_OFF = 500; // ms after a touch in which the server's echo does not move a slider
const AROUND = 1.25; // of the holding torque, on either side of it
const BUTTONS = [
  ["reel", "Speed", "Give the speed of the reel (v)"],
  ["drive", "Torque", "Drive the drum with a torque; at first the one that holds (t)"],
  ["free", "Free", "Free the drum (o)"],
  ["lock", "Lock", "Brake the drum and lock it (l)"],
] as const;
const MODES: Record<string, string[]> = { reel: ["speed", "length"], drive: ["torque"], free: ["free"], lock: ["locked"] };
type Kind = "torque" | "speed";
export type Way = "in" | "out";

export class ReelPanel {
  readonly element = document.createElement("div");
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private readonly dial = new Dial(() => this.touch(), (given) => this.send({ type: this.kind, value: given }));
  private readonly cruise: HTMLInputElement;
  private readonly length: HTMLInputElement;
  private readonly state = document.createElement("span");
  private readonly ways: Record<Way, Held>;
  private kind: Kind = "speed";
  private last: Record<Kind, number | null> = { torque: null, speed: null };
  private touched = -Infinity;
  private told = ""; // by the server: how the drum is driven
  private status: ReelStatus | null = null;
  private marked = 0; // the holding torque that the slider's marks are for
  private readonly ofName: string; // empty where it is alone
  private readonly suffix: string;

  constructor(
    readonly name: string,
    alone: boolean,
    private limits: ReelLimits,
    private readonly send: (command: ReelCommand) => void,
    chosen: () => void,
  ) {
    this.suffix = alone ? "" : `-${name}`;
    this.ofName = alone ? "" : ` of ${name}`;
    this.element.className = "row reel";
    this.element.dataset.testid = `controls-of-${alone ? "reel" : name}`;
    const title = Object.assign(document.createElement("span"), { className: "reel-name", textContent: name });
    const winding = this.group(`Wind the drum${this.ofName}`);
    this.ways = {
      in: this.windingButton(winding, "in", "▲ In", "Hold to take rope in (↑)"),
      out: this.windingButton(winding, "out", "▼ Out", "Hold to pay rope out (↓)"),
    };
    this.cruise = this.field("cruise", `Speed${this.ofName} while a button is held, meters a second`, limits.cruise);
    this.length = this.field("length", `Length${this.ofName} to go to, meters`, limits.length[1]);
    const go = this.button("go", "Go", "Go to this length and rest there");
    go.addEventListener("click", () => this.goTo());
    this.length.addEventListener("keydown", (event) => event.key === "Enter" && this.goTo());
    const modes = this.group(`Drum${this.ofName}`);
    for (const [id, text, tip] of BUTTONS) {
      const button = this.button(id, text, tip);
      button.addEventListener("click", () => this.press(id));
      this.buttons.set(id, button);
      modes.append(button);
    }
    this.dial.name(`dial${this.suffix}`);
    const dial = Object.assign(document.createElement("div"), { className: "dial-box" });
    dial.append(this.dial.element, unitField("", this.dial.field, this.dial.unit));
    this.state.className = "quiet reel-state number";
    this.state.dataset.testid = `reel-state${this.suffix}`;
    this.element.append(
      ...(alone ? [] : [title]),
      winding,
      unitField("at", this.cruise, "m/s"),
      unitField("to", this.length, "m", go),
      modes,
      dial,
      this.state,
    );
    this.element.addEventListener("pointerdown", chosen);
    this.element.addEventListener("focusin", chosen);
    this.scope();
  }

  setLimits(limits: ReelLimits): void {
    this.limits = limits;
    this.scope();
  }

  setCurrent(on: boolean): void {
    this.element.classList.toggle("current", on);
  }

  show(status: ReelStatus): void {
    const begun = this.status !== null;
    this.status = status;
    for (const [id, modes] of Object.entries(MODES)) this.buttons.get(id)?.setAttribute("aria-pressed", String(!status.program && modes.includes(status.mode)));
    this.state.textContent = this.inWords(status);
    if (!begun) this.length.value = String(Number(status.deployed.toPrecision(3)));
    const told = `${status.mode} ${status.program}`;
    // what is driven otherwise is next driven by speed: every page that watches has the same slider, and the one that the
    // buttons say. What was pressed here stays until the server tells something new, however late.
    const given: Kind = told === this.told ? this.kind : status.mode === "torque" && !status.program ? "torque" : "speed";
    const other = given !== this.kind;
    [this.told, this.kind] = [told, given];
    if (!other && performance.now() - this.touched < HANDS_OFF) return;
    if (status.mode === this.kind && !status.program) this.last[this.kind] = this.kind === "speed" ? status.target : status.torque;
    else if (this.kind === "speed") this.last.speed = 0;
    if (other || !begun || Math.abs(status.hold - this.marked) > 0.02 * Math.abs(this.marked)) this.scope();
    this.dial.show(this.resting);
  }

  /** What was asked for is not done: back to what the server tells. */
  refused(): void {
    if (!this.status) return;
    [this.told, this.touched] = ["", -Infinity];
    this.show(this.status);
  }

  /** The run began again: what was given before it is not offered any more. */
  again(): void {
    this.last = { torque: null, speed: null };
    this.scope();
  }

  press(id: string): void {
    if (id === "lock" || id === "free") {
      this.told = ""; // and next by speed
      return this.send({ type: id });
    }
    this.kind = id === "drive" ? "torque" : "speed";
    if (this.kind === "speed") this.last.speed = 0;
    this.scope();
    this.dial.set(this.resting);
  }

  nudge(steps: number): void {
    this.dial.nudge(steps);
  }

  /** Wind while it is held. */
  wind(way: Way, on: boolean): void {
    this.ways[way].set(on);
  }

  /** Wind at a part of the greatest speed, for a moment; 0 stops. */
  windAt(part: number): void {
    this.send({ type: "speed", value: part * this.limits.speed[1], held: true });
  }

  private goTo(): void {
    const length = this.length.valueAsNumber;
    if (Number.isFinite(length)) this.send({ type: "length", value: length, speed: this.atSpeed });
  }

  /** Of the buttons (m/s). */
  private get atSpeed(): number {
    const asked = this.cruise.valueAsNumber;
    return Math.min(asked > 0 ? asked : this.limits.cruise, this.limits.speed[1]);
  }

  private inWords({ mode, program, deployed, speed, end, length }: ReelStatus): string {
    const doing = program ? "program" : end === "in" ? "upper end" : end === "out" ? "lower end" : mode === "length" ? `to ${number(length, 3)} m` : "";
    return [`${value(deployed, "m", 3)} out`, `${number(Math.abs(speed) < 5e-4 ? 0 : speed, 2)} m/s`, doing].filter(Boolean).join(" · ");
  }

  private windingButton(group: HTMLElement, way: Way, text: string, tip: string): Held {
    const button = this.button(`wind-${way}`, text, tip);
    group.append(button);
    const sign = way === "in" ? 1 : -1;
    return new Held((on) => {
      button.setAttribute("aria-pressed", String(on));
      this.touched = -Infinity;
      this.send({ type: "speed", value: on ? sign * this.atSpeed : 0, held: true });
    }).by(button);
  }

  private button(id: string, text: string, title: string): HTMLButtonElement {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: text, title, id: id + this.suffix });
    button.dataset.testid = button.id;
    if (this.ofName) button.setAttribute("aria-label", `${text.replace(/[▲▼] /, "")}${this.ofName}`);
    return button;
  }

  private group(label: string): HTMLElement {
    const group = Object.assign(document.createElement("div"), { className: "group" });
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", label);
    return group;
  }

  private field(id: string, label: string, first: number): HTMLInputElement {
    const input = Object.assign(document.createElement("input"), { type: "number", step: "any", id: id + this.suffix, value: String(Number(first.toPrecision(3))) });
    input.dataset.testid = input.id;
    input.setAttribute("aria-label", label);
    input.addEventListener("keydown", (event) => event.key === "Enter" && input.blur());
    return input;
  }

  /** Where the dial stands: the last value given, at first the one with which the drum stays where it is. */
  private get resting(): number {
    return this.last[this.kind] ?? (this.kind === "torque" ? this.marked : 0);
  }

  private touch(): void {
    this.touched = performance.now();
    this.last[this.kind] = this.dial.value;
  }

  private scope(): void {
    this.marked = Number((this.status?.hold ?? 0).toPrecision(3));
    const hold = this.marked;
    const limits = this.limits[this.kind];
    const around: Range = [Math.min(0, hold - AROUND * Math.abs(hold)), hold + AROUND * Math.abs(hold)];
    const used = this.last.torque ?? 0;
    const torques: Range = hold === 0 ? limits : [Math.min(around[0], 1.1 * used), Math.max(around[1], 1.1 * used)];
    const scopes: Record<Kind, Scope> = {
      torque: {
        unit: "N m",
        label: `Torque on the drum${this.ofName}, newton meters; positive retrieves`,
        limits,
        range: torques,
        marks: [{ at: 0, text: "0" }, ...(hold === 0 ? [] : [{ at: hold, text: "hold" }])],
      },
      speed: {
        unit: "m/s",
        label: `Speed of the reel${this.ofName}, meters a second; positive retrieves`,
        limits,
        range: limits,
        marks: [{ at: limits[0], text: "out" }, { at: 0, text: "0" }, { at: limits[1], text: "in" }],
      },
    };
    this.dial.setScope(scopes[this.kind]);
    this.dial.show(this.resting);
  }
}

/** A field between a word and its unit. */
function unitField(before: string, field: HTMLElement, unit: string | HTMLElement, ...after: HTMLElement[]): HTMLElement {
  const all = Object.assign(document.createElement("span"), { className: "unit-field" });
  const word = (text: string) => Object.assign(document.createElement("span"), { className: "quiet", textContent: text });
  all.append(...(before ? [word(before)] : []), field, typeof unit === "string" ? word(unit) : unit, ...after);
  return all;
}
