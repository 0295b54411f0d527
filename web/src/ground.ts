// What stands still: the grid under the scene, the surface of the water, the sun, and the arrow to where things fall.

import { BufferGeometry, Color, ConeGeometry, CylinderGeometry, DirectionalLight, Float32BufferAttribute, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, DoubleSide, PlaneGeometry, Vector3 } from "three";
import { roundUp } from "./format";
import { type Vector } from "./types";

export type Box = [Vector, Vector];

export function sizeOf([low, high]: Box): number {
  return Math.max(Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]), 1e-3);
}

const DOWN = new Vector3(0, 0, 1);
const CELLS = 16; // about, over the longest side
const LEAST_WIDTH = 0.3; // half of it, over the longest side

export class Ground {
  readonly group = new Group();
  cell = 1;
  level = 0;
  private readonly lines = new LineBasicMaterial({ transparent: true, opacity: 0.55 });
  private grid = new LineSegments(new BufferGeometry(), this.lines);
  private readonly water = new MeshBasicMaterial({ transparent: true, opacity: 0.22, side: DoubleSide, depthWrite: false });
  private readonly sheet = new Mesh(new PlaneGeometry(1, 1), this.water);

  /** `surface`: depth of the water's, or null. */
  constructor(private readonly surface: number | null) {
    this.group.add(this.grid);
    if (surface !== null) this.group.add(this.sheet);
  }

  /** Lay the grid under a box; lines are at whole multiples of the cell, in meters. */
  place([low, high]: Box): void {
    const widths = [high[0] - low[0], high[1] - low[1], high[2] - low[2]];
    this.cell = roundUp(Math.max(...widths, 1e-3) / CELLS);
    this.level = high[2] + 0.04 * Math.max(widths[2], this.cell);
    const ends = [0, 1].map((axis) => {
      // a string that hangs straight down still stands on more than a strip
      const middle = 0.5 * (low[axis] + high[axis]);
      const half = Math.max(0.5 * widths[axis], LEAST_WIDTH * Math.max(...widths)) + this.cell;
      return [Math.floor((middle - half) / this.cell), Math.ceil((middle + half) / this.cell)];
    });
    const [[x0, x1], [y0, y1]] = ends.map(([a, b]) => [a * this.cell, b * this.cell]);
    const points: number[] = [];
    for (let i = ends[0][0]; i <= ends[0][1]; i++) points.push(i * this.cell, y0, this.level, i * this.cell, y1, this.level);
    for (let j = ends[1][0]; j <= ends[1][1]; j++) points.push(x0, j * this.cell, this.level, x1, j * this.cell, this.level);
    this.sheet.scale.set(x1 - x0, y1 - y0, 1);
    this.sheet.position.set(0.5 * (x0 + x1), 0.5 * (y0 + y1), this.surface ?? 0);
    this.grid.geometry.dispose();
    this.grid.geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3));
  }

  recolor(line: Color, water: Color): void {
    this.lines.color.copy(line);
    this.water.color.copy(water);
  }
}

/** An arrow of unit length along +z, which is down, until it is pointed elsewhere. */
export class GravityArrow {
  readonly group = new Group();
  private readonly material = new MeshBasicMaterial();

  constructor() {
    const shaft = new Mesh(new CylinderGeometry(0.025, 0.025, 0.75, 8), this.material);
    shaft.rotation.x = Math.PI / 2;
    shaft.position.z = 0.375;
    const head = new Mesh(new ConeGeometry(0.09, 0.25, 14), this.material);
    head.rotation.x = Math.PI / 2;
    head.position.z = 0.875;
    this.group.add(shaft, head);
  }

  point(direction: Vector): void {
    this.group.quaternion.setFromUnitVectors(DOWN, new Vector3(...direction));
  }

  recolor(color: Color): void {
    this.material.color.copy(color);
  }
}

export function sun(): DirectionalLight {
  const light = new DirectionalLight(0xffffff, 1.6);
  light.position.set(2, 4, 3);
  return light;
}
