// The reel: a drum that turns with the string, and the straight guide in front of it.

import {
  BufferGeometry, Color, CylinderGeometry, Float32BufferAttribute, Group, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshLambertMaterial,
  Vector3,
} from "three";
import { turned } from "./body";
import { type Row } from "./layout";
import { type ReelMeta, type Vector } from "./types";

const FLANGE = 1.14; // over the drum's radius
const WIDTH = 0.7; // of the drum, over its radius
const LONG = 4; // drum radii: longer guides are no thicker
const SPOKES = 8;
const TURNS = 9; // of string to be seen on the drum
const SIDES = 40;

export class Drum {
  readonly group = new Group();
  private readonly wheel = new Group();
  private readonly stand = new Matrix4();
  private readonly metal = new MeshLambertMaterial();
  private readonly dark = new MeshLambertMaterial();
  private readonly lines = new LineBasicMaterial();
  private readonly mark = new MeshLambertMaterial();

  constructor(private readonly reel: ReelMeta) {
    const radius = reel.drum_radius;
    if (radius > 0) this.buildWheel(radius);
    if (reel.guide_length > 0) this.buildGuide();
    // built with the guide along x and the string below the drum, where retrieval is a turn about -y
    const [x, y] = [new Vector3(...reel.guide), new Vector3(...reel.axis).negate()];
    this.stand.makeBasis(x, y, new Vector3().crossVectors(x, y));
    this.group.matrixAutoUpdate = false;
  }

  /** The guide's entrance at a place, turned with a body that carries it; `turn` is a length of string. */
  update(place: Vector, pose: Row | null, turn: number): void {
    this.group.matrix.copy(pose ? new Matrix4().multiplyMatrices(turned(pose), this.stand) : this.stand).setPosition(...place);
    this.group.matrixWorldNeedsUpdate = true;
    if (this.reel.drum_radius > 0) this.wheel.rotation.y = -turn / this.reel.drum_radius;
  }

  /** Where its axis is, and by how much it has turned in retrieval (rad). */
  get pose(): { center: number[]; turn: number } {
    return { center: this.wheel.position.clone().applyMatrix4(this.group.matrix).toArray(), turn: -this.wheel.rotation.y };
  }

  recolor(metal: Color, dark: Color, line: Color, mark: Color): void {
    this.metal.color.copy(metal);
    this.dark.color.copy(dark);
    this.lines.color.copy(line);
    this.mark.color.copy(mark);
  }

  private buildWheel(radius: number): void {
    const width = WIDTH * radius;
    const barrel = new Mesh(new CylinderGeometry(radius, radius, width, SIDES, 1, true), this.metal);
    this.wheel.add(barrel, new LineSegments(spooledString(1.004 * radius, width), this.lines));
    for (const end of [-1, 1]) {
      const flange = new Mesh(new CylinderGeometry(FLANGE * radius, FLANGE * radius, 0.06 * radius, SIDES), this.dark);
      flange.position.y = 0.5 * end * width;
      this.wheel.add(flange);
      for (let k = 0; k < SPOKES; k++) this.wheel.add(this.spoke(radius, end, k));
    }
    // The string leaves at the drum's lowest point, level with the guide; down is +z. On a point mass a wheel is where the string ends.
    this.wheel.position.set(-this.reel.guide_length, 0, -this.reel.drop);
    this.group.add(this.wheel);
  }

  /** A bar on the flange's outside; the first one is in another color, so that turns can be counted. */
  private spoke(radius: number, end: number, k: number): Mesh {
    const bar = new Mesh(new CylinderGeometry(0.035 * radius, 0.035 * radius, 0.85 * radius, 5), k === 0 ? this.mark : this.metal);
    const angle = (2 * Math.PI * k) / SPOKES;
    bar.position.set(0.55 * radius * Math.cos(angle), end * (0.5 * WIDTH + 0.04) * radius, -0.55 * radius * Math.sin(angle));
    // bars are made along y: lay them along x, then turn them about the drum's axis
    bar.rotation.set(0, angle, Math.PI / 2, "YXZ");
    if (k === 0) bar.scale.set(1.8, 1, 1.8);
    return bar;
  }

  private buildGuide(): void {
    const length = this.reel.guide_length;
    const radius = 0.05 * Math.max(Math.min(length, LONG * this.reel.drum_radius), this.reel.drum_radius);
    const tube = new Mesh(new CylinderGeometry(radius, radius, length, 12, 1, true), this.dark);
    tube.rotation.z = Math.PI / 2;
    tube.position.x = -0.5 * length;
    const lip = new Mesh(new CylinderGeometry(1.7 * radius, 1.7 * radius, 0.7 * radius, 16), this.mark);
    lip.rotation.z = Math.PI / 2;
    lip.position.x = -0.35 * radius;
    this.group.add(tube, lip);
  }
}

function spooledString(radius: number, width: number): BufferGeometry {
  const points: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const y = width * ((turn + 0.5) / TURNS - 0.5);
    for (let s = 0; s < SIDES; s++)
      for (const a of [(2 * Math.PI * s) / SIDES, (2 * Math.PI * (s + 1)) / SIDES]) points.push(radius * Math.cos(a), y, radius * Math.sin(a));
  }
  return new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3));
}
