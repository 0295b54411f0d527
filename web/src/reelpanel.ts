// The controls of one reel: what its drum does, and a dial for the torque or the speed that it is given.

import { Dial, type Scope } from "./dial";
import { type ReelCommand } from "./link";
import { type Limits, type Range, type ReelStatus } from "./types";

const HANDS_OFF = 500; // ms after a touch in which the server's echo does not move a slider
const AROUND = 1.25; // of the holding torque, on either side of it
const BUTTONS = [
  ["lock", "Lock", "Brake the drum and lock it (l)"],
  ["free", "Free", "Free the drum (o)"],
  ["drive", "Torque", "Drive the drum with a torque; at first the one that holds (t)"],
  ["reel", "Speed", "Give the speed of the reel (v)"],
] as const;
type Kind = "torque" | "speed";

export class ReelPanel {
  readonly element = document.createElement("div");
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private readonly dial = new Dial(() => this.touch(), (value) => this.send({ type: this.kind, value }));
  private kind: Kind = "torque";
  private last: Record<Kind, number | null> = { torque: null, speed: null };
  private touched = -Infinity;
  private status: ReelStatus | null = null;
  private marked = 0; // the holding torque that the slider's marks are for
  private readonly ofName: string; // empty where it is alone

  constructor(
    readonly name: string,
    alone: boolean,
    private limits: Limits["reels"][string],
    private readonly send: (command: ReelCommand) => void,
    chosen: () => void,
  ) {
    const suffix = alone ? "" : `-${name}`;
    this.ofName = alone ? "" : ` of ${name}`;
    this.element.className = "row reel";
    this.element.dataset.testid = `controls-of-${alone ? "reel" : name}`;
    const group = document.createElement("div");
    group.className = "group";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", `Drum${this.ofName}`);
    for (const [id, text, title] of BUTTONS) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: text, title, id: id + suffix });
      button.dataset.testid = button.id;
      button.addEventListener("click", () => this.press(id));
      this.buttons.set(id, button);
      group.append(button);
    }
    this.dial.name(`dial${suffix}`);
    const field = document.createElement("span");
    field.className = "unit-field";
    field.append(this.dial.field, this.dial.unit);
    const title = Object.assign(document.createElement("span"), { className: "reel-name", textContent: name });
    this.element.append(...(alone ? [] : [title]), group, this.dial.element, field);
    this.element.addEventListener("pointerdown", chosen);
    this.element.addEventListener("focusin", chosen);
    this.scope();
  }

  setLimits(limits: Limits["reels"][string]): void {
    this.limits = limits;
    this.scope();
  }

  setCurrent(on: boolean): void {
    this.element.classList.toggle("current", on);
  }

  show(status: ReelStatus): void {
    const begun = this.status !== null;
    this.status = status;
    for (const [id, modes] of [["lock", "locked"], ["free", "free"], ["drive", "torque"], ["reel", "speed"]])
      this.buttons.get(id)?.setAttribute("aria-pressed", String(status.mode === modes));
    if (performance.now() - this.touched < HANDS_OFF) return;
    if ((status.mode === "torque" || status.mode === "speed") && status.mode !== this.kind) this.kind = status.mode;
    if (Math.abs(status.hold - this.marked) > 0.02 * Math.abs(this.marked) || !begun) this.scope();
    if (status.mode === this.kind) this.last[this.kind] = status[this.kind];
    this.dial.show(this.resting);
  }

  press(id: string): void {
    if (id === "lock" || id === "free") return this.send({ type: id });
    this.kind = id === "drive" ? "torque" : "speed";
    this.scope();
    this.dial.set(this.resting);
  }

  nudge(steps: number): void {
    this.dial.nudge(steps);
  }

  /** Run at a speed, as a part of the greatest. */
  windAt(part: number): void {
    this.kind = "speed";
    this.scope();
    this.dial.set(part * this.limits.speed[1]);
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
