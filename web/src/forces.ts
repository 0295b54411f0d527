// Forces as arrows: the pull of lines at their ends, on what holds them, and the weights of bodies.

import { Color, ConeGeometry, CylinderGeometry, Group, Mesh, MeshBasicMaterial, Quaternion, Vector3 } from "three";
import { type Layout, type Row, type Strand } from "./layout";
import { type Meta, type Vector } from "./types";

const LONGEST = 0.14; // over the scene's size, of the largest force so far
const LEAST = 0.01; // of the largest: smaller ones are not drawn
const THICK = 0.035; // over the longest arrow
const UP = new Vector3(0, 1, 0);

/** An arrow of a length along a direction. */
class Arrow {
  readonly group = new Group();
  private readonly shaft: Mesh;
  private readonly head: Mesh;
  private readonly turn = new Quaternion();
  private readonly along = new Vector3();

  constructor(material: MeshBasicMaterial) {
    this.shaft = new Mesh(new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), material);
    this.head = new Mesh(new ConeGeometry(1, 1, 14).translate(0, 0.5, 0), material);
    this.group.add(this.shaft, this.head);
  }

  set(from: Vector, force: Vector, length: number, thick: number): void {
    this.group.visible = length > 0;
    if (length <= 0) return;
    this.along.set(...force).normalize();
    this.group.position.set(...from);
    this.group.quaternion.copy(this.turn.setFromUnitVectors(UP, this.along));
    const head = Math.min(4.5 * thick, 0.5 * length);
    this.shaft.scale.set(thick, length - head, thick);
    this.head.scale.set(2.6 * thick, head, 2.6 * thick);
    this.head.position.y = length - head;
  }
}

export class Forces {
  readonly group = new Group();
  private readonly pull = new MeshBasicMaterial();
  private readonly weight = new MeshBasicMaterial();
  private readonly arrows: Arrow[];
  private largest = 0;
  on = false;

  constructor(
    private readonly meta: Meta,
    private readonly layout: Layout,
    private readonly size: number,
  ) {
    const arrow = (material: MeshBasicMaterial) => new Arrow(material);
    this.arrows = [...meta.lines.flatMap(() => [arrow(this.pull), arrow(this.pull)]), ...meta.bodies.map(() => arrow(this.weight))];
    this.group.add(...this.arrows.map(({ group }) => group));
    this.shown = true;
  }

  /** Drawn where they are wanted. */
  set shown(shown: boolean) {
    this.group.visible = shown && this.on;
  }

  update(row: Row): void {
    if (!this.on) return;
    const found = [...this.layout.strands.flatMap((strand) => [pullAt(strand, row, 0), pullAt(strand, row, strand.elements)]), ...this.meta.bodies.map((_, k) => this.weightOf(row, k))];
    this.largest = Math.max(this.largest, ...found.map(({ force }) => Math.hypot(...force)));
    const longest = LONGEST * this.size;
    found.forEach(({ from, force }, k) => {
      const part = Math.hypot(...force) / (this.largest || 1);
      this.arrows[k].set(from, force, part < LEAST ? 0 : part * longest, THICK * longest);
    });
  }

  recolor(pull: Color, weight: Color): void {
    this.pull.color.copy(pull);
    this.weight.color.copy(weight);
  }

  private weightOf(row: Row, k: number): { from: Vector; force: Vector } {
    const { center_of_mass, mass } = this.meta.bodies[k];
    return { from: this.layout.bodyPoint(row, k, center_of_mass, [0, 0, 0]), force: [0, 0, this.meta.gravity * mass] };
  }
}

/** What a line does to what holds its end at a node: it pulls along itself, away from there. */
function pullAt(strand: Strand, row: Row, node: number): { from: Vector; force: Vector } {
  const [here, next] = node === 0 ? [0, 1] : [node, node - 1];
  const [from, to] = [strand.node(row, here), strand.node(row, next)];
  const chord = to.map((x, i) => x - from[i]) as Vector;
  const part = strand.value(row, "tension", Math.min(here, next)) / (Math.hypot(...chord) || 1);
  return { from, force: chord.map((x) => x * part) as Vector };
}
