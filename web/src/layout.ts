// Where the numbers stand in a frame.

export type Row = Float32Array | Float64Array;

/** A frame as it is drawn: one row, and the sample it is of. */
export interface Frame {
  index: number;
  row: Row;
}

export type Quantity = "strain" | "tension" | "energy_density";

export class Layout {
  readonly nodes = 2;
  readonly attitude: number;
  readonly tension: number;
  readonly energy: number;
  readonly size: number;

  constructor(
    readonly elements: number,
    readonly stringLength: number,
  ) {
    this.attitude = this.nodes + 3 * (elements + 1);
    this.tension = this.attitude + 9;
    this.energy = this.tension + elements;
    this.size = this.energy + elements;
  }

  time(row: Row): number {
    return row[0];
  }

  reeledLength(row: Row): number {
    return row[1];
  }

  /** Flat x, y, z of all nodes. */
  positions(row: Row): number[] {
    return Array.from(row.subarray(this.nodes, this.attitude));
  }

  strain(row: Row, element: number): number {
    const i = this.nodes + 3 * element;
    const length = Math.hypot(row[i + 3] - row[i], row[i + 4] - row[i + 1], row[i + 5] - row[i + 2]);
    return (length * this.elements) / (this.stringLength - row[1]) - 1;
  }

  value(row: Row, quantity: Quantity, element: number): number {
    if (quantity === "strain") return this.strain(row, element);
    return row[(quantity === "tension" ? this.tension : this.energy) + element];
  }

  /** A point given in the body frame, in inertial axes. */
  bodyPoint(row: Row, [x, y, z]: readonly number[], out: [number, number, number]): [number, number, number] {
    const a = this.attitude;
    const end = this.attitude - 3;
    for (let i = 0; i < 3; i++) out[i] = row[end + i] + row[a + 3 * i] * x + row[a + 3 * i + 1] * y + row[a + 3 * i + 2] * z;
    return out;
  }

  /** A row that can be drawn: a run that blew up may end in rows that cannot. */
  drawable(row: Row): boolean {
    for (let i = 0; i < this.tension; i++) if (!Number.isFinite(row[i])) return false;
    return true;
  }
}
