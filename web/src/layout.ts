// Where the numbers stand in a frame.

import { type Meta, type Vector } from "./types";

export type Row = Float32Array | Float64Array;

/** A frame as it is drawn: one row, and the sample it is of. */
export interface Frame {
  index: number;
  row: Row;
}

export type Quantity = "strain" | "tension" | "energy_density";

/** A string: how much there is of it, and where its numbers begin. */
export class Strand {
  constructor(
    readonly elements: number,
    readonly length: number,
    readonly kept: number,
    readonly nodes: number,
    readonly tension: number,
    readonly energy: number,
    readonly slackens: boolean,
    readonly turns: [number | null, number | null],
  ) {}

  /** Whether an element hangs loose. */
  isSlack(row: Row, element: number): boolean {
    return this.slackens && this.strain(row, element) <= 0;
  }

  /** Unstretched length of it that is elsewhere: on drums, on wheels and in other spans. */
  keptLength(row: Row): number {
    return row[this.kept];
  }

  /** Length by which the drum or wheel at its start (0) or end (1) has turned. */
  turn(row: Row, end: number): number {
    const place = this.turns[end];
    return place === null ? 0 : row[place];
  }

  node(row: Row, node: number): Vector {
    const i = this.nodes + 3 * node;
    return [row[i], row[i + 1], row[i + 2]];
  }

  strain(row: Row, element: number): number {
    const i = this.nodes + 3 * element;
    const length = Math.hypot(row[i + 3] - row[i], row[i + 4] - row[i + 1], row[i + 5] - row[i + 2]);
    return (length * this.elements) / (this.length - row[this.kept]) - 1;
  }

  value(row: Row, quantity: Quantity, element: number): number {
    if (quantity === "strain") return this.strain(row, element);
    return row[(quantity === "tension" ? this.tension : this.energy) + element];
  }
}

const POSE = 12; // numbers of a body: origin of its frame, attitude row by row

/** Time; of each string the length that is elsewhere; how far each drum and wheel has turned; nodes of all lines; poses of all bodies; tension, then energy density, of all elements. */
export class Layout {
  readonly strands: Strand[] = [];
  readonly size: number;
  private readonly nodes: number;
  private readonly bodies: number;
  private readonly tension: number;

  constructor({ lines, bodies }: Pick<Meta, "lines" | "bodies">) {
    const elements = lines.reduce((sum, string) => sum + string.elements, 0);
    const drums = lines.flatMap(({ reel, end_reel }) => [reel, end_reel]).filter(Boolean).length;
    this.nodes = 1 + lines.length + drums;
    this.bodies = this.nodes + 3 * (elements + lines.length);
    this.tension = this.bodies + POSE * bodies.length;
    this.size = this.tension + 2 * elements;
    let [before, turn] = [0, 1 + lines.length];
    lines.forEach((string, k) => {
      const tension = this.tension + before;
      const turns: [number | null, number | null] = [string.reel ? turn++ : null, string.end_reel ? turn++ : null];
      this.strands.push(new Strand(string.elements, string.length, 1 + k, this.nodes + 3 * (before + k), tension, tension + elements, string.slackens, turns));
      before += string.elements;
    });
  }

  /** Flat x, y, z of all nodes. */
  positions(row: Row): number[] {
    return Array.from(row.subarray(this.nodes, this.bodies));
  }

  /** Twelve numbers: the origin of a body's frame, and its attitude row by row. */
  pose(row: Row, body: number): Row {
    return row.subarray(this.bodies + POSE * body, this.bodies + POSE * (body + 1));
  }

  /** A point given in the frame of a body, in inertial axes. */
  bodyPoint(row: Row, body: number, [x, y, z]: readonly number[], out: Vector): Vector {
    const p = this.bodies + POSE * body;
    for (let i = 0; i < 3; i++) out[i] = row[p + i] + row[p + 3 + 3 * i] * x + row[p + 4 + 3 * i] * y + row[p + 5 + 3 * i] * z;
    return out;
  }

  /** A row that can be drawn: a run that blew up may end in rows that cannot. */
  drawable(row: Row): boolean {
    for (let i = 0; i < this.tension; i++) if (!Number.isFinite(row[i])) return false;
    return true;
  }
}
