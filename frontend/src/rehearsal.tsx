/**
 * A browser compiles what has run often: in a page that was just opened the first edits would take three times as long as
 * the later ones. So a page rehearses a few edits on a copy that is in no document, while the browser is idle.
 */
import { render as draw } from "preact";
import type { Model, Sent } from "./hosts/model";
import { Session } from "./state";
import { App } from "./views/app";

const EDITS = 12;

/** Begin, where the documents are here, and small enough to be edited. */
export function rehearse(model: Model, page: Document): void {
  const sent = model.get("documents") as readonly Sent[];
  // too large, or of a second program: nothing is opened a second time
  if (sent.some(({ bytes }) => bytes === null) || model.get("extension") !== null) return;
  const session = new Session(deaf(model), null);
  const desk = session.desk.value;
  const nowhere = page.createElement("div");
  let left = desk.original === null || session.choice.view.value !== "stages" ? 0 : EDITS;
  const stop = (): void => {
    draw(null, nowhere);
    session.dispose();
  };
  const step = (): void => {
    if (left === EDITS) draw(<App session={session} />, nowhere);
    else desk.apply({ set: "w_q", layer: 0, row: 0, column: 0, value: left / EDITS });
    left -= 1;
    if (left > 0) whenIdle(step);
    else stop();
  };
  if (left > 0) whenIdle(step);
  else stop();
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
