// What is done for each picture of a motion.

const PAUSE = 50; // ms between pictures that the processor draws, which has a simulation to run

/** Whether there is no graphics card: SwiftShader, llvmpipe and their like draw by the processor. */
function drawnByProcessor(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const details = gl?.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|software|basic render/i.test(String(gl?.getParameter(details?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER)));
}

/** Call something for each picture, with the browser's clock (ms). */
export function forEachPicture(draw: (now: number) => void): void {
  const pause = drawnByProcessor() ? PAUSE : 0;
  let last = -Infinity;
  const loop = (now: number) => {
    if (now - last >= pause) draw((last = now));
    requestAnimationFrame(loop);
  };
  requestAnimationFrame(loop);
}
