/**
 * A browser compiles what has run often: in a page that was just opened the first edits would take four times as long as
 * the later ones. So a page rehearses a few edits on a copy that is in no document, while the browser is idle.
 */
import { render as draw } from "preact";
import type { Model } from "./hosts/model";
import { Session } from "./state";
import { App } from "./views/app";

const EDITS = 12;

/** Begin, where there is something small enough to be edited; what is given back stops it. */
export function rehearse(model: Model, page: Document): () => void {
  const session = new Session(deaf(model), null);
  const desk = session.desk.value;
  const nowhere = page.createElement("div");
  let left = desk.original === null || session.choice.view.value !== "stages" ? 0 : EDITS;
  const stop = (): void => {
    left = 0;
    draw(null, nowhere);
    session.dispose();
  };
  const step = (): void => {
    if (left === 0) return;
    if (left === EDITS) draw(<App session={session} />, nowhere);
    else desk.apply({ set: "w_q", layer: 0, row: 0, column: 0, value: left / EDITS });
    left -= 1;
    if (left > 0) whenIdle(step);
    else stop();
  };
  if (left > 0) whenIdle(step);
  return stop;
}

/** The same documents; what is chosen in a rehearsal is nobody's choice. */
function deaf(model: Model): Model {
  const nothing = (): void => undefined;
  return { get: (name) => model.get(name), set: nothing, save_changes: nothing, on: nothing, off: nothing, send: nothing };
}

function whenIdle(step: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(step);
  else setTimeout(step, 50);
}
