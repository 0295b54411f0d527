// What stands in the column beside the scene: a head with a name, and an area that is drawn.

import { type Plot, type Range } from "./types";
import { units } from "./format";

export type Size = "small" | "normal" | "large";

export interface PlotEvents {
  seek(time: number): void;
  zoom(range: Range | null): void;
  hover(time: number | null): void;
  hide(name: string): void;
  enlarge(name: string): void;
}

export abstract class Panel {
  readonly element = document.createElement("section");
  protected readonly head = document.createElement("div");
  private readonly unitText = document.createElement("span");
  protected readonly area = document.createElement("div");

  constructor(
    readonly plot: Plot,
    protected readonly events: PlotEvents,
  ) {
    this.element.className = "chart";
    this.element.dataset.testid = `chart-${plot.name}`;
    this.area.className = "plot-area";
    this.head.className = "chart-head";
    const title = document.createElement("h2");
    title.append(plot.label, this.unitText);
    this.setUnit(units(plot.units));
    this.head.append(title);
    this.element.append(this.head, this.area, this.tools());
    new ResizeObserver(() => this.resize()).observe(this.area);
  }

  /** The unit of what is drawn, behind the name. */
  protected setUnit(name: string): void {
    const text = name && ` (${name})`;
    if (this.unitText.textContent !== text) this.unitText.textContent = text;
  }

  setSize(size: Size): void {
    for (const name of ["small", "large"]) this.element.classList.toggle(name, name === size);
  }

  /** Nothing happens in it: only its head is shown. */
  setFlat(on: boolean): void {
    if (this.element.classList.toggle("flat", on) !== on) this.resize();
  }

  abstract setRange(range: Range): void;
  abstract setTime(time: number): void;
  abstract setHover(time: number | null): void;
  abstract redraw(): void;
  protected abstract resize(): void;

  private tools(): HTMLElement {
    const tools = document.createElement("div");
    tools.className = "chart-tools";
    for (const [text, label, act] of [
      ["⤢", "Larger or smaller", () => this.events.enlarge(this.plot.name)],
      ["×", "Hide this chart", () => this.events.hide(this.plot.name)],
    ] as const) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, title: label });
      button.setAttribute("aria-label", `${label}: ${this.plot.label}`);
      button.addEventListener("click", act);
      tools.append(button);
    }
    return tools;
  }
}
