/** A record as jumok draws it: with jumok.js, on the same page, and with the server behind it. */
import { hashAddress, type Address } from "../hosts/address";
import type { Model } from "../hosts/model";
import type { Lang } from "../engine/record";
import { ServedModel } from "./model";
import { THEMES, type Served, type Theme, type Told } from "./served";

interface Program {
  render(given: { model: Model; el: HTMLElement; address: Address }): () => void;
}

/** Fetched as it is, and never bundled here. */
const PROGRAM = "/static/jumok.js";

/** Draw a record below everything else. Throws what `openRemote` throws. */
export async function drawRecord(served: Served, { model: values = {}, documents = [], title = null }: Told): Promise<void> {
  const { line, window } = served;
  const view = { ...(values.view as object), lang: served.lang.peek(), theme: served.theme.peek() };
  const coming = import(PROGRAM) as Promise<Program>;
  const model = await ServedModel.open(line, { ...values, view, title: typeof title === "string" ? { en: title, ko: title } : title }, documents);
  const { render } = await coming;
  const el = window.document.createElement("div");
  el.id = "jumok-page";
  window.document.body.append(el);
  served.model.value = model;
  inStep(served, model);
  render({ model, el, address: hashAddress(window) });
}

/** Language and colours are chosen in what is drawn; what stands above goes along. */
function inStep(served: Served, model: ServedModel): void {
  model.on("change:view", () => {
    const { lang, theme } = model.get("view") as { lang: Lang; theme: Theme };
    if (lang !== served.lang.peek()) served.speak(lang);
    if (THEMES.includes(theme)) served.theme.value = theme;
  });
}
