// One run in the scene: its lines with their reels, and its bodies.

import { Color, Group, Line, type Material, Mesh, type PerspectiveCamera, Sprite } from "three";
import { BodyView } from "./body";
import { Forces } from "./forces";
import { type Scale } from "./colors";
import { sizeOf } from "./ground";
import { type Frame, type Layout, type Quantity, type Row } from "./layout";
import { Markers } from "./markers";
import { css } from "./palette";
import { StrandView } from "./strand";
import { type Meta, type Vector } from "./types";

/** The center of mass of a free body; of one that is held, where the first of its lines is fastened. */
function tracedPoint({ bodies, lines }: Meta, layout: Layout, body: number): (row: Row, out: Vector) => Vector {
  const { held, center_of_mass } = bodies[body];
  const line = lines.findIndex(({ ends }) => ends.includes(body));
  if (!held || line < 0) return (row, out) => layout.bodyPoint(row, body, center_of_mass, out);
  const strand = layout.strands[line];
  return (row) => strand.node(row, lines[line].ends[0] === body ? 0 : strand.elements);
}

export class RunView {
  readonly group = new Group();
  readonly strands: StrandView[];
  readonly markers: Markers;
  readonly forces: Forces;
  private readonly bodies: BodyView[];

  constructor(
    readonly meta: Meta,
    readonly layout: Layout,
    private readonly number: number, // among the runs
    private readonly alone: boolean,
  ) {
    const size = sizeOf(meta.bounds);
    this.strands = meta.lines.map((string, k) => new StrandView(string, layout.strands[k], layout, size));
    for (const strand of this.strands) strand.outlined = meta.gravity > 0;
    const reeled = (body: number) => meta.lines.some(({ ends, reel, end_reel }) => (reel && ends[0] === body) || (end_reel && ends[1] === body));
    this.bodies = meta.bodies.map((body, k) => new BodyView(body, k, layout, size, reeled(k), tracedPoint(meta, layout, k)));
    this.markers = new Markers(meta, layout, size);
    this.forces = new Forces(meta, layout, size);
    this.group.add(this.forces.group, ...this.strands.map((strand) => strand.group), ...this.bodies.flatMap((body) => [body.group, body.trail]), this.markers.group);
  }

  /** Neither rings nor forces, which near by would fill the picture; forces come back. */
  hideMarks(on: boolean): void {
    if (on) this.markers.hide();
    this.forces.shown = !on;
  }

  /** Rings and shadows, for a picture of a height in px. */
  mark({ row }: Frame, camera: PerspectiveCamera, height: number, ground: number): void {
    this.markers.update(row, camera, height, ground);
  }

  draw({ row }: Frame, radius: number, quantity: Quantity, scale: Scale, ground: number): void {
    for (const strand of this.strands) strand.draw(row, radius, quantity, scale, ground);
    for (const body of this.bodies) body.update(row, radius);
    this.forces.update(row);
  }

  drawTrail(rows: Row[]): void {
    for (const body of this.bodies) body.drawTrail(rows);
  }

  /** Solid, or a ghost of itself. */
  setOpacity(opacity: number): void {
    this.group.traverse((thing) => {
      if (!(thing instanceof Mesh || thing instanceof Line || thing instanceof Sprite)) return;
      const material = thing.material as Material;
      const always = material.userData.always ?? (material.userData.always = material.transparent);
      material.opacity = opacity * (material.userData.opacity ?? 1);
      material.transparent = always || opacity < 1;
      material.needsUpdate = true;
    });
  }

  recolor(): void {
    const color = (name: string) => new Color(css(name));
    const own = color(this.alone ? "mark" : `run-${this.number}`);
    for (const body of this.bodies) body.recolor(color("body"), color(this.alone ? "body-edge" : `run-${this.number}`), own);
    this.forces.recolor(color("force"), color("gravity"));
    this.markers.recolor(own, color("shadow"));
    for (const strand of this.strands) strand.recolor(color);
  }

  /** Give the memory on the graphics card back. */
  dispose(): void {
    this.group.traverse((thing) => {
      if (!(thing instanceof Mesh || thing instanceof Line)) return;
      thing.geometry.dispose();
      (thing.material as Material).dispose();
    });
  }
}
