// One string in the scene: its tube, its reel, marks where it is fastened in space, and its outline on the ground.

import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, Line, LineBasicMaterial, Mesh, MeshLambertMaterial, OctahedronGeometry } from "three";
import { type Scale } from "./colors";
import { Drum } from "./drum";
import { type Layout, type Quantity, type Row, type Strand } from "./layout";
import { Tube } from "./tube";
import { type LineMeta } from "./types";

const ANCHOR = 0.007; // size of a mark, over the scene's

export class StrandView {
  readonly group = new Group();
  readonly drum: Drum | null;
  private readonly tube: Tube;
  private readonly outlineMaterial = new LineBasicMaterial({ transparent: true, depthWrite: false, userData: { opacity: 0.4 } });
  private readonly anchorMaterial = new MeshLambertMaterial({ flatShading: true });
  private readonly outline = new BufferGeometry();
  private readonly outlinePoints: Float32Array;
  private readonly shadow: Line;
  private readonly anchors: { mesh: Mesh; node: number }[];
  private reeledAtStart: number | null = null;

  constructor(
    private readonly meta: LineMeta,
    private readonly strand: Strand,
    private readonly layout: Layout,
    sceneSize: number,
  ) {
    this.tube = new Tube(strand);
    this.drum = meta.reel && new Drum(meta.reel);
    this.outlinePoints = new Float32Array(3 * (strand.elements + 1));
    this.outline.setAttribute("position", new BufferAttribute(this.outlinePoints, 3).setUsage(DynamicDrawUsage));
    this.shadow = new Line(this.outline, this.outlineMaterial);
    this.shadow.frustumCulled = false;
    this.group.add(this.tube.mesh, this.shadow);
    if (this.drum) this.group.add(this.drum.group);
    this.anchors = meta.ends.flatMap((end, k) => {
      if (end !== null || (k === 0 && meta.reel)) return []; // the drum is mark enough
      const mesh = new Mesh(new OctahedronGeometry(ANCHOR * sceneSize), this.anchorMaterial);
      this.group.add(mesh);
      return [{ mesh, node: k * strand.elements }];
    });
  }

  /** Whether its outline lies on the ground. */
  set outlined(on: boolean) {
    this.shadow.visible = on;
  }

  draw(row: Row, radius: number, quantity: Quantity, scale: Scale, ground: number): void {
    const { strand, layout, meta } = this;
    const reeled = strand.reeledLength(row);
    this.reeledAtStart ??= reeled;
    this.tube.update(row, radius, quantity, scale);
    this.drum?.update(strand.node(row, 0), meta.ends[0] === null ? null : layout.pose(row, meta.ends[0]), reeled, this.reeledAtStart);
    for (const { mesh, node } of this.anchors) mesh.position.set(...strand.node(row, node));
    for (let node = 0; node <= strand.elements; node++) {
      const [x, y] = strand.node(row, node);
      this.outlinePoints.set([x, y, ground], 3 * node);
    }
    this.outline.attributes.position.needsUpdate = true;
  }

  recolor(color: (name: string) => Color): void {
    this.drum?.recolor(color("metal"), color("metal-dark"), color("metal-line"), color("mark"));
    this.anchorMaterial.color.copy(color("metal"));
    this.outlineMaterial.color.copy(color("text-dim"));
  }
}
