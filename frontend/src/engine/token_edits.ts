/** Tokens added, renamed, removed, moved: their rows of x, the rules that name them, and what the source says of them. */

import { MOST, type Sheet, type SheetLayer } from "./chain";
import { allowedFor, biasFor, placesOf, rearranged, type Places } from "./places";
import type { Label, Source, Token } from "./record";
import { placeOf, Refused, textOf } from "./refused";
import { wantedFor } from "./wanted";

export type TokenEdit =
  | { readonly add: "token"; readonly at: number; readonly text: string }
  | { readonly rename: "token"; readonly at: number; readonly text: string }
  | { readonly remove: "token"; readonly at: number }
  | { readonly move: "token"; readonly from: number; readonly to: number };

export function withTokens(sheet: Sheet, edit: TokenEdit): Sheet {
  const n = sheet.tokens.length;
  if ("rename" in edit) return renamed(sheet, placeOf("token", edit.at, n), textOf(edit.text));
  if ("move" in edit) for (const at of [edit.from, edit.to]) placeOf("token", at, n);
  else placeOf("token", edit.at, "add" in edit ? n + 1 : n);
  if ("remove" in edit && n === 1) throw new Refused("last_token");
  if ("add" in edit && n === MOST) throw new Refused("too_many_tokens", { most: MOST });
  const added = named("add" in edit ? textOf(edit.text) : "");
  const places = placesOf(edit, n);
  return withTokensAt(
    sheet,
    places,
    places.map((from) => (from === null ? added : sheet.tokens[from])),
  );
}

/** The sheet with these tokens, of which each stood at a place before, or is new. */
export function withTokensAt(sheet: Sheet, places: Places, tokens: readonly Token[]): Sheet {
  const sentence = tokens.map((token) => token.text).join(" ");
  return {
    ...sheet,
    tokens: spanned(tokens, sentence),
    x: rearranged(sheet.x, places, null),
    layers: sheet.layers.map((layer) => layerFor(layer, places, sentence)),
    wanted: wantedFor(sheet.wanted, places),
  };
}

const identities = new WeakMap<Label, Label>();

/** What stays the same of a token in every edit, also when it is renamed: the label that it came with. */
export function identityOf(token: Token): Label {
  return identities.get(token.label) ?? token.label;
}

/** A token that a person typed: shown as it is. */
export function named(text: string, before?: Token): Token {
  const label: Label = { text, part: 1, parts: 1, raw: null, special: false };
  if (before) identities.set(label, identityOf(before));
  return { text, span: null, label };
}

function layerFor(layer: SheetLayer, places: Places, sentence: string): SheetLayer {
  return {
    ...layer,
    x: layer.x && rearranged(layer.x, places, null),
    allowed: allowedFor(layer.allowed, places),
    bias: biasFor(layer.bias, places),
    source: sourceFor(layer.source, places, sentence),
  };
}

/** The token to look at first goes where it went; a sentence, where there is one, is the tokens side by side. */
function sourceFor(source: Source, places: Places, sentence: string): Source {
  const { focus, ...details } = source.details;
  const at = focus === undefined ? -1 : places.indexOf(focus);
  const said = details.sentence === undefined ? {} : { sentence };
  return { ...source, details: { ...details, ...said, ...(at < 0 ? {} : { focus: at }) } };
}

/** Another text in its place, in the sentence too. */
function renamed(sheet: Sheet, at: number, text: string): Sheet {
  const before = sheet.tokens[at];
  const tokens = sheet.tokens.with(at, named(text, before));
  const said = sheet.layers[0].source.details.sentence;
  const sentence =
    said === undefined || !before.span ? tokens.map((token) => token.text).join(" ") : spliced(said, before.span, text);
  const told = (source: Source) =>
    said === undefined ? source : { ...source, details: { ...source.details, sentence } };
  const layers = sheet.layers.map((layer) => ({ ...layer, source: told(layer.source) }));
  return { ...sheet, tokens: spanned(tokens, sentence), layers };
}

function spliced(sentence: string, [start, end]: readonly [number, number], text: string): string {
  const characters = [...sentence]; // spans count characters as Python does, not UTF-16 units
  return [...characters.slice(0, start), text, ...characters.slice(end)].join("");
}

/** The tokens with their places in the sentence, in order; null for one that does not stand there. */
export function spanned(tokens: readonly Token[], sentence: string): Token[] {
  let at = 0;
  return tokens.map((token) => {
    const found = token.text ? sentence.indexOf(token.text, at) : -1;
    if (found < 0) return { ...token, span: null };
    at = found + token.text.length;
    const start = [...sentence.slice(0, found)].length;
    return { ...token, span: [start, start + [...token.text].length] };
  });
}
