// The scene with what lies over it: buttons, legend, axes, names; or a sentence in its place where the browser cannot draw it.

import { type Turn, type View } from "./camera";
import { number } from "./format";
import { type Covered, type Rect } from "./framing";
import { Grab, type Pull } from "./grab";
import { type Action } from "./keys";
import { type Frame, type Layout, type Row } from "./layout";
import { Legend } from "./legend";
import { LETTERS } from "./lines";
import { get } from "./notices";
import { onTheme } from "./palette";
import { isNamed } from "./places";
import { Scene } from "./scene";
import { drawTriad } from "./triad";
import { type Meta } from "./types";

const VIEWS: Action[] = ["front", "side", "top", "iso"];
const LETTER = 8; // px, the width of one in a name, about
const BESIDE = 10; // px, from what is named
const NAME_HEIGHT = 15; // px
const APART = 4; // px; what is nearer lies in one line with it
const CROSSED = 60; // px above and below the place of a name, where what it names is likely to be
const NARROW = 480; // px: below, the legend takes the whole width of the picture's foot
const TURNS: Record<string, Turn> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", "+": "nearer", "=": "nearer", "-": "farther" };

export class SceneStage {
  scene: Scene | null = null;
  readonly legend: Legend;
  private frames: (Frame | null)[] = [];
  private metas: Meta[] = [];
  private layouts: Layout[] = [];
  private followed: number | null = null; // number of the body
  private pointed = false; // the focus came by mouse or finger: the keys stay the page's
  private naming = true;
  private forces = false;

  /** `growing`: where it goes is not known beforehand; `pull`: a body was dragged. */
  constructor(
    private readonly growing: boolean,
    private readonly pull: Pull | null,
  ) {
    this.legend = new Legend(() => this.recolor());
    for (const button of document.querySelectorAll<HTMLElement>("[data-view]"))
      button.addEventListener("click", () => this.act(button.dataset.view as Action));
    for (const id of ["fit", "follow", "names", "forces", "compare", "inset"] as const) get(id).addEventListener("click", () => this.act(id));
    onTheme(() => this.scene?.recolor());
    get("scene").addEventListener("keydown", (event) => this.turn(event));
    get("scene").addEventListener("pointerdown", () => (this.pointed = true), { capture: true });
    get("scene").addEventListener("focusout", () => (this.pointed = false));
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
    this.legend.open(metas);
    try {
      const events = { moved: () => this.cameraMoved(), covered: () => this.covered() };
      this.scene = new Scene(get("scene"), metas, layouts, this.legend.quantity, this.legend.scale, events);
      if (this.pull) new Grab(this.scene, this.scene.renderer.domElement, this.pull);
    } catch {
      get("no-scene").textContent =
        "This browser cannot draw in three dimensions: WebGL is switched off or missing. The plots and all controls work without it.";
      get("no-scene").hidden = false;
      get("scene").classList.add("flat");
    }
    get("compare").hidden = metas.length < 2 || !this.scene;
    get("names").hidden = !isNamed(metas[0]);
    get("follow").hidden = this.free.length === 0;
    this.setFollow(null);
    this.setForces(this.forces);
    this.label();
    this.recolor();
  }

