/** Long work, a little every frame, so that the page can answer in between. */

const SLICE_MS = 8;

/** `step` does one piece and says whether more is left; `after` is told so once a frame. Returns how to stop. */
export function inSlices(step: () => boolean, after: (goesOn: boolean) => void = () => undefined): () => void {
  let frame = requestAnimationFrame(function slice() {
    const end = performance.now() + SLICE_MS;
    let goesOn = true;
    while (goesOn && performance.now() < end) goesOn = step();
    after(goesOn);
    if (goesOn) frame = requestAnimationFrame(slice);
  });
  return () => cancelAnimationFrame(frame);
}
