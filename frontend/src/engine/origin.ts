/**
 * Where a number comes from: the arithmetic of any cell of any stage, with its digits, and the cells they stand in.
 *
 * What is said adds up: the terms (with the rest, where there are many), put together as the kind says, are the value.
 */

import { isChained, isNear, pairOf, positionCode, temperatureOf } from "./chain";
import { valueAt } from "./cells";
import { kvHeadOf, namesOf, scaledAt } from "./path";
import type { Allowed, Cell, Layer, Numbers, Rotary, Stage } from "./record";
import { allowedAt, biasAt } from "./rule";

/** A product a · b of a sum. */
export interface Term {
  /** A dimension's name, a token's text, or a place where there are no names. */
  readonly name: string | number;
  readonly a: number;
  readonly b: number;
  /** Where a and b stand, in this order. */
  readonly from: readonly Cell[];
}

/** What is not told one by one: so many terms, and their sum. */
export interface Rest {
  readonly n: number;
  readonly sum: number;
}

/** Σ a · b, + what the rest comes to, + the bias. */
export interface Sum {
  readonly terms: readonly Term[];
  readonly rest: Rest | null;
  /** What is added to the sum of products; null where the projection has none. */
  readonly bias: number | null;
  readonly sum: number;
}

/** One of two dimensions that turn together: before the turn it is `sum`, of which the turn takes `factor`. */
export interface Turned extends Sum {
  readonly dimension: number;
  readonly name: string | number;
  /** cos, sin or −sin of the angle. */
  readonly factor: number;
}

/** What is done to a score, in order: `to` is the number after it. */
export type Step =
  | { readonly kind: "root"; readonly by: number; readonly to: number } // ÷ √by
  | { readonly kind: "temperature"; readonly by: number; readonly to: number } // ÷ by
  | { readonly kind: "scale"; readonly by: number; readonly to: number } // × by
  | { readonly kind: "softcap"; readonly by: number; readonly to: number } // by · tanh(… / by)
  | { readonly kind: "bias"; readonly by: number; readonly to: number }; // + by

/** A key's share of the row: exp(scaled − top). */
export interface Share {
  readonly key: number;
  readonly name: string;
  readonly scaled: number;
  readonly exp: number;
  readonly from: Cell;
}

/** A part of the rule, and what it says of this query and key. */
export type Saying =
  | { readonly kind: "everything" | "table"; readonly allows: boolean }
  | { readonly kind: "causal"; readonly allows: boolean; readonly query: number; readonly key: number }
  | {
      readonly kind: "window";
      readonly allows: boolean;
      readonly back: number;
      readonly n_back: number;
      readonly n_ahead: number;
    }
  | { readonly kind: "padding"; readonly allows: boolean }
  | { readonly kind: "document"; readonly allows: boolean; readonly query: number; readonly key: number }
  | { readonly kind: "both" | "either"; readonly allows: boolean; readonly parts: readonly [Saying, Saying] };

interface Told<Kind extends string> {
  readonly kind: Kind;
  readonly cell: Cell;
  readonly value: number;
  /** Every cell whose number is used, also those in the rest. */
  readonly from: readonly Cell[];
}

