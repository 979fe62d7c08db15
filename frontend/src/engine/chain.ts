/** A worked example as one editable whole: what was given, and every layer computed from it, one after the other. */

import { outputRowOf } from "./path";
import { throughTable } from "./products";
import type { Allowed, Bias, Heads, Layer, Numbers, PerHead, Rotary, Source, Table, Token } from "./record";
import { Refused } from "./refused";
import { wantedIn, type Wanted } from "./wanted";

/** At most so many tokens, and at most so wide, is edited by hand. */
export const MOST = 64;

/** One layer of a sheet: all that makes it from the x it reads. */
export interface SheetLayer extends Heads {
  /** null: what the layer before hands on (or, in the first layer, the sheet's x). */
  readonly x: Table | null;
  readonly n_heads: number;
  readonly n_kv_heads: number;
  /** null: 1/√d_head. The temperature is not in it. */
  readonly scale: number | null;
  readonly temperature: number;
  readonly softcap: number | null;
  readonly bias: Bias | null;
  readonly sink: Numbers | null;
  readonly allowed: Allowed;
  /** True where the next layer reads x + output instead of the output. */
  readonly residual: boolean;
  /** True where the position code is added to what this layer reads; in the first layer it is in x already. */
  readonly coded: boolean;
  readonly source: Source;
}

/** What a person may edit. Never changed: an edit makes a new one. */
export interface Sheet {
  readonly tokens: readonly Token[];
  readonly dimensions: readonly string[] | null;
  /** (token, d_model), as the first layer reads it */
  readonly x: Table;
  readonly layers: readonly SheetLayer[];
  /** What attention the last layer should have; empty where nothing is wanted. */
  readonly wanted: Wanted;
}

export type Projection = "w_q" | "w_k" | "w_v" | "w_o";

/** An editable sheet of these layers; null where x or the weights did not travel, or it is too large to edit. */
export function sheetOf(layers: readonly Layer[]): Sheet | null {
  const first = layers[0];
  if (!first?.x || !layers.every((layer) => isEditable(layer) && layer.q.rows === first.q.rows)) return null;
  const sheet: Sheet = {
    tokens: first.tokens,
    dimensions: first.dimensions,
    x: first.x,
    layers: layers.map((layer, at) => sheetLayer(layer, at === 0 || isChained(layers, at) ? null : layer.x)),
    wanted: wantedOf(layers[layers.length - 1]),
  };
  return layersOf(sheet).every((layer, at) => isAlike(layer, layers[at])) ? sheet : null;
}

/** What the record says is wanted; a wish that does not fit its tokens is none. */
function wantedOf({ source, q }: Layer): Wanted {
  try {
    return wantedIn(source.details.wanted, q.heads, q.rows);
  } catch (error) {
    if (error instanceof Refused) return [];
    throw error;
  }
}

function isEditable(layer: Layer): boolean {
  if (!layer.x || !layer.heads || layer.keyTokens || !layer.exact) return false;
  const { w_q, w_k, w_v, w_o } = layer.heads;
  const tables = [layer.x, w_q, w_k, w_v, ...(w_o ? [w_o] : [])];
  return tables.every((table) => Math.max(table.rows, table.columns) <= MOST);
}

function sheetLayer(layer: Layer, x: Table | null): SheetLayer {
  const { source, rule, q, k } = layer;
  const { rotation, ...given } = layer.heads as Heads;
  return {
    x,
    ...given,
    n_heads: q.heads,
    n_kv_heads: k.heads,
    ...partedScale(rule.scale, temperatureOf(source), q.width),
    softcap: rule.softcap,
    bias: rule.bias,
    sink: rule.sink,
    allowed: rule.allowed,
    rotation,
    residual: source.details.residual === true,
    coded: source.details.positions === "sinusoidal",
    source,
  };
}

/** What the scaled score was divided by besides, as the source says it; the rule's scale holds it already. */
export function temperatureOf(source: Source): number {
  const said = source.details.temperature;
  return typeof said === "number" && said > 0 && Number.isFinite(said) ? said : 1;
}

/** The rule's scale, parted into what was given as scale and the temperature that was folded into it. */
function partedScale(
  scale: number | null,
  temperature: number,
  dHead: number,
): Pick<SheetLayer, "scale" | "temperature"> {
  if (scale === null || temperature === 1) return { scale, temperature: 1 };
  const usual = Math.abs(scale * temperature * Math.sqrt(dHead) - 1) <= 1e-12;
  return { scale: usual ? null : scale * temperature, temperature };
}

/** Whether a later layer reads what the layer before it hands on; of one row, or of all. */
export function isChained(layers: readonly Layer[], at: number, row?: number): boolean {
  const [before, { x, source }] = [layers[at - 1], layers[at]];
  if (!x || !before) return false;
  return (row === undefined ? [...Array(x.rows).keys()] : [row]).every((one) => {
    const given = handedOnRow(before, one, source.details.positions === "sinusoidal");
    return given !== null && isNear(given, x.values.subarray(one * x.columns, (one + 1) * x.columns));
  });
}

/** What a layer hands on to the next, which may add the position code; null where that cannot be. */
function handedOn(layer: Layer, coded: boolean): Table | null {
  const rows = Array.from({ length: layer.q.rows }, (_, row) => handedOnRow(layer, row, coded) ?? []);
  const columns = rows[0].length;
  return columns === 0
    ? null
    : { rows: rows.length, columns, values: Float64Array.from(rows.flatMap((row) => [...row])) };
}

