// Polygons to triangles and to the lines worth drawing.

import { type Vector } from "./types";

const SHARP = Math.cos((30 * Math.PI) / 180);

/** Corner points of the triangles of all polygons, flat. */
export function triangles(points: Vector[], faces: number[][]): number[] {
  const out: number[] = [];
  for (const face of faces)
    for (let i = 2; i < face.length; i++) for (const k of [face[0], face[i - 1], face[i]]) out.push(...points[k]);
  return out;
}

/** End points of the edges where the surface bends or ends, flat. The faces' orientation does not matter. */
export function sharpEdges(points: Vector[], faces: number[][]): number[] {
  const edges = new Map<string, { ends: [number, number]; normals: Vector[] }>();
  for (const face of faces) {
    const n = normal(points, face);
    if (!n) continue;
    face.forEach((i, at) => {
      const j = face[(at + 1) % face.length];
      if (i === j) return;
      const key = i < j ? `${i},${j}` : `${j},${i}`;
      const edge = edges.get(key) ?? { ends: [i, j], normals: [] };
      edge.normals.push(n);
      edges.set(key, edge);
    });
  }
  const out: number[] = [];
  for (const { ends, normals } of edges.values()) {
    const [a, b] = normals;
    const bent = normals.length !== 2 || Math.abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) < SHARP;
    if (bent) out.push(...points[ends[0]], ...points[ends[1]]);
  }
  return out;
}

/** Newell's normal, which also serves polygons that are not quite plane; null for one without area. */
function normal(points: Vector[], face: number[]): Vector | null {
  const n: Vector = [0, 0, 0];
  face.forEach((i, at) => {
    const p = points[i];
    const q = points[face[(at + 1) % face.length]];
    n[0] += (p[1] - q[1]) * (p[2] + q[2]);
    n[1] += (p[2] - q[2]) * (p[0] + q[0]);
    n[2] += (p[0] - q[0]) * (p[1] + q[1]);
  });
  const length = Math.hypot(...n);
  return length > 0 ? [n[0] / length, n[1] / length, n[2] / length] : null;
}