/** x and the weights: a person chose it, or it was learned. q, k, v too where x did not travel. */
export type Given = Told<"given">;
/** x of a later layer: the output of the layer before, + its x where residual, + the position code. */
export type Chained = Told<"chained"> & {
  readonly output: number;
  readonly residual: number | null;
  readonly code: number | null;
};
/** q, k, v; and the output where there is a w_o: Σ a · b + bias. */
export type Projected = Told<"projected"> & Sum;
/** q, k under rotary positions: own · cos ∓ partner · sin. */
export type Rotated = Told<"rotated"> & {
  readonly position: number;
  /** In radians. */
  readonly angle: number;
  readonly own: Turned;
  readonly partner: Turned;
};
/** A score: Σ q · k over the dimensions. */
export type Dot = Told<"dot"> & Sum;
export type Scaled = Told<"scaled"> & { readonly score: number; readonly steps: readonly Step[] };
/** 1 where the query may read the key, 0 where not. */
export type AllowedOrigin = Told<"allowed"> & { readonly saying: Saying };
/** exp(scaled − top) / total; total is the sum of exp over the keys (and rest, and sink). */
export type Softmax = Told<"softmax"> & {
  readonly scaled: number;
  readonly top: number;
  readonly exp: number;
  readonly total: number;
  readonly shares: readonly Share[];
  readonly rest: Rest | null;
  readonly sink: { readonly logit: number; readonly exp: number } | null;
  /** How many keys may not be read, and so take no part. */
  readonly n_hidden: number;
};
/** A weight that is 0 because the query may not read the key. */
export type Hidden = Told<"hidden">;
/** A weighted value: weight × value. */
export type Product = Told<"product"> & Term;
/** Σ weight · value over the keys. */
export type Mixed = Told<"mixed"> & Sum;
/** The output without a w_o: a column of one head, + b_o where there is one. */
export type Joined = Told<"joined"> & {
  readonly head: number;
  readonly column: number;
  readonly mixed: number;
  readonly bias: number | null;
};

export type Origin =
  Given | Chained | Projected | Rotated | Dot | Scaled | AllowedOrigin | Softmax | Hidden | Product | Mixed | Joined;

/** Beyond so many terms, the largest are told one by one and the rest in sum. */
export const MOST_TERMS = 12;
export const LARGEST_TERMS = 8;

type Teller = (layers: readonly Layer[], cell: Cell, value: number) => Origin;

/** The arithmetic of a cell. Errors: `NotHere` where there is no such cell, or its numbers did not travel. */
export function originOf(layers: readonly Layer[], cell: Cell): Origin {
  return TELLERS[cell.stage](layers, cell, valueAt(layers, cell));
}

const given: Teller = (_, cell, value) => ({ kind: "given", cell, value, from: [] });

const TELLERS: Readonly<Record<Stage, Teller>> = {
  x: originOfX,
  w_q: given,
  w_k: given,
  w_v: given,
  w_o: given,
  q: originOfPart,
  k: originOfPart,
  v: originOfPart,
  scores: originOfScore,
  scaled: originOfScaled,
  allowed: originOfAllowed,
  weights: originOfWeight,
  weighted_values: originOfProduct,
  mixed: originOfMixed,
  output: originOfOutput,
};

// x, q, k, v ---------------------------------------------------------------------------------------

function originOfX(layers: readonly Layer[], cell: Cell, value: number): Origin {
  if (!isChained(layers, cell.layer, cell.row)) return given(layers, cell, value);
  const before = { ...cell, layer: cell.layer - 1 };
  const output: Cell = { ...before, stage: "output" };
  const residual = layers[before.layer].source.details.residual === true;
  const coded = layers[cell.layer].source.details.positions === "sinusoidal";
  return {
    kind: "chained",
    cell,
    value,
    output: valueAt(layers, output),
    residual: residual ? valueAt(layers, before) : null,
    code: coded ? positionCode(cell.row, cell.column, layers[cell.layer].x?.columns ?? 1) : null,
    from: residual ? [output, before] : [output],
  };
}

function originOfPart(layers: readonly Layer[], cell: Cell, value: number): Origin {
  const layer = layers[cell.layer];
  if (!layer.heads || !layer.x) return given(layers, cell, value);
  const rotation = cell.stage === "v" ? null : layer.heads.rotation;
  const origin = rotation ? rotated(layers, cell, value, rotation) : projected(layers, cell, value);
  // A record may have been made in another way than x · W + b; then there is nothing to tell.
  const parts: (Sum & { factor: number })[] =
    origin.kind === "rotated" ? [origin.own, origin.partner] : [{ ...origin, factor: 1 }];
  const sum = total(parts, (part) => part.factor * part.sum);
  const kept = layer[cell.stage as "q" | "k" | "v"]?.values ?? Float64Array.of();
  return isNearAs(kept, sum, value) ? origin : given(layers, cell, value);
}

