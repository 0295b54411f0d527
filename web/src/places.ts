// Boxes, reaches and middles of what a run describes.

import { type Box } from "./ground";
import { type Row, type Strand } from "./layout";
import { type Meta, type ReelMeta, type Vector } from "./types";

export function samePlace(a: ReelMeta, b: ReelMeta): boolean {
  return a.position.every((x, i) => Math.abs(x - b.position[i]) < 0.1 * Math.max(a.drum_radius, b.drum_radius));
}

/** Around a drum behind its guide, as it stands at the start. */
export function reelBox({ position: [x, y, z], guide_length, drum_radius }: ReelMeta): Box {
  return [
    [x - guide_length - 1.6 * drum_radius, y - 0.5 * drum_radius, z - 2.1 * drum_radius],
    [x, y + 0.5 * drum_radius, z],
  ];
}

export function reachOf(points: Vector[]): number {
  return Math.max(0, ...points.map((p) => Math.hypot(...p)));
}

/** Half-way along a string. */
export function middleOf(strand: Strand, row: Row): Vector {
  const [a, b] = [Math.floor, Math.ceil].map((round) => strand.node(row, round(0.5 * strand.elements)));
  return a.map((x, i) => 0.5 * (x + b[i])) as Vector;
}

export function union(a: Box, b: Box): Box {
  const pick = (choose: (...x: number[]) => number, k: 0 | 1): Vector => [0, 1, 2].map((i) => choose(a[k][i], b[k][i])) as Vector;
  return [pick(Math.min, 0), pick(Math.max, 1)];
}

/** Around all runs; where a run blew up its box is no box, and the string's length must do. */
export function boxOf(metas: Meta[]): Box {
  return metas
    .map((meta): Box => {
      if (meta.bounds.flat().every(Number.isFinite)) return [[...meta.bounds[0]], [...meta.bounds[1]]];
      const l = Math.max(...meta.strings.map(({ length }) => length));
      return [[-l, -l, -l], [l, l, l]];
    })
    .reduce(union);
}
