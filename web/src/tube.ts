// The string: a thin tube along the nodes, one color for each element.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Mesh, MeshBasicMaterial } from "three";
import { type Scale } from "./colors";
import { type Quantity, type Row, type Strand } from "./layout";

const SIDES = 6;
const SHADE = 0.22; // how much darker the underside is; colors must stay those of the legend, so there is no lighting

export class Tube {
  readonly mesh: Mesh;
  private readonly positions: Float32Array;
  private readonly colors: Float32Array;
  private readonly geometry = new BufferGeometry();

  constructor(private readonly strand: Strand) {
    // Two rings for each element, since neighbors share points but not colors.
    const rings = 2 * strand.elements;
    this.positions = new Float32Array(3 * SIDES * rings);
    this.colors = new Float32Array(3 * SIDES * rings);
    const index: number[] = [];
    for (let e = 0; e < strand.elements; e++) {
      const a = 2 * e * SIDES;
      const b = a + SIDES;
      for (let s = 0; s < SIDES; s++) {
        const t = (s + 1) % SIDES;
        index.push(a + s, b + s, a + t, a + t, b + s, b + t);
      }
    }
    this.geometry.setIndex(index);
    this.geometry.setAttribute("position", new BufferAttribute(this.positions, 3).setUsage(DynamicDrawUsage));
    this.geometry.setAttribute("color", new BufferAttribute(this.colors, 3).setUsage(DynamicDrawUsage));
    this.mesh = new Mesh(this.geometry, new MeshBasicMaterial({ vertexColors: true }));
    this.mesh.frustumCulled = false; // its box changes with every frame
  }

  update(row: Row, radius: number, quantity: Quantity, scale: Scale): void {
    const N = this.strand.elements;
    const at = (node: number, i: number) => row[this.strand.nodes + 3 * node + i];
    // A vector across the string, carried along it with the least turning, so that the tube does not twist.
    const across = [0, 0, 0];
    const tangent = [1, 0, 0];
    const side = [0, 0, 0];
    for (let node = 0; node <= N; node++) {
      direction(at, Math.max(node - 1, 0), Math.min(node + 1, N), tangent);
      carry(across, tangent);
      cross(tangent, across, side);
      for (let s = 0; s < SIDES; s++) {
        const angle = (2 * Math.PI * s) / SIDES;
        const c = Math.cos(angle);
        const d = Math.sin(angle);
        const normalDown = c * across[2] + d * side[2];
        const shade = 1 - SHADE * 0.5 * (1 + normalDown);
        for (const ring of [2 * node - 1, 2 * node]) {
          if (ring < 0 || ring >= 2 * N) continue;
          const k = 3 * (ring * SIDES + s);
          for (let i = 0; i < 3; i++) this.positions[k + i] = at(node, i) + radius * (c * across[i] + d * side[i]);
          scale.write(this.strand.isSlack(row, ring >> 1) ? null : this.strand.value(row, quantity, ring >> 1), shade, this.colors, k);
        }
      }
    }
    this.geometry.attributes.position.needsUpdate = true;
    this.geometry.attributes.color.needsUpdate = true;
  }
}

/** Unit vector between two nodes; left as it was where they coincide. */
function direction(at: (node: number, i: number) => number, from: number, to: number, out: number[]): void {
  const d = [0, 1, 2].map((i) => at(to, i) - at(from, i));
  const length = Math.hypot(d[0], d[1], d[2]);
  if (length > 0) for (let i = 0; i < 3; i++) out[i] = d[i] / length;
}

/** Make `across` a unit vector at right angles to the tangent, as near to what it was as can be. */
function carry(across: number[], tangent: number[]): void {
  const along = dot(across, tangent);
  for (let i = 0; i < 3; i++) across[i] -= along * tangent[i];
  let length = Math.hypot(across[0], across[1], across[2]);
  if (length < 1e-6) {
    const axis = Math.abs(tangent[1]) < 0.9 ? 1 : 0; // any axis that is not the tangent's
    for (let i = 0; i < 3; i++) across[i] = (i === axis ? 1 : 0) - tangent[axis] * tangent[i];
    length = Math.hypot(across[0], across[1], across[2]);
  }
  for (let i = 0; i < 3; i++) across[i] /= length;
}

const dot = (a: number[], b: number[]) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

function cross(a: number[], b: number[], out: number[]): void {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}