/** Equal but for the rounding of the type that the numbers are kept in. */
function isNearAs(kept: Numbers, a: number, b: number): boolean {
  return isNear(Float64Array.of(a), kept instanceof Float64Array ? Float64Array.of(b) : Float32Array.of(b));
}

function projected(layers: readonly Layer[], cell: Cell, value: number): Projected {
  const from = projectedFrom(layers[cell.layer], cell);
  return { kind: "projected", cell, value, ...projectedSum(layers, cell), from };
}

function rotated(layers: readonly Layer[], cell: Cell, value: number, rotation: Rotary): Rotated {
  const layer = layers[cell.layer];
  const { partner, isFirst, angle } = pairOf(rotation, cell.column, layer.q.width, cell.row);
  const other = { ...cell, column: partner };
  const turned = (at: Cell, factor: number): Turned => {
    return { ...projectedSum(layers, at), dimension: at.column, name: nameOf(layer, "q", at.column), factor };
  };
  return {
    kind: "rotated",
    cell,
    value,
    position: cell.row + rotation.offset,
    angle,
    own: turned(cell, Math.cos(angle)),
    partner: turned(other, isFirst ? -Math.sin(angle) : Math.sin(angle)),
    from: [...projectedFrom(layer, cell), ...projectedFrom(layer, other)],
  };
}

/** The columns of a projection that a head reads begin at `first`. */
function projectionOf(layer: Layer, { stage, head }: Cell) {
  const part = stage as "q" | "k" | "v";
  const width = (part === "v" ? layer.v : layer[part])?.width ?? 0;
  return {
    name: `w_${part}` as const,
    bias: `b_${part}` as const,
    first: (part === "q" ? head : kvHeadOf(layer, head)) * width,
  };
}

function projectedFrom(layer: Layer, cell: Cell): Cell[] {
  const { name, first } = projectionOf(layer, cell);
  return Array.from({ length: layer.x?.columns ?? 0 }, (_, i): Cell[] => [
    { layer: cell.layer, stage: "x", head: 0, row: cell.row, column: i },
    { layer: cell.layer, stage: name, head: 0, row: i, column: first + cell.column },
  ]).flat();
}

function projectedSum(layers: readonly Layer[], cell: Cell): Sum {
  const layer = layers[cell.layer];
  const { bias, first } = projectionOf(layer, cell);
  const names = namesOf(layer, "x");
  return summed(termsOf(layers, projectedFrom(layer, cell), names), biasIn(layer.heads?.[bias], first + cell.column));
}

function biasIn(b: Numbers | null | undefined, at: number): number | null {
  return b ? b[at] : null;
}

// sums ---------------------------------------------------------------------------------------------

/** The products of cells that stand in pairs. */
function termsOf(layers: readonly Layer[], pairs: readonly Cell[], names: readonly (string | number)[] | null): Term[] {
  return Array.from({ length: pairs.length / 2 }, (_, i) => {
    const [left, right] = [pairs[2 * i], pairs[2 * i + 1]];
    return { name: names?.[i] ?? i, a: valueAt(layers, left), b: valueAt(layers, right), from: [left, right] };
  });
}

function summed(terms: readonly Term[], bias: number | null): Sum {
  const told = largest(terms, (term) => Math.abs(term.a * term.b));
  const rest = restOf(terms, told, (term) => term.a * term.b);
  return { terms: told, rest, bias, sum: total(told, (term) => term.a * term.b) + (rest?.sum ?? 0) + (bias ?? 0) };
}

/** All where they are few, else the largest, in their order. */
function largest<T>(all: readonly T[], size: (one: T) => number, always = (_: T) => false): readonly T[] {
  if (all.length <= MOST_TERMS) return all;
  const order = all
    .map((one, at) => ({ at, size: always(one) ? Infinity : size(one) }))
    .sort((a, b) => b.size - a.size || a.at - b.at);
  const kept = order.slice(0, LARGEST_TERMS).map(({ at }) => at);
  return kept.sort((a, b) => a - b).map((at) => all[at]);
}

