// The picture: runs, ground and arrow before one camera, in one view or in one for each run. Drawn only when something changed.

import { Color, Group, HemisphereLight, Scene as Stage, Vector3, WebGLRenderer } from "three";
import { CameraRig } from "./camera";
import { type Scale } from "./colors";
import { type Covered, OPEN } from "./framing";
import { type Box, GravityArrow, Ground, sizeOf, sun } from "./ground";
import { type Corner, Inset } from "./inset";
import { type Frame, type Layout, type Quantity, type Row } from "./layout";
import { Leash } from "./leash";
import { towardCenter } from "./orbit";
import { boxOf, cellOf, makeRoom, samePlace, withArrow } from "./places";
import { css } from "./palette";
import { RunView } from "./runview";
import { Sight } from "./sight";
import { type Meta, type Range, type Vector } from "./types";

const GHOST = 0.38;
const ALONG = 0.9; // cosine between view and arrow from which it is not drawn
const RADIUS = 0.0023; // of the string, over the camera's distance: thick enough to carry a color, however near
const MAX_PIXEL_RATIO = 2;
const SPARE = 0.2; // of the box, added where something leaves it, so that the camera does not step back at every picture

export interface SceneEvents {
  moved(rig: CameraRig): void;
  covered(): Covered; // by what lies over the picture
}

export class Scene {
  readonly rig: CameraRig;
  readonly sight: Sight; // of the first run
  readonly ground: Ground;
  readonly renderer: WebGLRenderer;
  sideBySide = false;
  closeUp = true; // whether there may be an inset
  drawn = 0;
  inset: Corner | null = null;
  private readonly stage = new Stage();
  private readonly world = new Group();
  private readonly arrow = new GravityArrow();
  private readonly views: RunView[];
  private readonly frames: (Frame | null)[];
  private readonly nearView = new Inset();
  private readonly leash = new Leash();
  private followed = 0; // number of the body
  private box: Box;
  private dirty = true;
  private covered = ""; // what the picture is framed for
  private size: Range | null = null; // of a picture that is not the host's, in px
  private down: Vector = [0, 0, 1];

  /** Throws where the browser has no WebGL. */
  constructor(
    private readonly host: HTMLElement,
    metas: Meta[],
    layouts: Layout[],
    public quantity: Quantity,
    public scale: Scale,
    private readonly events: SceneEvents,
  ) {
    this.renderer = new WebGLRenderer({ antialias: window.devicePixelRatio < MAX_PIXEL_RATIO, alpha: true, powerPreference: "low-power" });
    this.renderer.setClearColor(0x000000, 0);
    const canvas = this.renderer.domElement;
    canvas.id = "scene-picture";
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "Scene in three dimensions. Arrow keys turn it, plus and minus go nearer and farther.");
    host.prepend(canvas);

    // Physical axes have z down; the renderer has y up. A quarter turn about x leads from one to the other.
    this.world.rotation.x = Math.PI / 2;
    this.ground = new Ground(metas.find(({ surface }) => surface !== null)?.surface ?? null);
    this.stage.add(this.world, new HemisphereLight(0xffffff, 0x9aa4b2, 1.9), sun(), this.leash.line);
    this.views = metas.map((meta, run) => new RunView(meta, layouts[run], run, metas.length === 1));
    this.frames = metas.map(() => null);
    this.world.add(this.ground.group, ...this.views.map((view) => view.group));
    const falling = metas[0].gravity > 0;
    if (falling || metas[0].orbit) this.world.add(this.arrow.group);
    if (!falling) this.ground.group.visible = metas.some(({ surface }) => surface !== null); // nothing lies below where nothing falls

