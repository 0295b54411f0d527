// One run in the scene: string, body, reel, and the string's outline on the ground.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Color, Group, Line, LineBasicMaterial, type Material, Mesh } from "three";
import { BodyView } from "./body";
import { type Scale } from "./colours";
import { Drum } from "./drum";
import { type Frame, type Layout, type Quantity, type Row } from "./layout";
import { css } from "./palette";
import { Tube } from "./tube";
import { type Meta } from "./types";

export class RunView {
  readonly group = new Group();
  readonly drum: Drum;
  private readonly tube: Tube;
  private readonly body: BodyView;
  private readonly outline: Line;
  private readonly outlinePoints: Float32Array;
  private reeledAtStart: number | null = null;

  constructor(
    readonly meta: Meta,
    readonly layout: Layout,
  ) {
    this.tube = new Tube(layout);
    this.body = new BodyView(meta, layout);
    this.drum = new Drum(meta.reel);
    this.outlinePoints = new Float32Array(3 * (layout.elements + 1));
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(this.outlinePoints, 3).setUsage(DynamicDrawUsage));
    this.outline = new Line(geometry, new LineBasicMaterial({ transparent: true, depthWrite: false }));
    this.outline.frustumCulled = false;
    this.group.add(this.tube.mesh, this.body.group, this.body.trail, this.drum.group, this.outline);
  }

  draw(frame: Frame, radius: number, quantity: Quantity, scale: Scale, ground: number): void {
    this.reeledAtStart ??= this.layout.reeledLength(frame.row);
    this.tube.update(frame.row, radius, quantity, scale);
    this.body.update(frame.row);
    this.drum.update(this.layout.reeledLength(frame.row), this.reeledAtStart);
    for (let node = 0; node <= this.layout.elements; node++) {
      const at = this.layout.nodes + 3 * node;
      this.outlinePoints.set([frame.row[at], frame.row[at + 1], ground], 3 * node);
    }
    this.outline.geometry.attributes.position.needsUpdate = true;
  }

  drawTrail(rows: Row[]): void {
    this.body.drawTrail(rows);
  }

  /** Solid, or a ghost of itself. */
  setOpacity(opacity: number): void {
    this.group.traverse((thing) => {
      if (!(thing instanceof Mesh || thing instanceof Line)) return;
      const material = thing.material as Material;
      const always = material.userData.always ?? (material.userData.always = material.transparent);
      material.opacity = thing === this.outline ? 0.4 * opacity : opacity;
      material.transparent = always || opacity < 1;
      material.needsUpdate = true;
    });
  }

  recolour(): void {
    const colour = (name: string) => new Color(css(name));
    this.body.recolour(colour("body"), colour("body-edge"), colour("mark"));
    this.drum.recolour(colour("metal"), colour("metal-dark"), colour("metal-line"), colour("mark"));
    (this.outline.material as LineBasicMaterial).color.copy(colour("text-dim"));
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
