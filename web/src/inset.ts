// A close-up of a body in a corner of the picture, where the body is too small to be seen in the whole.

import { Color, PerspectiveCamera, type Scene as Stage, Vector3, type WebGLRenderer } from "three";

const WIDTH = 0.26; // of the picture's smaller side
const MOST = 190; // px
const FIELD = 35; // degrees
const SPACE = 1.7; // around the body, over its reach

export interface Corner {
  left: number;
  top: number;
  size: number;
}

export class Inset {
  private readonly camera = new PerspectiveCamera(FIELD, 1, 0.01, 1000);

  /** Where it lies: at the right edge, below the buttons (px). */
  corner(width: number, height: number, top: number): Corner {
    const size = Math.round(Math.min(MOST, WIDTH * Math.min(width, height)));
    return { left: width - size - 12, top: top + 6, size };
  }

  /** How far its camera stands from the body. */
  distance(reach: number): number {
    return (SPACE * reach) / Math.tan((0.5 * FIELD * Math.PI) / 180);
  }

  /** Draw the body as the main camera sees it, only near. */
  render(renderer: WebGLRenderer, stage: Stage, body: Vector3, reach: number, main: PerspectiveCamera, height: number, { left, top, size }: Corner, back: Color): void {
    const { camera } = this;
    const direction = new Vector3(0, 0, 1).applyQuaternion(main.quaternion);
    camera.position.copy(body).addScaledVector(direction, this.distance(reach));
    camera.quaternion.copy(main.quaternion);
    [camera.near, camera.far] = [0.05 * this.distance(reach), 100 * this.distance(reach)];
    camera.updateProjectionMatrix();
    const bottom = height - top - size;
    renderer.setViewport(left, bottom, size, size);
    renderer.setScissor(left, bottom, size, size);
    renderer.setScissorTest(true);
    renderer.setClearColor(back, 1);
    renderer.autoClear = false;
    renderer.clear();
    renderer.render(stage, camera);
    renderer.autoClear = true;
    renderer.setClearColor(0x000000, 0);
    renderer.setScissorTest(false);
  }
}
