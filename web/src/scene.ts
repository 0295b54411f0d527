// The picture: runs, ground and arrow before one camera, in one view or two side by side. Drawn only when something changed.

import { Color, DirectionalLight, Group, HemisphereLight, Scene as Stage, Vector3, WebGLRenderer } from "three";
import { CameraRig } from "./camera";
import { type Scale } from "./colours";
import { type Box, GravityArrow, Ground } from "./ground";
import { type Frame, type Layout, type Quantity, type Row } from "./layout";
import { css } from "./palette";
import { RunView } from "./runview";
import { type Meta, type Vector } from "./types";

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
    const { layout, meta } = this.views[run];
    if (this.frames[run]?.row === frame.row) return;
    const drawable = layout.drawable(frame.row);
    this.frames[run] = drawable ? frame : null;
    if (run === 0 && drawable) {
      const [x, y, z] = layout.bodyPoint(frame.row, meta.body.center_of_mass, [0, 0, 0]);
      this.rig.track(new Vector3(x, -z, y));
    }
    this.touch();
  }

  trail(run: number, rows: Row[]): void {
    this.views[run].drawTrail(rows);
  }

  setFollow(on: boolean): void {
    this.rig.follow = on;
    const reach = Math.max(...this.views[0].meta.body.points.map((p) => Math.hypot(...p)), 0.02 * sizeOf(this.box));
    if (on) this.rig.approach(4 * reach);
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
    const reach = Math.max(...meta.body.points.map((p) => Math.hypot(...p)));
    let grown = false;
    for (let node = 0; node <= layout.elements; node++)
      for (let i = 0; i < 3; i++) {
        const x = frame.row[layout.nodes + 3 * node + i];
        const around = node === layout.elements ? reach : 0;
        if (x - around < low[i]) [low[i], grown] = [x - around - spare, true];
        if (x + around > high[i]) [high[i], grown] = [x + around + spare, true];
      }
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
    const p = this.arrowTip.clone().project(this.rig.camera);
    const width = this.host.clientWidth * (this.sideBySide ? 0.5 : 1);
    return [0.5 * (p.x + 1) * width, 0.5 * (1 - p.y) * this.host.clientHeight];
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
      view.drum.group.visible = run === 0 || this.sideBySide || !samePlace(view.meta.reel, this.views[0].meta.reel);
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
    const { meta } = this.views[0];
    const length = 0.08 * sizeOf(this.box);
    const { guide_position: guide, guide_length, drum_radius } = meta.reel;
    this.arrow.group.scale.setScalar(length);
    this.arrow.group.position.set(guide[0] - guide_length - 1.6 * drum_radius - 0.3 * length, guide[1], guide[2]);
    const tip = this.arrow.group.position;
    this.arrowTip.set(tip.x, -(tip.z + 1.12 * length), tip.y);
    const whole = union(this.box, [
      [tip.x - 0.1 * length, guide[1] - 0.5 * drum_radius, guide[2] - 2.1 * drum_radius],
      [guide[0], guide[1] + 0.5 * drum_radius, guide[2] + 1.2 * length],
    ]);
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

function samePlace(a: Meta["reel"], b: Meta["reel"]): boolean {
  return a.guide_position.every((x, i) => Math.abs(x - b.guide_position[i]) < 0.1 * Math.max(a.drum_radius, b.drum_radius));
}

function sizeOf([low, high]: Box): number {
  return Math.max(Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]), 1e-3);
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
      const l = meta.string.length;
      return [[-l, -l, -l], [l, l, l]];
    })
    .reduce(union);
}
