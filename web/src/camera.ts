// Where the camera stands: views along the axes, the whole in sight, and following the body.

import { PerspectiveCamera, Spherical, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { type Covered, framed, OPEN } from "./framing";
import { type Box } from "./ground";
import { type Range } from "./types";

export type View = "front" | "side" | "top" | "iso";

// Directions from the scene to the camera in the renderer's axes (y up): its x is our x, its z our y, its y against our z.
const VIEWS: Record<View, [number, number, number]> = {
  front: [0, 0, 1],
  side: [1, 0, 0],
  top: [0, 1, 1e-4], // not quite from above, where "up" on the screen would be undefined
  iso: [0.5, 0.3, 1],
};
const FIELD = 35; // degrees
const NEAR = 0.02; // of the distance to what is looked at
const TURN = Math.PI / 24; // of a key
const ZOOM = 1.15;

export type Turn = "left" | "right" | "up" | "down" | "nearer" | "farther";

export class CameraRig {
  readonly camera = new PerspectiveCamera(FIELD, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  follow = false;
  /** Whether a hand moved the camera since it was last placed. */
  moved = false;
  private readonly followed = new Vector3();
  private size: Range = [1, 1];
  private shifted: Range = [0, 0]; // of what is looked at from the middle, over the size of the picture
  private covered = OPEN;

  constructor(
    surface: HTMLElement,
    private box: Box,
    changed: () => void,
  ) {
    this.camera.position.set(...VIEWS.iso);
    this.controls = new OrbitControls(this.camera, surface);
    this.controls.addEventListener("change", changed);
    this.controls.addEventListener("start", () => (this.moved = true));
    this.scrollUnlessMeant(surface);
    this.zoomWhenMeant(surface);
  }

  /** On a page that scrolls, a finger that moves up and down scrolls it, until the scene has been tapped. */
  private scrollUnlessMeant(surface: HTMLElement): void {
    const page = document.documentElement;
    const choose = () => {
      const scrolls = page.scrollHeight > page.clientHeight + 1;
      surface.style.touchAction = scrolls && document.activeElement !== surface ? "pan-y" : "none";
    };
    let before = this.state;
    let moved = this.moved;
    surface.addEventListener("pointerdown", () => ([before, moved] = [this.state, this.moved]), { capture: true });
    // the browser scrolls: what the finger turned until then was not meant
    surface.addEventListener("pointercancel", () => {
      this.state = before;
      this.moved = moved;
    });
    for (const name of ["focus", "blur"]) surface.addEventListener(name, choose);
    surface.addEventListener("click", () => surface.focus({ preventScroll: true }));
    new ResizeObserver(choose).observe(document.body);
    choose();
  }

  /** Inside another page, such as a notebook, the wheel scrolls that one until the scene has been clicked. */
  private zoomWhenMeant(surface: HTMLElement): void {
    if (window.self === window.top) return;
    this.controls.enableZoom = false;
    surface.addEventListener("pointerdown", () => (this.controls.enableZoom = true));
    document.addEventListener("mouseleave", () => (this.controls.enableZoom = false));
  }

  /** The picture is so wide and high, and some of it is covered. */
  setSize(width: number, height: number, covered: Covered): void {
    this.size = [width, height];
    this.covered = covered;
    this.camera.aspect = width / height;
    this.shift(this.moved ? [this.shifted[0] * width, this.shifted[1] * height] : [0, 0.5 * (covered.bottom - covered.top)]);
  }

  /** Put what is looked at so far to the left of the picture's middle and above it (px). */
  private shift([left, up]: Range): void {
    this.shifted = [left / this.size[0], up / this.size[1]];
    if (left === 0 && up === 0) this.camera.clearViewOffset();
    else this.camera.setViewOffset(...this.size, left, up, ...this.size);
    this.camera.updateProjectionMatrix();
  }

  /** Depths that are drawn, from the distance; to be called before every picture. */
  setDepths(): void {
    const { distance } = this;
    [this.camera.near, this.camera.far] = [NEAR * distance, distance + 30 * boxSize(this.box)];
    this.camera.updateProjectionMatrix();
  }

  /** Where the camera stands and looks to, and how far that is from the picture's middle, for an address. */
  get state(): number[] {
    return [...this.camera.position.toArray(), ...this.controls.target.toArray(), ...this.shifted];
  }

  set state(numbers: number[]) {
    if (numbers.length !== 8 || !numbers.every(Number.isFinite)) return;
    this.camera.position.fromArray(numbers);
    this.controls.target.fromArray(numbers, 3);
    this.moved = true;
    this.shift([numbers[6] * this.size[0], numbers[7] * this.size[1]]);
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
    this.setSize(...this.size, this.covered);
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
    const axes = [right, up, back];
    const offsets = corners.map((corner) => axes.map((axis) => corner.clone().sub(middle).dot(axis)));
    const { distance, shift } = framed(offsets, this.size, this.covered, Math.tan((0.5 * FIELD * Math.PI) / 180));
    this.shift(shift);
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
