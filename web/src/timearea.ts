// What hands do to an area whose width is time: go to a time, zoom by wheel, drag or two fingers, read values.

import { zoomedAt } from "./axis";
import { type PlotEvents } from "./panel";
import { type Range } from "./types";

const CLICK = 4; // px; a press that moves less is no drag
const WHEEL = 0.0016; // logarithm of the zoom, for a pixel of the wheel
const LINE = 16; // px of the wheel for a line

/** Over an area that shows a range. */
export class TimeArea {
  private readonly now = document.createElement("div");
  private readonly cross = document.createElement("div");
  private readonly fingers = new Map<number, number>(); // places by pointer
  private pinched: { range: Range; times: [number, number] } | null = null;
  private before = 0; // the time before a double-click began
  private time = 0;

  constructor(
    private readonly over: HTMLElement,
    private readonly events: PlotEvents,
    public range: Range,
    private readonly place: (time: number) => number, // px from the area's left
    private readonly alwaysWheel = false,
  ) {
    this.now.className = "time-line";
    this.now.title = "Drag to go through time";
    this.cross.className = "cross-line";
    this.cross.hidden = true;
    over.append(this.cross, this.now);
    this.listen();
    this.listenToWheel();
    this.listenToFingers();
  }

  setRange(range: Range): void {
    this.range = range;
    this.put(this.now, this.time);
  }

  setTime(time: number): void {
    this.time = time;
    this.put(this.now, time);
  }

  setHover(time: number | null): void {
    this.cross.hidden = time === null;
    if (time !== null) this.put(this.cross, time);
  }

  private put(line: HTMLElement, time: number): void {
    const [from, to] = this.range;
    line.hidden = !(time >= from && time <= to);
    if (!line.hidden) line.style.transform = `translateX(${this.place(time)}px)`;
  }

  private timeAt(x: number): number {
    const [from, to] = this.range;
    const { left, width } = this.over.getBoundingClientRect();
    return from + ((to - from) * (x - left)) / width;
  }

  private listen(): void {
    const { over, now } = this;
    let pressed: number | null = null;
    over.addEventListener("mousedown", (event) => {
      if (event.detail === 1) this.before = this.time;
    });
    over.addEventListener("dblclick", () => {
      this.events.seek(this.before); // a double-click begins with two clicks, which moved the time
      this.events.zoom(null);
    });
    over.addEventListener("pointerdown", (event) => (pressed = event.button === 0 ? event.clientX : null));
    over.addEventListener("pointerup", (event) => {
      if (pressed !== null && Math.abs(event.clientX - pressed) < CLICK) this.events.seek(this.timeAt(event.clientX));
      pressed = null;
    });
    over.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.events.hover(this.timeAt(event.clientX));
    });
    over.addEventListener("pointerleave", () => this.events.hover(null));
    // the line itself drags time, and must not start a zoom below it
    for (const name of ["mousedown", "pointerup"]) now.addEventListener(name, (event) => event.stopPropagation());
    now.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      now.setPointerCapture(event.pointerId);
    });
    now.addEventListener("pointermove", (event) => {
      if (now.hasPointerCapture(event.pointerId)) this.events.seek(this.timeAt(event.clientX));
    });
  }

  /** The wheel zooms with Ctrl or Shift, or where it has nothing to scroll. */
  private listenToWheel(): void {
    this.over.addEventListener(
      "wheel",
      (event) => {
        const column = this.over.closest<HTMLElement>("#plots");
        const scrolls = column !== null && column.scrollHeight > column.clientHeight + 1;
        if (!event.ctrlKey && !event.shiftKey && !event.metaKey && scrolls && !this.alwaysWheel) return;
        event.preventDefault();
        const turned = (event.deltaY || event.deltaX) * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1);
        this.events.zoom(zoomedAt(this.range, this.timeAt(event.clientX), Math.exp(WHEEL * turned)));
      },
      { passive: false },
    );
  }

  /** One finger moves the time, two zoom. */
  private listenToFingers(): void {
    const { over, fingers } = this;
    const end = (event: PointerEvent) => {
      fingers.delete(event.pointerId);
      this.pinched = null;
    };
    over.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch") return;
      fingers.set(event.pointerId, event.clientX);
      const [a, b] = [...fingers.values()];
      if (fingers.size === 2) this.pinched = { range: this.range, times: [this.timeAt(a), this.timeAt(b)] };
    });
    over.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) return;
      fingers.set(event.pointerId, event.clientX);
      if (this.pinched) this.pinch();
      else this.events.seek(this.timeAt(event.clientX));
    });
    for (const name of ["pointerup", "pointercancel", "pointerleave"] as const) over.addEventListener(name, end);
  }

  /** Keep the times at which the fingers were set down below them. */
  private pinch(): void {
    const [a, b] = [...this.fingers.values()];
    const [s, t] = this.pinched?.times ?? [0, 0];
    if (a === undefined || b === undefined || Math.abs(b - a) < CLICK) return;
    const { left, width } = this.over.getBoundingClientRect();
    const perPixel = (t - s) / (b - a);
    if (!(perPixel > 0)) return;
    const from = s - (a - left) * perPixel;
    this.events.zoom([from, from + width * perPixel]);
  }
}
