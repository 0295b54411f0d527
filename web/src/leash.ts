// A line from a body to the place that it is pulled to.

import { BufferGeometry, Line, LineBasicMaterial, Vector3 } from "three";
import { type Vector } from "./types";

export class Leash {
  readonly line = new Line(new BufferGeometry(), new LineBasicMaterial({ depthTest: false, transparent: true }));
  private readonly to = new Vector3();
  private body: number | null = null;

  constructor() {
    this.line.visible = this.line.frustumCulled = false;
  }

  /** From a body by its number, or from none. */
  set(body: number | null, [x, y, z]: Vector): void {
    this.body = body;
    this.to.set(x, -z, y);
  }

  /** `center`: of a body, in the renderer's axes. */
  update(center: (body: number) => Vector3 | null): void {
    const from = this.body === null ? null : center(this.body);
    this.line.visible = from !== null;
    if (from) this.line.geometry.setFromPoints([from, this.to]);
  }

  recolor(color: string): void {
    this.line.material.color.set(color);
  }
}
