// The picture: runs, ground and arrow before one camera, in one view or two side by side. Drawn only when something changed.

import { Color, DirectionalLight, Group, HemisphereLight, Scene as Stage, Vector3, WebGLRenderer } from "three";
import { CameraRig } from "./camera";
import { type Scale } from "./colours";
import { type Box, GravityArrow, Ground, sizeOf } from "./ground";
import { type Frame, type Layout, type Quantity, type Row, type Strand } from "./layout";
import { css } from "./palette";
import { RunView } from "./runview";
import { type Meta, type ReelMeta, type Vector } from "./types";

const GHOST = 0.38;
const RADIUS = 0.0023; // of the string, over the camera's distance: thick enough to carry a colour, however near
const MAX_PIXEL_RATIO = 2;
const SPARE = 0.2; // of the box, added where something leaves it, so that the camera does not step back at every picture

export class Scene {
  readonly rig: CameraRig;
  readonly ground = new Ground();
  sideBySide = false;
  drawn = 0;
  private readonly renderer: WebGLRenderer;
  private readonly stage = new Stage();
  private readonly world = new Group();
  private readonly arrow = new GravityArrow();
  private readonly views: RunView[];
  private readonly frames: (Frame | null)[];
  private followed = 0; // number of the body
  private box: Box;
  private dirty = true;
  private readonly arrowTip = new Vector3();

  /** Throws where the browser has no WebGL. */
  constructor(
    private readonly host: HTMLElement,
    metas: Meta[],
    layouts: Layout[],
    public quantity: Quantity,
    public scale: Scale,
    private readonly cameraMoved: (rig: CameraRig) => void,
  ) {
    this.renderer = new WebGLRenderer({ antialias: window.devicePixelRatio < MAX_PIXEL_RATIO, alpha: true, powerPreference: "low-power" });
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.domElement.setAttribute("aria-label", "Scene in three dimensions; drag to turn, wheel to zoom, right-drag to shift");
    this.renderer.domElement.setAttribute("role", "img");
    host.prepend(this.renderer.domElement);

    // Physical axes have z down; the renderer has y up. A quarter turn about x leads from one to the other.
    this.world.rotation.x = Math.PI / 2;
    this.stage.add(this.world, new HemisphereLight(0xffffff, 0x9aa4b2, 1.9), this.sun());
    this.views = metas.map((meta, run) => new RunView(meta, layouts[run]));
    this.frames = metas.map(() => null);
    this.world.add(this.ground.group, ...this.views.map((view) => view.group));
    if (metas[0].gravity > 0) this.world.add(this.arrow.group);

    this.box = boxOf(metas);
    this.rig = new CameraRig(this.renderer.domElement, this.box, () => this.touch());
    this.layOut();
    this.setSideBySide(false);
    this.recolour();
    new ResizeObserver(() => this.resize()).observe(host);
    this.renderer.domElement.addEventListener("webglcontextrestored", () => this.touch());
    this.resize();
    this.rig.view("iso");
  }

  touch(): void {
    this.dirty = true;
  }

  show(run: number, frame: Frame): void {
    if (this.frames[run]?.row === frame.row) return;
    this.frames[run] = this.views[run].layout.drawable(frame.row) ? frame : null;
    if (run === 0) this.track();
    this.touch();
  }

  trail(run: number, rows: Row[]): void {
    this.views[run].drawTrail(rows);
  }

  /** Follow a body by its number, or none. */
  setFollow(body: number | null): void {
    this.rig.follow = false;
    if (body !== null) {
      this.followed = body;
      this.track();
      this.rig.approach(4 * Math.max(reachOf(this.views[0].meta.bodies[body].points), 0.02 * sizeOf(this.box)));
      this.rig.follow = true;
    }
    this.touch();
  }

  setSideBySide(on: boolean): void {
    this.sideBySide = on;
    this.views[1]?.setOpacity(on ? 1 : GHOST);
    this.resize();
  }

