// Rings of a fixed size on the screen around bodies and drums that are too small to be seen, and shadows of bodies on the ground.

import { CanvasTexture, Color, Group, Mesh, MeshBasicMaterial, type PerspectiveCamera, PlaneGeometry, Sprite, SpriteMaterial, Vector3 } from "three";
import { type Layout, type Row } from "./layout";
import { type Meta } from "./types";

const SIZE = 22; // px, of a ring
const SMALL = 7; // px: things of a smaller radius get one
const SHADOW = 1.6; // radius, over the body's reach
const LEAST_SHADOW = 0.006; // radius, over the scene's size

/** A drawing on a square canvas, for a texture. */
function drawn(size: number, draw: (brush: CanvasRenderingContext2D, half: number) => void): CanvasTexture {
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const brush = canvas.getContext("2d");
  if (brush) draw(brush, 0.5 * size);
  return new CanvasTexture(canvas);
}

const ring = () =>
  drawn(64, (brush, half) => {
    brush.strokeStyle = "#fff";
    brush.lineWidth = 6;
    brush.beginPath();
    brush.arc(half, half, half - 6, 0, 2 * Math.PI);
    brush.stroke();
  });

const blob = () =>
  drawn(64, (brush, half) => {
    const fade = brush.createRadialGradient(half, half, 0, half, half, half);
    fade.addColorStop(0, "rgba(255,255,255,0.9)");
    fade.addColorStop(0.5, "rgba(255,255,255,0.45)");
    fade.addColorStop(1, "rgba(255,255,255,0)");
    brush.fillStyle = fade;
    brush.fillRect(0, 0, 2 * half, 2 * half);
  });

/** Something that may be too small: where it is, and how far it reaches (m). */
interface Thing {
  place(row: Row): [number, number, number];
  reach: number;
  sprite: Sprite;
}

export class Markers {
  readonly group = new Group();
  private readonly things: Thing[] = [];
  private readonly shadows: { mesh: Mesh; body: number }[] = [];
  private readonly rings = new SpriteMaterial({ map: ring(), sizeAttenuation: false, depthTest: false, transparent: true });
  private readonly blobs = new MeshBasicMaterial({ map: blob(), transparent: true, depthWrite: false, userData: { opacity: 0.5 } });
  private readonly at = new Vector3();

  constructor(meta: Meta, private readonly layout: Layout, sceneSize: number) {
    meta.bodies.forEach(({ points, center_of_mass, held }, k) => {
      if (held) return;
      const reach = Math.max(0, ...points.map((p) => Math.hypot(...p.map((x, i) => x - center_of_mass[i]))));
      this.add((row) => layout.bodyPoint(row, k, center_of_mass, [0, 0, 0]), reach);
      if (meta.gravity === 0) return; // nothing lies below
      const mesh = new Mesh(new PlaneGeometry(2, 2).rotateX(Math.PI), this.blobs); // seen from above, where z is down
      mesh.scale.setScalar(Math.max(SHADOW * reach, LEAST_SHADOW * sceneSize));
      this.shadows.push({ mesh, body: k });
      this.group.add(mesh);
    });
    meta.lines.forEach(({ reel, end_reel, elements }, k) => {
      [reel, end_reel].forEach((drum, end) => {
        if (drum) this.add((row) => layout.strands[k].node(row, end * elements), Math.max(drum.drum_radius, 0.5 * drum.guide_length));
      });
    });
  }

  private add(place: Thing["place"], reach: number): void {
    const sprite = new Sprite(this.rings);
    sprite.renderOrder = 3;
    this.things.push({ place, reach, sprite });
    this.group.add(sprite);
  }

  /** `height`: of the picture, in px. */
  update(row: Row, camera: PerspectiveCamera, height: number, ground: number): void {
    const perPixel = (2 * Math.tan((0.5 * camera.fov * Math.PI) / 180)) / height; // of the distance
    for (const { place, reach, sprite } of this.things) {
      const [x, y, z] = place(row);
      sprite.position.set(x, y, z);
      const distance = this.at.set(x, -z, y).distanceTo(camera.position);
      sprite.visible = reach < SMALL * perPixel * distance;
      sprite.scale.setScalar(SIZE * perPixel);
    }
    for (const { mesh, body } of this.shadows) {
      const [x, y] = this.layout.bodyPoint(row, body, [0, 0, 0], [0, 0, 0]);
      mesh.position.set(x, y, ground);
      mesh.visible = true;
    }
  }

  /** Whether a body is marked because it is too small to be seen. */
  get hidden(): boolean {
    return this.things.length > 0 && this.things[0].sprite.visible;
  }

  /** Neither rings nor shadows until the next update: near by they would fill the picture. */
  hide(): void {
    for (const { sprite } of this.things) sprite.visible = false;
    for (const { mesh } of this.shadows) mesh.visible = false;
  }

  recolor(mark: Color, shadow: Color): void {
    this.rings.color.copy(mark);
    this.blobs.color.copy(shadow);
  }
}