function restOf<T>(all: readonly T[], told: readonly T[], value: (one: T) => number): Rest | null {
  if (told.length === all.length) return null;
  const left = new Set(all);
  told.forEach((one) => left.delete(one));
  return { n: left.size, sum: total([...left], value) };
}

function total<T>(all: readonly T[], value: (one: T) => number): number {
  return all.reduce((sum, one) => sum + value(one), 0);
}

function nameOf(layer: Layer, what: "q" | "v" | "output", at: number): string | number {
  return namesOf(layer, what)?.[at] ?? at;
}

// scores, scaled, allowed --------------------------------------------------------------------------

function originOfScore(layers: readonly Layer[], cell: Cell, value: number): Origin {
  const layer = layers[cell.layer];
  const from = Array.from({ length: layer.q.width }, (_, i): Cell[] => [
    { ...cell, stage: "q", row: cell.row, column: i },
    { ...cell, stage: "k", row: cell.column, column: i },
  ]).flat();
  return { kind: "dot", cell, value, ...summed(termsOf(layers, from, namesOf(layer, "q")), null), from };
}

function originOfScaled(layers: readonly Layer[], cell: Cell, value: number): Origin {
  const from: Cell = { ...cell, stage: "scores" };
  const score = valueAt(layers, from);
  return { kind: "scaled", cell, value, score, steps: stepsOf(layers[cell.layer], cell, score), from: [from] };
}

function stepsOf(layer: Layer, { head, row, column }: Cell, score: number): Step[] {
  const { softcap, bias } = layer.rule;
  const steps = scaleSteps(layer, score);
  let to = steps[steps.length - 1].to;
  if (softcap !== null) steps.push({ kind: "softcap", by: softcap, to: (to = softcap * Math.tanh(to / softcap)) });
  if (bias === null) return steps;
  const by = biasAt(bias, head, row, column);
  return [...steps, { kind: "bias", by, to: to + by }];
}

/** How the scale came about: the root of d_head, with a temperature after it, or a number (explanation/facts.py). */
function scaleSteps(layer: Layer, score: number): Step[] {
  const { scale } = layer.rule;
  const [width, temperature] = [layer.q.width, temperatureOf(layer.source)];
  const rooted = score / Math.sqrt(width);
  if (scale === null) return [{ kind: "root", by: width, to: rooted }];
  if (temperature !== 1 && Math.abs(scale * temperature * Math.sqrt(width) - 1) <= 1e-12) {
    return [
      { kind: "root", by: width, to: rooted },
      { kind: "temperature", by: temperature, to: rooted / temperature },
    ];
  }
  return [{ kind: "scale", by: scale, to: score * scale }];
}

function originOfAllowed(layers: readonly Layer[], cell: Cell, value: number): Origin {
  return {
    kind: "allowed",
    cell,
    value,
    saying: sayingOf(layers[cell.layer].rule.allowed, cell.row, cell.column),
    from: [],
  };
}

function sayingOf(allowed: Allowed, query: number, key: number): Saying {
  const allows = allowedAt(allowed, query, key);
  switch (allowed.kind) {
    case "causal":
      return { kind: "causal", allows, query: query + allowed.offset, key };
    case "window":
      return {
        kind: "window",
        allows,
        back: query + allowed.offset - key,
        n_back: allowed.n_back,
        n_ahead: allowed.n_ahead,
      };
    case "document":
      return { kind: "document", allows, query: allowed.ids[query + allowed.offset], key: allowed.ids[key] };
    case "both":
    case "either":
      return {
        kind: allowed.kind,
        allows,
        parts: [sayingOf(allowed.first, query, key), sayingOf(allowed.second, query, key)],
      };
    default:
      return { kind: allowed.kind, allows };
  }
}

