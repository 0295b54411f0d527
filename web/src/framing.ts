// How far away the camera stands and where the middle of the box lies in the picture, such that nothing is behind buttons.

import { type Range } from "./types";

/** A part of the picture that something lies over (px, from its upper left corner). */
export interface Rect {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Pixels at the upper and lower edge that are covered, and what lies in corners. */
export interface Covered {
  top: number;
  bottom: number;
  corners: Rect[];
}

export interface Framing {
  distance: number;
  shift: Range; // px, of the box's middle from the picture's, to the left and up
}

const MARGIN = 0.035; // of the picture, at each edge of what is free
const LEAST_MARGIN = 22; // px: room for a ring
const LEAST_FREE = 0.3; // of the picture's width and height
const PIECES = 12; // of an edge of the box, each of which must not be covered

export const OPEN: Covered = { top: 0, bottom: 0, corners: [] };

/** Corners of a box, in the order of its sides, as they lie to the right of its middle, above it, and before it; `slope`: half of the field's height over the distance. */
export function framed(corners: number[][], [width, height]: Range, { top, bottom, corners: rects }: Covered, slope: number): Framing {
  const edges = edgesOf(corners);
  const rights = [0, ...rects.map(({ left }) => width - left)];
  const tops = [top, ...rects.filter((rect) => rect.top < 0.5 * height).map((rect) => rect.bottom)];
  const bottoms = [bottom, ...rects.filter((rect) => rect.bottom > 0.5 * height).map((rect) => height - rect.top)];
  const plain = fitted(corners, width, height, 0, top, bottom, slope);
  let best: Framing | null = null;
  for (const right of rights)
    for (const above of tops)
      for (const below of bottoms) {
        if (width - right < LEAST_FREE * width || height - above - below < LEAST_FREE * height) continue;
        const found = fitted(corners, width, height, right, above, below, slope);
        const hit = edges.some((point) => rects.some((rect) => inside(seen(point, found, width, height, slope), rect)));
        if (!hit && !(best && best.distance <= found.distance)) best = found;
      }
  return best ?? plain;
}

/** The box within what some edges leave free. */
function fitted(corners: number[][], width: number, height: number, right: number, top: number, bottom: number, slope: number): Framing {
  const free = (size: number, taken: number) => Math.max(size - taken - 2 * Math.max(LEAST_MARGIN, MARGIN * size), 0.5 * LEAST_FREE * size);
  const [tanX, tanY] = [(slope * free(width, right)) / height, (slope * free(height, top + bottom)) / height];
  // a corner is in sight when its offset from the axis is within the field at its own depth
  const distance = Math.max(...corners.map(([x, y, z]) => z + Math.max(Math.abs(x) / tanX, Math.abs(y) / tanY)));
  return { distance, shift: [0.5 * right, 0.5 * (bottom - top)] };
}

function seen([x, y, z]: number[], { distance, shift }: Framing, width: number, height: number, slope: number): Range {
  const scale = (0.5 * height) / (slope * (distance - z));
  return [0.5 * width + scale * x - shift[0], 0.5 * height - scale * y - shift[1]];
}

function inside([x, y]: Range, { left, top, right, bottom }: Rect): boolean {
  const near = 0.5 * LEAST_MARGIN;
  return x > left - near && x < right + near && y > top - near && y < bottom + near;
}

/** Points along the edges of a box; its corners differ in one bit of their number where an edge joins them. */
function edgesOf(corners: number[][]): number[][] {
  const points: number[][] = [];
  corners.forEach((a, i) => {
    for (const bit of [1, 2, 4]) {
      if (i & bit) continue;
      const b = corners[i | bit];
      for (let k = 0; k <= PIECES; k++) points.push(a.map((x, axis) => x + ((b[axis] - x) * k) / PIECES));
    }
  });
  return points;
}
