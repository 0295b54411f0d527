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
  readonly drums: [Drum | null, Drum | null]; // at its start and its end
  private readonly tube: Tube;
  private readonly outlineMaterial = new LineBasicMaterial({ transparent: true, depthWrite: false, userData: { opacity: 0.4 } });
  private readonly anchorMaterial = new MeshLambertMaterial({ flatShading: true });
  private readonly outline = new BufferGeometry();
  private readonly outlinePoints: Float32Array;
  private readonly shadow: Line;
  private readonly anchors: { mesh: Mesh; node: number }[];
  private turnsAtStart: number[] | null = null;

  constructor(
    private readonly meta: LineMeta,
    private readonly strand: Strand,
    private readonly layout: Layout,
    sceneSize: number,
  ) {
    this.tube = new Tube(strand);
    this.drums = [meta.reel && new Drum(meta.reel), meta.end_reel && new Drum(meta.end_reel)];
    this.outlinePoints = new Float32Array(3 * (strand.elements + 1));
    this.outline.setAttribute("position", new BufferAttribute(this.outlinePoints, 3).setUsage(DynamicDrawUsage));
    this.shadow = new Line(this.outline, this.outlineMaterial);
    this.shadow.frustumCulled = false;
    this.group.add(this.tube.mesh, this.shadow);
    for (const drum of this.drums) if (drum) this.group.add(drum.group);
    this.anchors = meta.ends.flatMap((end, k) => {
      if (end !== null || this.drums[k]) return []; // the drum is mark enough
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
    const turns = [0, 1].map((end) => strand.turn(row, end));
    this.turnsAtStart ??= turns;
    this.tube.update(row, radius, quantity, scale);
    for (const k of [0, 1]) {
      const body = meta.ends[k];
      this.drums[k]?.update(strand.node(row, k * strand.elements), body === null ? null : layout.pose(row, body), turns[k] - this.turnsAtStart[k]);
    }
    for (const { mesh, node } of this.anchors) mesh.position.set(...strand.node(row, node));
    for (let node = 0; node <= strand.elements; node++) {
      const [x, y] = strand.node(row, node);
      this.outlinePoints.set([x, y, ground], 3 * node);
    }
    this.outline.attributes.position.needsUpdate = true;
  }

  recolor(color: (name: string) => Color): void {
    for (const drum of this.drums) drum?.recolor(color("metal"), color("metal-dark"), color("metal-line"), color("mark"));
    this.anchorMaterial.color.copy(color("metal"));
    this.outlineMaterial.color.copy(color("text-dim"));
  }
}