// weights, values, output --------------------------------------------------------------------------

function originOfWeight(layers: readonly Layer[], cell: Cell, value: number): Origin {
  const layer = layers[cell.layer];
  const { head, row: query, column: key } = cell;
  const isAllowed: Cell = { ...cell, stage: "allowed", head: 0 };
  if (!allowedAt(layer.rule.allowed, query, key)) return { kind: "hidden", cell, value, from: [isAllowed] };
  const logit = layer.rule.sink?.[head] ?? null;
  const found = scaledOf(layer, cell);
  const top = found.reduce((most, share) => Math.max(most, share.scaled), logit ?? -Infinity);
  const all = found.map((share) => ({ ...share, exp: Math.exp(share.scaled - top) }));
  const shares = largest(
    all,
    (share) => share.exp,
    (share) => share.key === key,
  );
  const sink = logit === null ? null : { logit, exp: Math.exp(logit - top) };
  const scaled = scaledAt(layer, head, query, key);
  return {
    kind: "softmax",
    cell,
    value,
    scaled,
    top,
    exp: Math.exp(scaled - top),
    total: total(all, (share) => share.exp) + (sink?.exp ?? 0),
    shares,
    rest: restOf(all, shares, (share) => share.exp),
    sink,
    n_hidden: layer.k.rows - all.length,
    from: [...all.map((share) => share.from), isAllowed],
  };
}

/** The keys that may be read. */
function scaledOf(layer: Layer, cell: Cell): Omit<Share, "exp">[] {
  return keyNames(layer).flatMap((name, key) => {
    if (!allowedAt(layer.rule.allowed, cell.row, key)) return [];
    const scaled = scaledAt(layer, cell.head, cell.row, key);
    return [{ key, name, scaled, from: { ...cell, stage: "scaled", column: key } }];
  });
}

function originOfProduct(layers: readonly Layer[], cell: Cell, value: number): Origin {
  const from = weightAndValue(cell, cell.query ?? 0, cell.row, cell.column);
  const term = termsOf(layers, from, [keyNames(layers[cell.layer])[cell.row]])[0];
  return { kind: "product", cell, value, ...term };
}

function originOfMixed(layers: readonly Layer[], cell: Cell, value: number): Origin {
  const names = keyNames(layers[cell.layer]);
  const from = names.flatMap((_, key) => weightAndValue(cell, cell.row, key, cell.column));
  return { kind: "mixed", cell, value, ...summed(termsOf(layers, from, names), null), from };
}

function keyNames(layer: Layer): string[] {
  return (layer.keyTokens ?? layer.tokens).map((token) => token.label.text);
}

function weightAndValue({ layer, head }: Cell, query: number, key: number, column: number): Cell[] {
  return [
    { layer, stage: "weights", head, row: query, column: key },
    { layer, stage: "v", head, row: key, column },
  ];
}

function originOfOutput(layers: readonly Layer[], cell: Cell, value: number): Origin {
  const { v, q, heads } = layers[cell.layer];
  const width = v?.width ?? 1;
  const bias = biasIn(heads?.b_o, cell.column);
  const mixedCell = (at: number): Cell => ({
    ...cell,
    stage: "mixed",
    head: Math.floor(at / width),
    column: at % width,
  });
  if (!heads?.w_o) {
    const from = mixedCell(cell.column);
    return {
      kind: "joined",
      cell,
      value,
      head: from.head,
      column: from.column,
      mixed: valueAt(layers, from),
      bias,
      from: [from],
    };
  }
  const from = Array.from({ length: q.heads * width }, (_, at): Cell[] => [
    mixedCell(at),
    { ...cell, stage: "w_o", head: 0, row: at },
  ]).flat();
  const names = q.heads === 1 ? namesOf(layers[cell.layer], "v") : null;
  return { kind: "projected", cell, value, ...summed(termsOf(layers, from, names), bias), from };
}
