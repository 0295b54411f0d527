// Boxes, reaches and middles of what a run describes, and where its views lie.

import { type Box } from "./ground";
import { type Layout, type Row, type Strand } from "./layout";
import { type Meta, type ReelMeta, type Vector } from "./types";

export function samePlace(a: ReelMeta, b: ReelMeta): boolean {
  return a.position.every((x, i) => Math.abs(x - b.position[i]) < 0.1 * Math.max(a.drum_radius, b.drum_radius));
}

/** Around a drum behind its guide, as it stands at the start. */
function reelBox({ position: [x, y, z], guide_length, drum_radius }: ReelMeta): Box {
  return [
    [x - guide_length - 1.6 * drum_radius, y - 0.5 * drum_radius, z - 2.1 * drum_radius],
    [x, y + 0.5 * drum_radius, z],
  ];
}

export function reachOf(points: Vector[]): number {
  return Math.max(0, ...points.map((p) => Math.hypot(...p)));
}

export interface Named {
  text: string;
  kind: "body" | "line";
  place: Vector;
}

/** Whether there is anything to tell apart by names: more than one line with one free body. */
export function isNamed({ bodies, lines }: Meta): boolean {
  return lines.length > 1 || bodies.filter(({ held }) => !held).length > 1;
}

/** Bodies and lines that are named, and where the name belongs. */
export function namedPlaces(meta: Meta, layout: Layout, row: Row): Named[] {
  const { bodies, lines } = meta;
  if (!isNamed(meta)) return [];
  return [
    ...bodies.map(({ name, center_of_mass }, k): Named => ({ text: name, kind: "body", place: layout.bodyPoint(row, k, center_of_mass, [0, 0, 0]) })),
    ...lines.map(({ name }, k): Named => ({ text: name, kind: "line", place: middleOf(layout.strands[k], row) })),
  ];
}

/** Half-way along a line. */
function middleOf(strand: Strand, row: Row): Vector {
  const [a, b] = [Math.floor, Math.ceil].map((round) => strand.node(row, round(0.5 * strand.elements)));
  return a.map((x, i) => 0.5 * (x + b[i])) as Vector;
}

function union(a: Box, b: Box): Box {
  const pick = (choose: (...x: number[]) => number, k: 0 | 1): Vector => [0, 1, 2].map((i) => choose(a[k][i], b[k][i])) as Vector;
  return [pick(Math.min, 0), pick(Math.max, 1)];
}

/** Around all runs; where a run blew up its box is no box, and the string's length must do. */
export function boxOf(metas: Meta[]): Box {
  return metas
    .map((meta): Box => {
      if (meta.bounds.flat().every(Number.isFinite)) return [[...meta.bounds[0]], [...meta.bounds[1]]];
      const l = Math.max(...meta.lines.map(({ length }) => length));
      return [[-l, -l, -l], [l, l, l]];
    })
    .reduce(union);
}

/** Let a box hold all that a row shows, with some space to spare where it did not; says whether it had to grow. */
export function makeRoom([low, high]: Box, layout: Layout, meta: Meta, row: Row, spare: number): boolean {
  let grown = false;
  const hold = (place: Vector, around: number) =>
    place.forEach((x, i) => {
      if (x - around < low[i]) [low[i], grown] = [x - around - spare, true];
      if (x + around > high[i]) [high[i], grown] = [x + around + spare, true];
    });
  for (const strand of layout.strands) for (let node = 0; node <= strand.elements; node++) hold(strand.node(row, node), 0);
  meta.bodies.forEach(({ points, held }, k) => hold(layout.bodyPoint(row, k, [0, 0, 0], [0, 0, 0]), held ? 0 : reachOf(points)));
  return grown;
}

/** The box with the reels that stand still, and where an arrow of a length to where things fall begins: beside the first of them from the left, clear of all that moves, or at the top. */
export function withArrow({ lines, bodies, orbit }: Meta, box: Box, length: number, shown: boolean): { whole: Box; start: Vector } {
  const stands = (end: number | null) => end === null || bodies[end].held;
  const reels = lines.flatMap(({ reel, end_reel, ends: [start, end] }) => [...(reel && stands(start) ? [reel] : []), ...(end_reel && stands(end) ? [end_reel] : [])]);
  const whole = reels.map(reelBox).reduce(union, box);
  const [beside] = reels.sort((a, b) => a.position[0] - b.position[0]);
  const [low, high] = beside ? reelBox(beside) : whole;
  const [, y, z] = beside?.position ?? [0, 0.5 * (low[1] + high[1]), low[2]];
  // what turns in the plane of an orbit leaves the corners of its box free
  if (orbit) return { whole, start: [box[0][0] + length, box[0][1] + length, z] };
  const start: Vector = [Math.min(low[0], box[0][0]) - length, y, z];
  return { whole: shown ? union(whole, [[start[0] - 0.1 * length, y, z], [start[0], y, z + 1.2 * length]]) : whole, start };
}

/** Left, top, width and height of a run's view among several side by side (px). */
export function cellOf(run: number, runs: number, width: number, height: number): [number, number, number, number] {
  const columns = runs === 4 ? 2 : runs;
  const [w, h] = [Math.floor(width / columns), Math.floor(height / Math.ceil(runs / columns))];
  return [(run % columns) * w, Math.floor(run / columns) * h, w, h];
}
