/** What a cell says: in the status line, for eyes and for a screen reader. */
import type { JSX } from "preact";
import { weightAt } from "../../engine/path";
import type { Lang, Layer } from "../../engine/record";
import { allowedAt } from "../../engine/rule";
import { percent } from "../../explanation/words";
import { say } from "../../words";
import { nameOf } from "../tokens";
import type { Place } from "./window";
import { MAP } from "./words";

/** "Query #3 it → key #1 cat: 71.2%" */
export function told(layer: Layer, head: number, { query, key }: Place, lang: Lang): string {
  const names = { query, key, asks: nameOf(layer.tokens[query]), read: nameOf((layer.keyTokens ?? layer.tokens)[key]) };
  if (!allowedAt(layer.rule.allowed, query, key)) return say(MAP, "masked", lang, names);
  return say(MAP, "cell", lang, { ...names, percent: percent(weightAt(layer, head, query, key)) });
}

interface Telling {
  readonly layer: Layer;
  readonly head: number;
  readonly chosen: Place;
  readonly pointed: Place | null;
  readonly lang: Lang;
}

/** The chosen cell, spoken when it changes, with all the digits of its weight; and the one under the mouse. */
export function Telling({ layer, head, chosen, pointed, lang }: Telling): JSX.Element {
  const weight = weightAt(layer, head, chosen.query, chosen.key);
  return (
    <div class="telling">
      <p>
        <span role="status">{told(layer, head, chosen, lang)}</span>{" "}
        <span class="quiet digits">{say(MAP, "exactly", lang, { weight: String(weight) })}</span>
      </p>
      <p class="quiet pointed-at" aria-hidden="true">
        {pointed === null ? "\u00a0" : told(layer, head, pointed, lang)}
      </p>
    </div>
  );
}