  /** Make room for things that left the box, as may happen when a run is not known beforehand. */
  include(run: number): void {
    const frame = this.frames[run];
    if (!frame) return;
    const { layout, meta } = this.views[run];
    const [low, high] = this.box;
    const spare = SPARE * sizeOf(this.box);
    let grown = false;
    const hold = (place: Vector, around: number) =>
      place.forEach((x, i) => {
        if (x - around < low[i]) [low[i], grown] = [x - around - spare, true];
        if (x + around > high[i]) [high[i], grown] = [x + around + spare, true];
      });
    for (const strand of layout.strands) for (let node = 0; node <= strand.elements; node++) hold(strand.node(frame.row, node), 0);
    meta.bodies.forEach(({ points }, k) => hold(layout.bodyPoint(frame.row, k, [0, 0, 0], [0, 0, 0]), reachOf(points)));
    if (!grown) return;
    this.layOut();
    if (!this.rig.moved && !this.rig.follow) this.rig.fit();
  }

  recolour(): void {
    for (const view of this.views) view.recolour();
    this.ground.recolour(new Color(css("grid")));
    this.arrow.recolour(new Color(css("gravity")));
    this.touch();
  }

  /** Where the tip of gravity's arrow is on the host, in pixels; null without gravity. */
  arrowOnScreen(): [number, number] | null {
    if (!this.arrow.group.parent) return null;
    return this.onScreen(this.arrowTip.clone());
  }

  /** Names of the first run's bodies and strings, with their places on the host in pixels; those out of sight are left out. */
  names(): { text: string; kind: "body" | "string"; at: [number, number] }[] {
    const { meta, layout } = this.views[0];
    const row = this.frames[0]?.row;
    if (!row) return [];
    const named = (kind: "body" | "string", text: string, [x, y, z]: Vector) => {
      const at = text ? this.onScreen(new Vector3(x, -z, y)) : null;
      return at ? [{ text, kind, at }] : [];
    };
    return [
      ...meta.bodies.flatMap(({ name, center_of_mass }, k) => named("body", name, layout.bodyPoint(row, k, center_of_mass, [0, 0, 0]))),
      ...meta.strings.flatMap(({ name }, k) => named("string", name, middleOf(layout.strands[k], row))),
    ];
  }

  private onScreen(place: Vector3): [number, number] | null {
    const p = place.project(this.rig.camera);
    if (p.z > 1 || Math.abs(p.x) > 1 || Math.abs(p.y) > 1) return null;
    const width = this.host.clientWidth * (this.sideBySide ? 0.5 : 1);
    return [0.5 * (p.x + 1) * width, 0.5 * (1 - p.y) * this.host.clientHeight];
  }

  private track(): void {
    const { meta, layout } = this.views[0];
    const [body, row] = [meta.bodies[this.followed], this.frames[0]?.row];
    if (!body || !row) return;
    const [x, y, z] = layout.bodyPoint(row, this.followed, body.center_of_mass, [0, 0, 0]);
    this.rig.track(new Vector3(x, -z, y));
  }

  /** Draw if anything changed; says whether it did. */
  render(): boolean {
    if (!this.dirty || this.host.clientWidth === 0) return false;
    this.dirty = false;
    this.cameraMoved(this.rig);
    const radius = Math.min(RADIUS * this.rig.distance, 0.02 * sizeOf(this.box));
    this.views.forEach((view, run) => {
      const frame = this.frames[run];
      if (frame) view.draw(frame, radius, this.quantity, this.scale, this.ground.level - 0.004 * sizeOf(this.box));
    });
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (this.sideBySide) {
      const half = Math.floor(width / 2);
      this.renderer.setScissorTest(true);
      this.views.forEach((_, run) => this.renderView([run], run * half, half, height));
      this.renderer.setScissorTest(false);
    } else {
      this.renderView(this.views.keys(), 0, width, height);
    }
    this.drawn++;
    return true;
  }

  /** Leave the page as it was before. */
  dispose(): void {
    for (const view of this.views) view.dispose();
    this.rig.controls.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }

