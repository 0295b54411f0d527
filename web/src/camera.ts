// Where the camera stands: views along the axes, the whole in sight, and following the body.

import { PerspectiveCamera, Spherical, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { type Box } from "./ground";

export type View = "front" | "side" | "top" | "iso";

// Directions from the scene to the camera in the renderer's axes (y up): its x is our x, its z our y, its y against our z.
const VIEWS: Record<View, [number, number, number]> = {
  front: [0, 0, 1],
  side: [1, 0, 0],
  top: [0, 1, 1e-4], // not quite from above, where "up" on the screen would be undefined
  iso: [0.5, 0.3, 1],
};
const FIELD = 35; // degrees
const MARGIN = 1.08;
const NEAR = 0.02; // of the distance to what is looked at
const TURN = Math.PI / 24; // of a key
const ZOOM = 1.15;

/** Pixels at the edges that something else covers. */
export interface Covered {
  top: number;
  bottom: number;
}

export type Turn = "left" | "right" | "up" | "down" | "nearer" | "farther";

export class CameraRig {
  readonly camera = new PerspectiveCamera(FIELD, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  follow = false;
  /** Whether a hand moved the camera since it was last placed. */
  moved = false;
  private readonly followed = new Vector3();
  private size: [number, number] = [1, 1];
  private covered: Covered = { top: 0, bottom: 0 };

  constructor(
    surface: HTMLElement,
    private box: Box,
    changed: () => void,
  ) {
    this.camera.position.set(...VIEWS.iso);
    this.controls = new OrbitControls(this.camera, surface);
    this.controls.addEventListener("change", changed);
    this.controls.addEventListener("start", () => (this.moved = true));
    surface.style.touchAction = "pan-y"; // a finger that moves up and down scrolls the page
    this.zoomWhenMeant(surface);
  }

  /** Inside another page, such as a notebook, the wheel scrolls that one until the scene has been clicked. */
  private zoomWhenMeant(surface: HTMLElement): void {
    if (window.self === window.top) return;
    this.controls.enableZoom = false;
    surface.addEventListener("pointerdown", () => (this.controls.enableZoom = true));
    document.addEventListener("mouseleave", () => (this.controls.enableZoom = false));
  }

  /** The picture is so wide and high, and what is looked at is centred in the part of it that is not covered. */
  setSize(width: number, height: number, covered: Covered): void {
    this.size = [width, height];
    this.covered = covered;
    this.camera.aspect = width / height;
    const shift = 0.5 * (covered.bottom - covered.top);
    if (shift === 0) this.camera.clearViewOffset();
    else this.camera.setViewOffset(width, height, 0, shift, width, height);
    this.camera.updateProjectionMatrix();
  }

  /** Depths that are drawn, from the distance; to be called before every picture. */
  setDepths(): void {
    const { distance } = this;
    [this.camera.near, this.camera.far] = [NEAR * distance, distance + 30 * boxSize(this.box)];
    this.camera.updateProjectionMatrix();
  }

  /** Where the camera stands and looks to, for an address. */
  get state(): number[] {
    return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
  }

  set state(numbers: number[]) {
    if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return;
    this.camera.position.fromArray(numbers);
    this.controls.target.fromArray(numbers, 3);
    this.moved = true;
    this.controls.update();
  }

  /** Turn about what is looked at, or go nearer. */
  turn(way: Turn): void {
    this.moved = true;
    const arm = new Vector3().subVectors(this.camera.position, this.controls.target);
    const place = new Spherical().setFromVector3(arm);
    if (way === "left") place.theta -= TURN;
    else if (way === "right") place.theta += TURN;
    else if (way === "up") place.phi -= TURN;
    else if (way === "down") place.phi += TURN;
    else place.radius *= way === "nearer" ? 1 / ZOOM : ZOOM;
    place.radius = Math.max(place.radius, this.controls.minDistance);
    this.camera.position.copy(this.controls.target).add(arm.setFromSpherical(place.makeSafe()));
    this.controls.update();
  }

  setBox(box: Box): void {
    this.box = box;
  }

  view(name: View): void {
    this.look(new Vector3(...VIEWS[name]));
  }

  /** The whole box in sight, from where the camera is now. */
  fit(): void {
    this.look(new Vector3().subVectors(this.camera.position, this.controls.target));
  }

  /** Move along with a point when following it. */
  track(point: Vector3): void {
    if (this.follow) {
      const shift = point.clone().sub(this.followed);
      this.camera.position.add(shift);
      this.controls.target.add(shift);
      this.controls.update();
    }
    this.followed.copy(point);
  }

  /** Put the followed point in the middle, near enough to see it turn. */
  approach(radius: number): void {
    this.controls.minDistance = Math.min(this.controls.minDistance, 0.4 * radius);
    const direction = new Vector3().subVectors(this.camera.position, this.controls.target).normalize();
    this.controls.target.copy(this.followed);
    this.camera.position.copy(this.followed).addScaledVector(direction, radius / Math.tan((0.5 * FIELD * Math.PI) / 180));
    this.controls.update();
  }

  get distance(): number {
    return this.camera.position.distanceTo(this.controls.target);
  }

  private look(direction: Vector3): void {
    this.moved = false;
    direction.normalize();
    const corners = cornersOf(this.box);
    const middle = corners.reduce((sum, corner) => sum.addScaledVector(corner, 1 / corners.length), new Vector3());
    this.camera.position.copy(middle).add(direction);
    this.controls.target.copy(middle);
    this.camera.lookAt(middle);
    const [right, up, back] = [new Vector3(), new Vector3(), new Vector3()];
    this.camera.matrix.makeRotationFromQuaternion(this.camera.quaternion).extractBasis(right, up, back);
    const [width, height] = this.size;
    const free = Math.max(height - this.covered.top - this.covered.bottom, 0.3 * height) / height;
    const tanX = ((Math.tan((0.5 * FIELD * Math.PI) / 180) / MARGIN) * width) / height;
    const tanY = (Math.tan((0.5 * FIELD * Math.PI) / 180) * free) / MARGIN;
    // A corner is in sight when its offset from the axis is within the field at its own depth; centre first, then step back.
    const spread = (axis: Vector3) => corners.map((corner) => corner.clone().sub(middle).dot(axis));
    const [xs, ys, zs] = [right, up, back].map(spread);
    let distance = 0;
    corners.forEach((_, i) => {
      distance = Math.max(distance, zs[i] + Math.abs(xs[i]) / tanX, zs[i] + Math.abs(ys[i]) / tanY);
    });
    const size = corners[0].distanceTo(corners[7]);
    this.camera.position.copy(middle).addScaledVector(direction, distance);
    this.controls.minDistance = 0.01 * size;
    this.controls.maxDistance = 20 * size;
    this.controls.update();
  }
}

function boxSize(box: Box): number {
  return cornersOf(box)[0].distanceTo(cornersOf(box)[7]);
}

function cornersOf([low, high]: Box): Vector3[] {
  const corners: Vector3[] = [];
  for (const x of [low[0], high[0]]) for (const y of [low[1], high[1]]) for (const z of [low[2], high[2]]) corners.push(new Vector3(x, -z, y));
  return corners;
}
