// The scene with what lies over it: buttons, legend, axes, names; or a sentence in its place where the browser cannot draw it.

import { type View } from "./camera";
import { cssColour, Scale, union } from "./colours";
import { number } from "./format";
import { type Action } from "./keys";
import { type Frame, type Layout, type Quantity, type Row } from "./layout";
import { get } from "./notices";
import { onTheme, theme } from "./palette";
import { Scene } from "./scene";
import { drawTriad } from "./triad";
import { type Meta, type Range } from "./types";

const UNITS: Record<Quantity, string> = { strain: "", tension: "N", energy_density: "J/m" };
const QUANTITIES = Object.keys(UNITS) as Quantity[];
const VIEWS: Action[] = ["front", "side", "top", "iso"];
const LETTERS = ["A", "B"];
const LETTER = 8; // px, the width of one in a name, about
const NAME_HEIGHT = 15; // px
const LEGEND_LETTERS = 20; // that fit below the bar

export class SceneStage {
  private scene: Scene | null = null;
  private quantity: Quantity = "strain";
  private frames: (Frame | null)[] = [];
  private ranges: Record<Quantity, Range> = { strain: [0, 0], tension: [0, 0], energy_density: [0, 0] };
  private metas: Meta[] = [];
  private layouts: Layout[] = [];
  private followed: number | null = null; // number of the body
  private naming = true;

  /** `growing`: the ranges of the colours are not known beforehand. */
  constructor(private readonly growing: boolean) {
    for (const button of document.querySelectorAll<HTMLElement>("[data-view]"))
      button.addEventListener("click", () => this.act(button.dataset.view as Action));
    for (const id of ["fit", "follow", "names", "compare"] as const) get(id).addEventListener("click", () => this.act(id));
    get<HTMLSelectElement>("colour").addEventListener("change", (event) => this.colourBy((event.target as HTMLSelectElement).value as Quantity));
    onTheme(() => {
      this.rescale();
      this.scene?.recolour();
    });
  }

  get drawn(): number {
    return this.scene?.drawn ?? 0;
  }

  /** Show these runs from now on. */
  open(metas: Meta[], layouts: Layout[]): void {
    this.scene?.dispose();
    this.scene = null;
    this.metas = metas;
    this.layouts = layouts;
    this.frames = metas.map(() => null);
    for (const quantity of QUANTITIES) this.ranges[quantity] = metas.map((meta) => meta.ranges[quantity]).reduce(union);
    try {
      this.scene = new Scene(get("scene"), metas, layouts, this.quantity, this.scale(), (camera) => this.cameraMoved(camera));
    } catch {
      get("no-scene").textContent =
        "This browser cannot draw in three dimensions: WebGL is switched off or missing. The plots and all controls work without it.";
      get("no-scene").hidden = false;
      get("scene").classList.add("flat");
    }
    get("compare").hidden = metas.length < 2 || !this.scene;
    get("names").hidden = !metas[0].strings.some(({ name }) => name);
    get("follow").hidden = this.free.length === 0;
    this.setFollow(null);
    this.label();
    this.rescale();
  }

  show(run: number, frame: Frame): void {
    if (this.frames[run]?.row === frame.row) return;
    this.frames[run] = frame;
    get("scene-note").hidden = this.frames.every((shown, k) => !shown || this.layouts[k].drawable(shown.row));
    if (this.growing) this.grow(run, frame.row);
    this.scene?.show(run, frame);
    if (this.growing) this.scene?.include(run);
  }

  /** The frame of a run that is in view. */
  shown(run: number): Frame | null {
    return this.frames[run] ?? null;
  }

  /** Flat positions of the nodes in view. */
  nodes(run: number): number[] {
    const frame = this.shown(run);
    return frame ? this.layouts[run].positions(frame.row) : [];
  }

  trail(run: number, rows: Row[]): void {
    this.scene?.trail(run, rows.filter((row) => this.layouts[run].drawable(row)));
    this.scene?.touch();
  }

  render(): boolean {
    return this.scene?.render() ?? false;
  }

  /** Do what a key or a button asks for; false where it is not the scene's business. */
  act(action: Action): boolean {
    if (action === "colour") this.colourBy(QUANTITIES[(QUANTITIES.indexOf(this.quantity) + 1) % QUANTITIES.length]);
    else if (VIEWS.includes(action)) this.look(() => this.scene?.rig.view(action as View));
    else if (action === "fit") this.look(() => this.scene?.rig.fit());
    else if (action === "follow") this.setFollow(this.free[this.followed === null ? 0 : this.free.indexOf(this.followed) + 1] ?? null);
    else if (action === "names") this.toggleNames();
    else if (action === "compare") this.toggleCompare();
    else return false;
    return true;
  }

  private look(move: () => void): void {
    this.setFollow(null); // a view of the whole and the body in the middle exclude each other
    move();
  }