  private renderView(runs: Iterable<number>, left: number, width: number, height: number): void {
    const visible = new Set(runs);
    this.views.forEach((view, run) => {
      view.group.visible = visible.has(run) && this.frames[run] !== null;
      // two drums in one place would flicker; the ghost's is the one to go
      view.strands.forEach(({ drum }, k) => {
        const [own, first] = [view, this.views[0]].map(({ meta }) => meta.strings[k]?.reel);
        if (drum && own) drum.group.visible = run === 0 || this.sideBySide || !first || !samePlace(own, first);
      });
    });
    this.renderer.setViewport(left, 0, width, height);
    this.renderer.setScissor(left, 0, width, height);
    this.renderer.render(this.stage, this.rig.camera);
  }

  private resize(): void {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, MAX_PIXEL_RATIO));
    this.renderer.setSize(width, height);
    this.rig.setAspect((this.sideBySide ? 0.5 * width : width) / height);
    this.touch();
    this.render(); // at once: setting the size clears the canvas
  }

  private layOut(): void {
    const length = 0.08 * sizeOf(this.box);
    const { strings, bodies } = this.views[0].meta;
    const reels = strings.flatMap(({ reel, ends: [start] }) => (reel && (start === null || bodies[start].held) ? reel : []));
    let whole = reels.map(reelBox).reduce(union, this.box);
    // beside the first reel from the left that is no body's, or at the top of the scene
    const [beside] = reels.sort((a, b) => a.position[0] - b.position[0]);
    const [low, high] = beside ? reelBox(beside) : whole;
    const [, y, z] = beside?.position ?? [0, 0.5 * (low[1] + high[1]), low[2]];
    const tip = this.arrow.group.position.set(low[0] - 0.3 * length, y, z);
    this.arrow.group.scale.setScalar(length);
    this.arrowTip.set(tip.x, -(tip.z + 1.12 * length), tip.y);
    if (this.arrow.group.parent) whole = union(whole, [[tip.x - 0.1 * length, tip.y, tip.z], [tip.x, tip.y, tip.z + 1.2 * length]]);
    this.ground.place(whole);
    this.rig.setBox(whole);
    this.touch();
  }

  private sun(): DirectionalLight {
    const light = new DirectionalLight(0xffffff, 1.6);
    light.position.set(2, 4, 3);
    return light;
  }
}

function samePlace(a: ReelMeta, b: ReelMeta): boolean {
  return a.position.every((x, i) => Math.abs(x - b.position[i]) < 0.1 * Math.max(a.drum_radius, b.drum_radius));
}

/** Around a drum behind its guide, as it stands at the start. */
function reelBox({ position: [x, y, z], guide_length, drum_radius }: ReelMeta): Box {
  return [
    [x - guide_length - 1.6 * drum_radius, y - 0.5 * drum_radius, z - 2.1 * drum_radius],
    [x, y + 0.5 * drum_radius, z],
  ];
}

function reachOf(points: Vector[]): number {
  return Math.max(0, ...points.map((p) => Math.hypot(...p)));
}

/** Half-way along a string. */
function middleOf(strand: Strand, row: Row): Vector {
  const [a, b] = [Math.floor, Math.ceil].map((round) => strand.node(row, round(0.5 * strand.elements)));
  return a.map((x, i) => 0.5 * (x + b[i])) as Vector;
}

function union(a: Box, b: Box): Box {
  const pick = (choose: (...x: number[]) => number, k: 0 | 1): Vector => [0, 1, 2].map((i) => choose(a[k][i], b[k][i])) as Vector;
  return [pick(Math.min, 0), pick(Math.max, 1)];
}

/** Around all runs; where a run blew up its box is no box, and the string's length must do. */
function boxOf(metas: Meta[]): Box {
  return metas
    .map((meta): Box => {
      if (meta.bounds.flat().every(Number.isFinite)) return [[...meta.bounds[0]], [...meta.bounds[1]]];
      const l = Math.max(...meta.strings.map(({ length }) => length));
      return [[-l, -l, -l], [l, l, l]];
    })
    .reduce(union);
}