/** Output, + x where residual, + the position code; null where values did not travel, or x and output differ in width. */
function handedOnRow(layer: Layer, row: number, coded: boolean): Float64Array | null {
  const output = outputRowOf(layer, row);
  const isResidual = layer.source.details.residual === true;
  if (!output || (isResidual && layer.x?.columns !== output.length)) return null;
  const x = isResidual && layer.x ? layer.x.values.subarray(row * output.length) : null;
  return Float64Array.from({ length: output.length }, (_, at) => {
    return output[at] + (x ? x[at] : 0) + (coded ? positionCode(row, at, output.length) : 0);
  });
}

/** The position code of a dimension at a position: sines in the even dimensions, cosines in the odd. */
export function positionCode(position: number, dimension: number, width: number): number {
  const angle = position / 10_000 ** ((2 * Math.floor(dimension / 2)) / width);
  return dimension % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
}

const kept = new WeakMap<Sheet, Layer[]>();

/** Every layer, computed anew from the sheet in doubles; the same sheet gives the same layers. */
export function layersOf(sheet: Sheet): Layer[] {
  let layers = kept.get(sheet);
  if (!layers) {
    layers = [];
    for (const given of sheet.layers) layers.push(computed(sheet, given, layers.at(-1) ?? null));
    kept.set(sheet, layers);
  }
  return layers;
}

function computed(sheet: Sheet, given: SheetLayer, before: Layer | null): Layer {
  const x = given.x ?? (before ? handedOn(before, given.coded) : sheet.x);
  if (!x) throw new RangeError("a residual sum of two widths");
  const { w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, rotation, softcap, bias, sink, allowed } = given;
  return {
    tokens: sheet.tokens,
    keyTokens: null,
    q: turned(projected(x, w_q, b_q, given.n_heads), rotation),
    k: turned(projected(x, w_k, b_k, given.n_kv_heads), rotation),
    v: projected(x, w_v, b_v, given.n_kv_heads),
    rule: { scale: foldedScale(given), allowed, softcap, bias, sink },
    x,
    heads: { w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, rotation },
    dimensions: sheet.dimensions?.length === x.columns ? sheet.dimensions : null,
    source: given === sheet.layers.at(-1) ? sourceOf(given.source, sheet.wanted) : given.source,
    lse: null,
    exact: true,
  };
}

/** The source with what is wanted now. */
function sourceOf(source: Source, wanted: Wanted): Source {
  const { wanted: said, ...details } = source.details;
  if (wanted.length === 0) return said === undefined ? source : { ...source, details };
  return said === wanted ? source : { ...source, details: { ...details, wanted } };
}

/** The rule's scale: the temperature is folded into it. null: 1/√d_head. */
export function foldedScale(layer: SheetLayer): number | null {
  if (layer.scale === null && layer.temperature === 1) return null;
  return (layer.scale ?? 1 / Math.sqrt(layer.w_q.columns / layer.n_heads)) / layer.temperature;
}

/** x · W + b, the columns dealt to the heads in order. */
export function projected(x: Table, w: Table, b: Numbers | null, heads: number): PerHead {
  const width = w.columns / heads;
  const values = new Float64Array(x.rows * w.columns);
  for (let row = 0; row < x.rows; row++) {
    const joined = throughTable(x.values.subarray(row * x.columns, (row + 1) * x.columns), w);
    if (b) for (let column = 0; column < joined.length; column++) joined[column] += b[column];
    for (let head = 0; head < heads; head++) {
      values.set(joined.subarray(head * width, (head + 1) * width), (head * x.rows + row) * width);
    }
  }
  return { heads, rows: x.rows, width, values };
}

/** Which two dimensions turn together, which of them is the first, and by what angle at a position, in radians. */
export function pairOf(rotation: Rotary, dimension: number, width: number, position: number) {
  const half = width / 2;
  const pair = rotation.interleaved ? Math.floor(dimension / 2) : dimension % half;
  const isFirst = rotation.interleaved ? dimension % 2 === 0 : dimension < half;
  const step = rotation.interleaved ? 1 : half;
  return {
    partner: isFirst ? dimension + step : dimension - step,
    isFirst,
    angle: (position + rotation.offset) * rotation.base ** ((-2 * pair) / width),
  };
}

function turned(given: PerHead, rotation: Rotary | null): PerHead {
  if (!rotation) return given;
  const { rows, width } = given;
  const values = given.values.map((own, at) => {
    const column = at % width;
    const { partner, isFirst, angle } = pairOf(rotation, column, width, Math.floor(at / width) % rows);
    const other = given.values[at - column + partner];
    return own * Math.cos(angle) + (isFirst ? -other : other) * Math.sin(angle);
  });
  return { ...given, values };
}

/** Whether the layer computed here is the one that travelled: a layer made in another way is not ours to edit. */
function isAlike(mine: Layer, theirs: Layer): boolean {
  return (["q", "k", "v"] as const).every((name) => {
    const [a, b] = [mine[name] as PerHead, theirs[name]];
    return b === null || (a.heads === b.heads && a.width === b.width && isNear(a.values, b.values));
  });
}

/** Equal but for the rounding of the type that `theirs` came in. */
export function isNear(mine: Numbers, theirs: Numbers): boolean {
  if (mine.length !== theirs.length) return false;
  let size = 1;
  for (const value of theirs) size = Math.max(size, Math.abs(value));
  const most = size * (theirs instanceof Float64Array ? 1e-9 : 1e-4);
  return mine.every((value: number, at: number) => Math.abs(value - theirs[at]) <= most);
}