    this.box = boxOf(metas);
    this.rig = new CameraRig(canvas, this.box, () => this.touch());
    this.sight = new Sight(this.views[0], this.rig.camera, () => this.frames[0]?.row ?? null, () => this.cell());
    this.layOut();
    this.setSideBySide(false);
    this.recolor();
    new ResizeObserver(() => this.resize()).observe(host);
    canvas.addEventListener("webglcontextrestored", () => this.touch());
    this.resize();
    this.rig.view(metas[0].orbit ? "top" : "iso"); // an orbit lies in the plane of x and y
  }

  touch(): void {
    this.dirty = true;
  }

  show(run: number, frame: Frame): void {
    if (this.frames[run]?.row === frame.row) return;
    const { layout, meta } = this.views[run];
    this.frames[run] = layout.drawable(frame.row) ? frame : null;
    if (run === 0) this.track();
    if (run === 0 && meta.orbit) this.arrow.point((this.down = towardCenter(meta.orbit, frame.row[0])));
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
      this.rig.approach(4 * (this.sight.reach(body) || 0.02 * sizeOf(this.box)));
      this.rig.follow = true;
    }
    this.touch();
  }

  setSideBySide(on: boolean): void {
    this.sideBySide = on;
    for (const view of this.views.slice(1)) view.setOpacity(on ? 1 : GHOST);
    this.resize();
  }

  /** Make room for things that left the box, as may happen when a run is not known beforehand. */
  include(run: number): void {
    const frame = this.frames[run];
    if (!frame) return;
    const { layout, meta } = this.views[run];
    const grown = makeRoom(this.box, layout, meta, frame.row, SPARE * sizeOf(this.box));
    if (!grown) return;
    this.layOut();
    if (!this.rig.moved && !this.rig.follow) this.rig.fit();
  }

  recolor(): void {
    for (const view of this.views) view.recolor();
    this.ground.recolor(new Color(css("grid")), new Color(css("water")));
    this.arrow.recolor(new Color(css("gravity")));
    this.leash.recolor(css("accent"));
    this.touch();
  }

  setForces(on: boolean): void {
    for (const view of this.views) Object.assign(view.forces, { on, shown: true });
    this.touch();
  }

  /** Beyond the tip of the arrow to where things fall, on the host in pixels; null without one. */
  arrowOnScreen(): Range | null {
    if (!this.arrow.group.parent || !this.arrow.group.visible) return null;
    const [x, y, z] = this.down.map((part, i) => this.arrow.group.position.getComponent(i) + 1.12 * this.arrow.group.scale.x * part);
    return this.sight.onScreen(new Vector3(x, -z, y));
  }

  /** A line from a body to where it is pulled, or none. */
  setLeash(body: number | null, to: Vector = [0, 0, 0]): void {
    this.leash.set(body, to);
    this.touch();
  }

  private track(): void {
    const place = this.sight.center(this.followed);
    if (place) this.rig.track(place);
  }

  // -- drawing ----------------------------------------------------------------------------------------

  /** Draw pictures of another size than the host's from now on (px), or of the host's. */
  setPictureSize(size: Range | null): void {
    this.size = size;
    this.renderer.domElement.classList.toggle("letterbox", size !== null);
    this.resize();
  }

  /** The picture as it is now, so many times as fine as the screen. */
  async picture(times: number): Promise<ImageBitmap> {
    const ratio = this.renderer.getPixelRatio();
    const drawAt = (finer: number) => {
      this.renderer.setPixelRatio(finer);
      this.touch();
      this.render();
    };
    drawAt(times * ratio);
    const image = await createImageBitmap(this.renderer.domElement);
    drawAt(ratio);
    return image;
  }

  /** Width and height of what is drawn (px). */
  private get extent(): Range {
    return this.size ?? [this.host.clientWidth, this.host.clientHeight];
  }

  /** Left, top, width and height of a run's view (px). */
  private cell(run = 0): [number, number, number, number] {
    const [width, height] = this.extent;
    return this.sideBySide ? cellOf(run, this.views.length, width, height) : [0, 0, width, height];
  }

  /** Draw if anything changed; says whether it did. */
  render(): boolean {
    const [width, height] = this.extent;
    if (!this.dirty || width === 0) return false;
    this.dirty = false;
    this.rig.setDepths();
    this.rig.camera.updateMatrixWorld();
    const [x, y, z] = this.down;
    this.arrow.group.visible = Math.abs(this.rig.camera.getWorldDirection(new Vector3()).dot(new Vector3(x, -z, y))) < ALONG; // else seen from its end
    this.draw(Math.min(RADIUS * this.rig.distance, 0.02 * sizeOf(this.box)));
    this.inset = this.wantsInset ? this.nearView.corner(width, height, this.events.covered().top) : null;
    this.events.moved(this.rig);
    this.keepClear();
    this.leash.update((body) => this.sight.center(body));
    if (this.sideBySide) {
      this.renderer.setScissorTest(true);
      this.views.forEach((_, run) => this.renderView([run], run));
      this.renderer.setScissorTest(false);
    } else {
      this.renderView(this.views.keys(), 0);
    }
    if (this.inset) this.drawInset(this.inset, height);
    this.drawn++;
    return true;
  }

  private draw(radius: number): void {
    const ground = this.ground.level - 0.004 * sizeOf(this.box);
    this.views.forEach((view, run) => {
      const frame = this.frames[run];
      if (!frame) return;
      view.draw(frame, radius, this.quantity, this.scale, ground);
      view.mark(frame, this.rig.camera, this.cell()[3], ground);
    });
  }

  private get wantsInset(): boolean {
    const [view] = this.views;
    return this.closeUp && !this.sideBySide && !this.rig.follow && this.frames[0] !== null && view.markers.hidden && this.extent[0] > 300;
  }

  private drawInset(corner: Corner, height: number): void {
    const body = this.views[0].meta.bodies.findIndex(({ held }) => !held);
    const place = this.sight.center(body);
    const reach = this.sight.reach(body);
    if (!place || reach === 0) return;
    this.draw(RADIUS * this.nearView.distance(reach));
    for (const view of this.views) view.hideMarks(true);
    this.nearView.render(this.renderer, this.stage, place, reach, this.rig.camera, height, corner, new Color(css("scene-bottom")));
    for (const view of this.views) view.hideMarks(false);
  }

  dispose(): void {
    for (const view of this.views) view.dispose();
    this.rig.controls.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }

  /** Drums and wheels of a run as they are drawn, line by line. */
  wheels(run: number): { center: number[]; turn: number }[] {
    return this.views[run].strands.flatMap(({ drums }) => drums.flatMap((drum) => (drum ? [drum.pose] : [])));
  }

  private renderView(runs: Iterable<number>, cell: number): void {
    const visible = new Set(runs);
    const [left, top, width, height] = this.cell(cell);
    this.views.forEach((view, run) => {
      view.group.visible = visible.has(run) && this.frames[run] !== null;
      // two drums in one place would flicker; the ghost's is the one to go
      view.strands.forEach(({ drums }, k) => {
        drums.forEach((drum, end) => {
          const [own, first] = [view, this.views[0]].map(({ meta }) => [meta.lines[k]?.reel, meta.lines[k]?.end_reel][end]);
          if (drum && own) drum.group.visible = run === 0 || this.sideBySide || !first || !samePlace(own, first);
        });
      });
    });
    const bottom = this.extent[1] - top - height;
    this.renderer.setViewport(left, bottom, width, height);
    this.renderer.setScissor(left, bottom, width, height);
    this.renderer.render(this.stage, this.rig.camera);
  }

  /** Frame anew where buttons or the legend cover another part of the picture than before. */
  private keepClear(): void {
    const covered = this.size || this.sideBySide ? OPEN : this.events.covered();
    if (JSON.stringify(covered) === this.covered) return;
    this.covered = JSON.stringify(covered);
    this.rig.setSize(this.cell()[2], this.cell()[3], covered);
    if (!this.rig.moved && !this.rig.follow) this.rig.fit();
    this.rig.camera.updateMatrixWorld();
    this.touch(); // names are placed before this, and a picture that is shifted alone moves no camera
  }

  private resize(): void {
    const [width, height] = this.extent;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(this.size ? 1 : Math.min(window.devicePixelRatio, MAX_PIXEL_RATIO));
    this.renderer.setSize(width, height, !this.size);
    this.covered = "";
    this.keepClear();
    this.touch();
    this.render(); // at once: setting the size clears the canvas
  }

  private layOut(): void {
    const length = 0.08 * sizeOf(this.box);
    const { whole, start } = withArrow(this.views[0].meta, this.box, length, this.arrow.group.parent !== null);
    this.arrow.group.position.set(...start);
    this.arrow.group.scale.setScalar(length);
    this.ground.place(whole);
    this.rig.setBox(whole);
    this.touch();
  }
}
