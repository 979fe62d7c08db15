/** A link that brings the live view into a state; its address can be shared. */
import type { JSX } from "preact";
import { shown } from "../../explanation/words";
import { isolated } from "../../isolated";
import type { Choice } from "../../state";
import { SYMBOLS } from "../stages/names";
import { nameOf } from "../tokens";
import type { Show } from "./lesson";
import type { Sitting } from "./sitting";
import { mathy } from "./text";
import { told } from "./words";

const ROOMY = 500; // pixels of width

export function ShowLink({ sitting, block }: { sitting: Sitting; block: Show }): JSX.Element {
  const { choice, view } = block;
  const go = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const page = event.currentTarget as Element;
    sitting.show(choice);
    requestAnimationFrame(() => arrive(page.ownerDocument, view, choice));
  };
  return (
    <a class="show" href={addressOf(choice, sitting.session.choice.lang.value)} onClick={go}>
      <span class="quiet">{told("show", sitting.lang.value)}</span>
      <span>{mathy(nameOfView(sitting, block))}</span>
    </a>
  );
}

function addressOf(choice: Partial<Choice>, lang: string): string {
  const said = Object.entries({ ...choice, lang }).map(([name, value]) => [name, String(value)]);
  return `#${new URLSearchParams(said).toString()}`;
}

/** What is seen there: the stage or the view, of which token; where there are several, in which layer, head, example. */
function nameOfView({ session: { desks }, lang: { value: lang } }: Sitting, { view, choice }: Show): string {
  const { document: at = 0, layer = 0, head = 0, query, stage } = choice;
  const { title, source, facts } = desks[at].document;
  const token = query === undefined ? null : desks[at].layer(layer)?.tokens[query];
  return [
    stage !== undefined && view !== "weights" && view !== "output" ? SYMBOLS[stage] : told(view, lang),
    token && isolated(nameOf(token)),
    facts.length > 1 && told("layer_n", lang, { n: desks[at].number(layer) }),
    facts[layer].n_heads > 1 && told("head_n", lang, { n: head }),
    desks.length > 1 && shown(title?.[lang] ?? title?.en ?? source.details.sentence ?? source.name ?? ""),
  ].filter(Boolean).join(" · ");
}

/** Where the eye and the keyboard go: the stage, the large head, or the explanation. */
export function arrive(page: Document, view: string, { stage }: Partial<Choice>): void {
  const main = page.getElementById("jumok-view")!;
  const whole = main.querySelector<HTMLDetailsElement>("details.whole");
  if (view === "explain" && whole) whole.open = true;
  const places = { arrows: ".one-head", explain: "details.whole" } as Readonly<Record<string, string>>;
  const wanted = places[view] ?? `table[data-stage="${stage ?? ""}"]`;
  const place = main.querySelector(wanted) ?? main.querySelector("[data-stop]");
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const behavior = isCalm ? "instant" : "smooth";
  // where there is room X is seen below the query and the keys with their weights
  if (stage === "x" && main.clientWidth >= ROOMY) main.scrollTo({ top: 0, behavior });
  else (place?.closest(".step") ?? place)?.scrollIntoView({ block: "start", behavior });
  main.querySelector<HTMLElement>("[tabindex='-1']")?.focus({ preventScroll: true });
}
