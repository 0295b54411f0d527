// From places in space to places on the screen and back: names, bodies under the pointer.

import { type PerspectiveCamera, Plane, Raycaster, Vector2, Vector3 } from "three";
import { type Row } from "./layout";
import { type Named, namedPlaces, reachOf } from "./places";
import { type RunView } from "./runview";
import { type Range, type Vector } from "./types";

const GRASP = 22; // px around a body in which it can be grabbed

export class Sight {
  /** Of the row of a run that is in view, in a cell: left, top, width and height (px). */
  constructor(
    private readonly view: RunView,
    private readonly camera: PerspectiveCamera,
    private readonly row: () => Row | null,
    private readonly cell: () => [number, number, number, number],
  ) {}

  /** Where a place in the renderer's axes is on the host, in pixels; null out of sight. Changes the place. */
  onScreen(place: Vector3): Range | null {
    const p = place.project(this.camera);
    if (p.z > 1 || Math.abs(p.x) > 1 || Math.abs(p.y) > 1) return null;
    const [, , width, height] = this.cell();
    return [0.5 * (p.x + 1) * width, 0.5 * (1 - p.y) * height];
  }

  /** Names of bodies and lines, with their places on the host in pixels; those out of sight are left out. */
  names(): (Named & { at: Range })[] {
    const row = this.row();
    const all = row ? namedPlaces(this.view.meta, this.view.layout, row) : [];
    return all.flatMap((named) => {
      const [x, y, z] = named.place;
      const at = this.onScreen(new Vector3(x, -z, y));
      return at ? [{ ...named, at }] : [];
    });
  }

  /** The body at a place on the host (px), or null. */
  bodyAt(x: number, y: number): number | null {
    let best: number | null = null;
    let least = Infinity;
    const field = 2 * Math.tan((this.camera.fov * Math.PI) / 360);
    this.view.meta.bodies.forEach((_, k) => {
      const place = this.center(k);
      const at = place && this.onScreen(place.clone());
      if (!place || !at) return;
      const radius = Math.max(GRASP, (this.reach(k) * this.cell()[3]) / (field * place.distanceTo(this.camera.position)));
      const gap = Math.hypot(at[0] - x, at[1] - y);
      if (gap < Math.min(radius, least)) [best, least] = [k, gap];
    });
    return best;
  }

  /** The place in space under a place on the host (px), as far away as a body is. */
  placeAt(x: number, y: number, body: number): Vector {
    const [, , width, height] = this.cell();
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.camera);
    const normal = this.camera.getWorldDirection(new Vector3());
    const found = caster.ray.intersectPlane(new Plane().setFromNormalAndCoplanarPoint(normal, this.center(body) ?? new Vector3()), new Vector3());
    return found ? [found.x, found.z, -found.y] : [0, 0, 0];
  }

  /** The center of mass of a body, in the renderer's axes. */
  center(body: number): Vector3 | null {
    const { meta, layout } = this.view;
    const row = this.row();
    if (!row || !meta.bodies[body]) return null;
    const [x, y, z] = layout.bodyPoint(row, body, meta.bodies[body].center_of_mass, [0, 0, 0]);
    return new Vector3(x, -z, y);
  }

  reach(body: number): number {
    return reachOf(this.view.meta.bodies[body].points);
  }
}
