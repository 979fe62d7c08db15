/** Dimensions added, renamed, removed, moved: all that is counted in them changes together, so that layers still fit. */

import { MOST, type Sheet, type SheetLayer } from "./chain";
import { placesOf, realigned, rearranged, type Places } from "./places";
import type { Numbers, Source } from "./record";
import { placeOf, Refused, textOf } from "./refused";

export type DimensionEdit =
  | { readonly add: "dimension"; readonly at: number; readonly text: string }
  | { readonly rename: "dimension"; readonly at: number; readonly text: string }
  | { readonly remove: "dimension"; readonly at: number }
  | { readonly move: "dimension"; readonly from: number; readonly to: number };

export function withDimensions(sheet: Sheet, edit: DimensionEdit): Sheet {
  const n = sheet.x.columns;
  if ("rename" in edit) return renamed(sheet, placeOf("dimension", edit.at, n), edit.text);
  if ("move" in edit) for (const at of [edit.from, edit.to]) placeOf("dimension", at, n);
  else placeOf("dimension", edit.at, "add" in edit ? n + 1 : n);
  if ("remove" in edit && n === 1) throw new Refused("last_dimension");
  if ("add" in edit && n === MOST) throw new Refused("too_many_dimensions", { most: MOST });
  const added = "add" in edit && sheet.dimensions ? nameOf(edit.text, sheet.dimensions) : "";
  const places = placesOf(edit, n);
  const names = sheet.dimensions;
  const dimensions = names && places.map((from) => (from === null ? added : names[from]));
  const layers = layersFor(sheet, places, "move" in edit);
  return {
    ...sheet,
    dimensions,
    x: rearranged(sheet.x, null, places),
    layers: layers.map((layer) => ({
      ...layer,
      source: meaningFor(layer.source, (name) => (dimensions?.includes(name) ? name : null)),
    })),
  };
}

/** A name in NFC that can be seen, and that none of the others has. */
export function nameOf(text: unknown, others: readonly string[]): string {
  const name = textOf(text);
  if (!name.trim()) throw new Refused("no_name");
  if (others.includes(name)) throw new Refused("name_twice", { name });
  return name;
}

function renamed(sheet: Sheet, at: number, text: string): Sheet {
  if (!sheet.dimensions) throw new Refused("unnamed");
  const before = sheet.dimensions[at];
  const after = nameOf(text, sheet.dimensions.toSpliced(at, 1));
  const layers = sheet.layers.map((layer) => {
    return { ...layer, source: meaningFor(layer.source, (name) => (name === before ? after : name)) };
  });
  return { ...sheet, dimensions: sheet.dimensions.with(at, after), layers };
}

/** The source with its words for the dimensions under their new names; null: the dimension is gone. */
function meaningFor(source: Source, nameFor: (name: string) => string | null): Source {
  const { meaning, ...details } = source.details;
  if (!meaning) return source;
  const kept = Object.entries(meaning).map(([name, words]) => [nameFor(name), words] as const);
  const told = Object.fromEntries(kept.filter(([name]) => name !== null));
  return { ...source, details: { ...details, ...(Object.keys(told).length ? { meaning: told } : {}) } };
}

/** Which parts of a layer are counted in the embedding's dimensions. */
interface Counted {
  readonly x: boolean;
  readonly qk: boolean;
  readonly v: boolean;
  readonly output: boolean;
}

/** With one head as wide as the embedding, q, k and v are read in its names (explanation/facts.py names_of). */
function countedIn(layer: SheetLayer, x: boolean, n: number): Counted {
  const alone = x && layer.n_heads === 1;
  const v = alone && layer.w_v.columns === n;
  const output = layer.w_o ? x && layer.w_o.columns === n : v;
  return { x, qk: alone && layer.w_q.columns === n, v, output };
}

function layersFor(sheet: Sheet, places: Places, moved: boolean): SheetLayer[] {
  const n = sheet.x.columns;
  let reads = true;
  return sheet.layers.map((layer, at) => {
    const counted = countedIn(layer, layer.x ? layer.x.columns === n : reads, n);
    refuseMisfit(layer, counted, at, n, moved);
    reads = counted.output;
    return layerFor(layer, counted, places);
  });
}

function refuseMisfit(layer: SheetLayer, counted: Counted, at: number, n: number, moved: boolean): void {
  if (layer.rotation && counted.qk) throw new Refused("rotary", { layer: at });
  const joined = counted.x && !layer.w_o && !counted.output && outputWidth(layer) === n;
  if (joined && (layer.residual || moved)) throw new Refused("joined_heads", { layer: at });
}

/** How wide the output is: the heads side by side, or what w_o makes of them. */
export function outputWidth(layer: SheetLayer): number {
  return layer.w_o ? layer.w_o.columns : (layer.w_v.columns / layer.n_kv_heads) * layer.n_heads;
}

function layerFor(layer: SheetLayer, counted: Counted, places: Places): SheetLayer {
  const [x, qk, v, output] = [counted.x, counted.qk, counted.v, counted.output].map((is) => (is ? places : null));
  const aligned = (b: Numbers | null, on: Places | null) => (b && on ? realigned(b, on) : b);
  return {
    ...layer,
    x: layer.x && rearranged(layer.x, null, x),
    w_q: rearranged(layer.w_q, x, qk),
    w_k: rearranged(layer.w_k, x, qk),
    w_v: rearranged(layer.w_v, x, v),
    w_o: layer.w_o && rearranged(layer.w_o, v, output),
    b_q: aligned(layer.b_q, qk),
    b_k: aligned(layer.b_k, qk),
    b_v: aligned(layer.b_v, v),
    b_o: aligned(layer.b_o, output),
  };
}