  /** Numbers of the bodies that can be followed. */
  private get free(): number[] {
    return this.metas[0].bodies.flatMap(({ held }, k) => (held ? [] : k));
  }

  private setFollow(body: number | null): void {
    if (!this.scene || body === this.followed) return;
    this.followed = body;
    this.scene.setFollow(body);
    get("follow").setAttribute("aria-pressed", String(body !== null));
    get("follow").textContent = `Follow ${body === null ? "" : this.metas[0].bodies[body].name}`.trim();
  }

  private toggleNames(): void {
    this.naming = !this.naming;
    get("names").setAttribute("aria-pressed", String(this.naming));
    this.scene?.touch();
  }

  /** Names beside what they name; one that would cover another moves down. */
  private placeNames(): void {
    const placed: [number, number, number][] = []; // left, top, width
    const names = (this.naming && this.scene?.names()) || [];
    get("part-names").replaceChildren(
      ...names.map(({ text, kind, at: [x, y] }) => {
        const width = LETTER * text.length;
        const covered = () => placed.some(([left, top, wide]) => x < left + wide && left < x + width && Math.abs(y - top) < NAME_HEIGHT);
        while (covered()) y += NAME_HEIGHT;
        placed.push([x, y, width]);
        const label = Object.assign(document.createElement("span"), { className: kind, textContent: text });
        label.style.transform = `translate(${(x + 10).toFixed(1)}px, calc(${y.toFixed(1)}px - 50%))`;
        return label;
      }),
    );
  }

  private toggleCompare(): void {
    if (!this.scene || this.metas.length < 2) return;
    this.scene.setSideBySide(!this.scene.sideBySide);
    this.scene.rig.fit();
    this.label();
  }

  private label(): void {
    const split = this.scene?.sideBySide ?? false;
    get("compare").textContent = split ? "Overlay" : "Side by side";
    get("compare").title = split ? "Both runs in one view, the second as a ghost (g)" : "A view for each run (g)";
    get("run-labels").classList.toggle("split", split);
    get("run-labels").replaceChildren(
      ...(this.metas.length < 2 ? [] : this.metas).map((meta, run) => {
        const item = document.createElement("div");
        const line = document.createElement("i");
        line.className = run > 0 ? "second" : "";
        const name = document.createElement("span");
        name.textContent = `${LETTERS[run]}: ${meta.title}${run > 0 && !split ? " (ghost)" : ""}`;
        item.append(line, name);
        return item;
      }),
    );
  }

  private colourBy(quantity: Quantity): void {
    this.quantity = quantity;
    get<HTMLSelectElement>("colour").value = quantity;
    this.rescale();
  }

  private scale(): Scale {
    return new Scale(this.ranges[this.quantity], theme());
  }

  private rescale(): void {
    const scale = this.scale();
    if (this.scene) {
      this.scene.quantity = this.quantity;
      this.scene.scale = scale;
      this.scene.touch();
    }
    const bar = get<HTMLCanvasElement>("legend-bar");
    const brush = bar.getContext("2d");
    for (let x = 0; brush && x < bar.width; x++) {
      brush.fillStyle = cssColour(x / (bar.width - 1), scale.theme);
      brush.fillRect(x, 0, 1, bar.height);
    }
    const [low, high] = scale.range;
    const unit = UNITS[this.quantity];
    const texts = high > low ? [low, 0.5 * (low + high), high].map((x) => number(x, 3)) : [number(low, 3)];
    if (unit) texts[texts.length - 1] += ` ${unit}`;
    if (texts.join(" ").length > LEGEND_LETTERS) texts.splice(1, 1); // the middle one is the least missed
    get("legend-numbers").replaceChildren(...texts.map((textContent) => Object.assign(document.createElement("span"), { textContent })));
  }

  private grow(run: number, row: Row): void {
    let grown = false;
    for (const quantity of QUANTITIES)
      for (const strand of this.layouts[run].strands)
        for (let e = 0; e < strand.elements; e++) {
          const x = strand.value(row, quantity, e);
          const [low, high] = this.ranges[quantity];
          if (x < low || x > high) [this.ranges[quantity], grown] = [[Math.min(low, x), Math.max(high, x)], true];
        }
    if (grown) this.rescale();
  }

  private cameraMoved({ camera }: Scene["rig"]): void {
    if (!this.scene) return;
    drawTriad(get<SVGSVGElement>("triad"), camera);
    this.placeNames();
    get("grid-note").textContent = `grid: 1 cell = ${number(this.scene.ground.cell, 1)} m`;
    const at = this.scene.arrowOnScreen();
    get("gravity-label").hidden = !at;
    if (at) get("gravity-label").style.transform = `translate(calc(${at[0].toFixed(1)}px - 50%), ${at[1].toFixed(1)}px)`;
  }
}