  show(run: number, frame: Frame): void {
    if (this.frames[run]?.row === frame.row) return;
    this.frames[run] = frame;
    get("scene-note").hidden = this.frames.every((shown, k) => !shown || this.layouts[k].drawable(shown.row));
    this.legend.see(this.frames.flatMap((shown, k) => (shown ? { row: shown.row, layout: this.layouts[k] } : [])));
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

  wheels(run: number): { center: number[]; turn: number }[] {
    return this.scene?.wheels(run) ?? [];
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
    if (action === "color") this.legend.next();
    else if (VIEWS.includes(action)) this.look(() => this.scene?.rig.view(action as View));
    else if (action === "fit") this.look(() => this.scene?.rig.fit());
    else if (action === "follow") this.setFollow(this.free[this.followed === null ? 0 : this.free.indexOf(this.followed) + 1] ?? null);
    else if (action === "names") this.toggleNames();
    else if (action === "forces") this.setForces(!this.forces);
    else if (action === "compare") this.toggleCompare();
    else if (action === "inset") this.toggleInset();
    else return false;
    return true;
  }

  /** Arrow keys and plus and minus, while the picture has the focus. */
  private turn(event: KeyboardEvent): void {
    const way = TURNS[event.key];
    if (!way || !this.scene || this.pointed || event.target !== this.scene.renderer.domElement || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.scene.rig.turn(way);
  }

  private look(move: () => void): void {
    this.setFollow(null); // a view of the whole and the body in the middle exclude each other
    move();
  }

  /** Numbers of the bodies that can be followed. */
  private get free(): number[] {
    return this.metas[0].bodies.flatMap(({ held }, k) => (held ? [] : k));
  }

  /** The body that is followed, by its number. */
  get following(): number | null {
    return this.followed;
  }

  setFollow(body: number | null): void {
    if (!this.scene || body === this.followed || (body !== null && !this.free.includes(body))) return;
    this.followed = body;
    this.scene.setFollow(body);
    get("follow").setAttribute("aria-pressed", String(body !== null));
    get("follow").textContent = body === null || this.free.length === 1 ? "Follow" : `Follow ${this.metas[0].bodies[body].name}`;
  }

  private toggleNames(): void {
    this.naming = !this.naming;
    get("names").setAttribute("aria-pressed", String(this.naming));
    this.scene?.touch();
  }

  private setForces(on: boolean): void {
    this.forces = on;
    get("forces").setAttribute("aria-pressed", String(on));
    this.scene?.setForces(on);
  }

  private toggleInset(): void {
    if (!this.scene) return;
    this.scene.closeUp = !this.scene.closeUp;
    get("inset").setAttribute("aria-pressed", String(this.scene.closeUp));
    this.scene.touch();
  }

  /** Names to the right of what they name, or to the left where something is; one that would cover another moves down or up. */
  private placeNames(): void {
    const placed: [number, number, number][] = []; // left, top, width
    const room = get("scene").clientWidth;
    const names = (this.naming && this.scene?.sight.names()) || [];
    get("part-names").replaceChildren(
      ...names.map(({ text, kind, at: [place, height] }, own) => {
        const width = LETTER * text.length;
        const sides = [place + BESIDE, place - BESIDE - width].filter((x) => x >= 0 && x + width <= room);
        const covered = (x: number, y: number) => placed.some(([left, top, wide]) => x < left + wide && left < x + width && Math.abs(y - top) < NAME_HEIGHT);
        // a line beside a line, a body beside a body
        const beside = names.flatMap((other, k) => (k !== own && other.kind === kind && Math.abs(other.at[1] - height) < CROSSED && Math.abs(other.at[0] - place) > APART ? other.at[0] : []));
        const crosses = (x: number) => beside.some((other) => (other - place) * (x - place) > 0 && other > x - BESIDE && other < x + width + BESIDE);
        const x = sides.find((side) => !covered(side, height) && !crosses(side)) ?? sides[0] ?? place + BESIDE;
        let [y, tries] = [height, 0];
        while (covered(x, y) || y < NAME_HEIGHT) y = height + NAME_HEIGHT * (++tries % 2 ? 1 : -1) * Math.ceil(tries / 2); // below, above, farther below
        placed.push([x, y, width]);
        const label = Object.assign(document.createElement("span"), { className: kind, textContent: text });
        label.style.transform = `translate(${x.toFixed(1)}px, calc(${y.toFixed(1)}px - 50%))`;
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
    get("compare").title = split ? "All runs in one view, the others as ghosts (g)" : "A view for each run (g)";
    get("run-labels").className = split ? `split of-${this.metas.length}` : "";
    get("run-labels").replaceChildren(
      ...(this.metas.length < 2 ? [] : this.metas).map((meta, run) => {
        const item = document.createElement("div");
        const line = document.createElement("i");
        line.style.color = `var(--run-${run})`;
        const name = Object.assign(document.createElement("span"), { title: meta.title });
        name.textContent = `${LETTERS[run]}: ${meta.label ?? meta.title}${run > 0 && !split ? " (ghost)" : ""}`;
        item.append(line, name);
        return item;
      }),
    );
  }

  private recolor(): void {
    if (!this.scene) return;
    this.scene.quantity = this.legend.quantity;
    this.scene.scale = this.legend.scale;
    this.scene.touch();
  }

  /** How much of the picture buttons and the legend cover. */
  private covered(): Covered {
    const bar = document.querySelector<HTMLElement>("#scene .top-left");
    const [legend, runs] = [get("legend"), get("run-labels")];
    const top = Math.max(...[bar, runs].map((part) => (part?.offsetHeight ? part.offsetTop + part.offsetHeight : 0)));
    if (get("scene").clientWidth < NARROW) return { top, bottom: legend.offsetHeight + 14, corners: [] };
    const { inset } = this.scene ?? {};
    const corners: Rect[] = [legend].map(({ offsetLeft: left, offsetTop: above, offsetWidth, offsetHeight }) => ({ left, top: above, right: left + offsetWidth, bottom: above + offsetHeight }));
    if (inset) corners.push({ left: inset.left, top: inset.top, right: inset.left + inset.size, bottom: inset.top + inset.size });
    return { top, bottom: 30, corners };
  }

  private cameraMoved(): void {
    const { scene } = this;
    if (!scene) return;
    drawTriad(get<SVGSVGElement>("triad"), scene.rig.camera);
    this.placeNames();
    get("grid-note").textContent = scene.ground.group.visible ? `grid: 1 cell = ${number(scene.ground.cell, 1)} m` : "";
    const at = scene.arrowOnScreen();
    get("gravity-label").hidden = !at;
    get("gravity-label").textContent = this.metas[0].orbit?.center ?? "g";
    if (at) get("gravity-label").style.transform = `translate(calc(${at[0].toFixed(1)}px - 50%), ${at[1].toFixed(1)}px)`;
    const frame = get("inset-frame");
    const { inset } = scene;
    frame.hidden = !inset;
    if (inset) Object.assign(frame.style, { left: `${inset.left}px`, top: `${inset.top}px`, width: `${inset.size}px`, height: `${inset.size}px` });
    get("inset").hidden = !inset && scene.closeUp;
  }
}
