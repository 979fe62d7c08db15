/** The only export: draw a model into an element. Called by anywidget, or by the page's own script below. */
import "./order";
import { render as draw } from "preact";
import { hashAddress, type Address } from "./hosts/address";
import { pageModel } from "./hosts/page";
import type { Model } from "./hosts/model";
import { extensionOf, type Extended } from "./extension";
import { rehearse } from "./rehearsal";
import { Session } from "./state";
import { App } from "./views/app";
import { COMMON, say } from "./words";
import css from "./look/page.css";

export function render({ model, el, address = null }: { model: Model; el: HTMLElement; address?: Address | null }): () => void {
  const root = el.ownerDocument.createElement("div");
  const style = el.ownerDocument.createElement("style");
  style.textContent = css;
  root.className = "jumok";
  el.append(style, root);
  let session: Session | null = null;
  let isGone = false;
  const failed = (error: unknown): void => {
    root.setAttribute("role", "alert");
    root.textContent = say(COMMON, "failed", "en", { reason: error instanceof Error ? error.message : String(error) });
  };
  const open = (extended: Extended | null): void => {
    if (isGone) return;
    session = new Session(model, address, extended);
    draw(<App session={session} />, root);
    root.dataset.ready = "true";
  };
  const program = model.get("extension");
  if (typeof program === "string") {
    extensionOf(program).then((extension) => open(extension(model))).catch(failed);
  } else {
    try {
      open(null);
    } catch (error) {
      failed(error);
    }
  }
  return () => {
    isGone = true;
    draw(null, root);
    session?.dispose();
    root.remove();
    style.remove();
  };
}

export default { render };

const page = typeof document === "undefined" ? null : document.getElementById("jumok-page");
if (page !== null && page.dataset.drawn === undefined) {
  page.dataset.drawn = "true";
  const model = pageModel(document);
  render({ model, el: page, address: hashAddress(window) });
  rehearse(model, document);
}
