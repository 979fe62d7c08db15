/** A sheet in an address: only what differs from the original, so that a link carries an edit. */

import { matched } from "./changes";
import { nameOf, outputWidth } from "./dimension_edits";
import type { Numbers, Source, Table } from "./record";
import { finite, inRange, Refused, textOf } from "./refused";
import { checked, MOST, tableOf, type Sheet, type SheetLayer } from "./sheet";
import { identityOf, named, spanned, withTokensAt } from "./token_edits";
import { wantedIn } from "./wanted";

/** A table's numbers that differ: place, number, place, number, …; where its size is another, all that are not 0. */
interface Cells {
  readonly size?: readonly [rows: number, columns: number];
  readonly cells: readonly number[];
}

const TABLES = ["x", "w_q", "w_k", "w_v", "w_o"] as const;
const VECTORS = ["b_q", "b_k", "b_v", "b_o"] as const;
const SAID = ["sentence", "focus", "meaning"] as const;

interface LayerParts {
  readonly numbers?: Readonly<Record<string, Cells>>;
  readonly scale?: number | null;
  readonly temperature?: number;
  /** The table of who may read whom, four cells a hexadecimal digit. */
  readonly allowed?: string;
}

interface Parts {
  /** Which original it is a change of. */
  readonly of: string;
  /** For each token its place in the original; with another text, both; a new one has no place. */
  readonly tokens?: readonly (number | readonly [place: number | null, text: string])[];
  readonly dimensions?: readonly string[];
  readonly said?: Readonly<Record<string, unknown>>;
  readonly x?: Cells;
  readonly layers?: Readonly<Record<string, LayerParts>>;
  readonly wanted?: Sheet["wanted"];
}

/** What differs from the original, as text for an address; null where nothing does. */
export function packed(sheet: Sheet, original: Sheet): string | null {
  const tokens = tokenParts(sheet, original);
  const base = tokens ? withTokenParts(original, tokens) : original;
  const parts = something({
    tokens,
    dimensions: same(sheet.dimensions, original.dimensions) ? undefined : (sheet.dimensions ?? undefined),
    said: saidParts(sheet.layers[0].source, base.layers[0].source),
    x: cellsOf(sheet.x, base.x),
    layers: something(
      Object.fromEntries(
        sheet.layers.map((layer, at) => [at, layerParts(layer, base.layers[at], sheet.tokens.length)]),
      ),
    ),
    wanted: same(sheet.wanted, base.wanted) ? undefined : sheet.wanted,
  });
  if (!parts) return null;
  const text = JSON.stringify({ of: signOf(original), ...parts });
  return `${base64url(text)}.${hashOf(text)}`;
}

/** The sheet that `packed` was given. Errors: `Refused`, also for a text that was cut or made by somebody else. */
export function unpacked(text: string, original: Sheet): Sheet {
  const parts = partsOf(text);
  if (parts.of !== signOf(original)) throw new Refused("another_example");
  try {
    return checked(fitting(withParts(original, parts)));
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("damaged");
  }
}

/** What has a value; undefined where nothing has. */
function something<T extends object>(parts: T): T | undefined {
  const said = Object.entries(parts).filter(([, part]) => part !== undefined);
  return said.length ? (Object.fromEntries(said) as T) : undefined;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

// text ---------------------------------------------------------------------------------------------

/** JSON text in UTF-8 in the letters that an address may hold. */
function base64url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function partsOf(text: string): Parts {
  try {
    const [body, hash, ...more] = text.split(".");
    const letters = atob(body.replaceAll("-", "+").replaceAll("_", "/"));
    const plain = new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(letters, (letter) => letter.charCodeAt(0)),
    );
    if (more.length || hashOf(plain) !== hash) throw new Refused("damaged");
    return mapIn(JSON.parse(plain)) as unknown as Parts;
  } catch {
    throw new Refused("damaged");
  }
}

/** FNV-1a, 32 bits: tells a text that was cut or changed by accident; it keeps no secret. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}

const signs = new WeakMap<Sheet, string>();

/** What an original is known by. */
function signOf(original: Sheet): string {
  const sign = signs.get(original) ?? hashOf(JSON.stringify(numbersOf(original)));
  signs.set(original, sign);
  return sign;
}

function numbersOf(sheet: Sheet): unknown {
  const layers = sheet.layers.map((layer) => [
    [...TABLES, ...VECTORS].map((name) => valuesOf(layer[name])),
    [layer.scale, layer.temperature, layer.n_heads, ...tableOf(layer.allowed, sheet.tokens.length)],
  ]);
  return [sheet.tokens.map((token) => token.text), sheet.dimensions, valuesOf(sheet.x), layers];
}

function valuesOf(part: Table | Numbers | null): number[] | null {
  return part && [...("rows" in part ? part.values : part)];
}

// what differs -------------------------------------------------------------------------------------

function tokenParts(sheet: Sheet, original: Sheet): Parts["tokens"] {
  const placeOf = matched(original.tokens.map(identityOf), sheet.tokens.map(identityOf));
  const parts = sheet.tokens.map(({ text }, at) => {
    const place = placeOf(at);
    return place !== null && original.tokens[place].text === text ? place : ([place, text] as const);
  });
  return same(parts, [...original.tokens.keys()]) ? undefined : parts;
}

function saidParts(source: Source, base: Source): Parts["said"] {
  const differ = SAID.filter((name) => !same(source.details[name], base.details[name]));
  return something(Object.fromEntries(differ.map((name) => [name, source.details[name] ?? null])));
}

function layerParts(layer: SheetLayer, base: SheetLayer, n: number): LayerParts | undefined {
  const numbers = [...TABLES, ...VECTORS].map((name) => [name, cellsOf(tableIn(layer, name), tableIn(base, name))]);
  const [allowed, allowedBefore] = [layer, base].map((one) => hexOf(tableOf(one.allowed, n)));
  return something({
    numbers: something(Object.fromEntries(numbers)),
    scale: layer.scale === base.scale ? undefined : layer.scale,
    temperature: layer.temperature === base.temperature ? undefined : layer.temperature,
    allowed: allowed === allowedBefore ? undefined : allowed,
  });
}

/** A matrix, or a bias as a table of one row. */
function tableIn(layer: SheetLayer, name: (typeof TABLES)[number] | (typeof VECTORS)[number]): Table | null {
  const part = layer[name];
  return part && !("rows" in part) ? { rows: 1, columns: part.length, values: part } : part;
}

function cellsOf(table: Table | null, base: Table | null): Cells | undefined {
  if (!table || !base) return undefined;
  const isOfSize = table.rows === base.rows && table.columns === base.columns;
  const cells = Array.from(table.values).flatMap((value, at) =>
    value === (isOfSize ? base.values[at] : 0) ? [] : [at, value],
  );
  if (isOfSize) return cells.length ? { cells } : undefined;
  return { size: [table.rows, table.columns], cells };
}

function hexOf(cells: Uint8Array): string {
  let hex = "";
  for (let at = 0; at < cells.length; at += 4) {
    const [a, b, c, d] = cells.subarray(at, at + 4);
    hex += (8 * a + 4 * (b ?? 0) + 2 * (c ?? 0) + (d ?? 0)).toString(16);
  }
  return hex;
}

// what came in an address --------------------------------------------------------------------------

function withParts(original: Sheet, parts: Parts): Sheet {
  const sheet = parts.tokens === undefined ? original : withTokenParts(original, parts.tokens);
  const dimensions = parts.dimensions === undefined ? sheet.dimensions : namesIn(parts.dimensions);
  const layers = mapIn(parts.layers ?? {});
  if (Object.keys(layers).some((at) => !sheet.layers[Number(at)])) throw new Refused("damaged");
  const made = sheet.layers.map((layer, at) =>
    withLayerParts(layer, mapIn(layers[at] ?? {}) as LayerParts, sheet.tokens.length),
  );
  const heads = made[made.length - 1].n_heads;
  const wanted = parts.wanted === undefined ? sheet.wanted : wantedIn(parts.wanted, heads, sheet.tokens.length);
  const x = withCells(sheet.x, parts.x);
  return withSaid({ ...sheet, dimensions, x, layers: made, wanted }, mapIn(parts.said ?? {}));
}

function withTokenParts(original: Sheet, parts: Parts["tokens"]): Sheet {
  const n = original.tokens.length;
  const said = listIn(parts).map((part) => {
    const [place, text] = typeof part === "number" ? [wholeIn(part, n), null] : listIn(part);
    return { place: place === null ? null : wholeIn(place, n), text: text === null ? null : textOf(text) };
  });
  const places = said.map(({ place }) => place);
  const known = places.filter((place) => place !== null);
  if (!said.length || said.length > MOST || new Set(known).size < known.length) throw new Refused("damaged");
  const tokens = said.map(({ place, text }) => {
    const before = place === null ? undefined : original.tokens[place];
    return text === null && before ? before : named(text ?? "", before);
  });
  return withTokensAt(original, places, tokens);
}

function namesIn(parts: unknown): string[] {
  const names: string[] = [];
  for (const name of listIn(parts)) names.push(nameOf(name, names));
  return names;
}

function withLayerParts(layer: SheetLayer, parts: LayerParts, n: number): SheetLayer {
  const numbers = mapIn(parts.numbers ?? {});
  const tables = TABLES.map((name) => [name, layer[name] && withCells(layer[name], numbers[name])]);
  const vectors = VECTORS.map((name) => [
    name,
    tableIn(layer, name) && withCells(tableIn(layer, name) as Table, numbers[name]).values,
  ]);
  const temperature = parts.temperature === undefined ? layer.temperature : inRange("temperature", parts.temperature);
  const { source } = layer;
  return {
    ...layer,
    ...(Object.fromEntries([...tables, ...vectors]) as Partial<SheetLayer>),
    scale: parts.scale === undefined ? layer.scale : parts.scale === null ? null : inRange("scale", parts.scale),
    temperature,
    source: temperature === layer.temperature ? source : { ...source, details: { ...source.details, temperature } },
    allowed:
      parts.allowed === undefined ? layer.allowed : { kind: "table", columns: n, cells: bitsIn(parts.allowed, n * n) },
  };
}

function withCells(table: Table, parts: unknown): Table {
  if (parts === undefined) return table;
  const { size, cells } = mapIn(parts);
  const [rows, columns] =
    size === undefined ? [table.rows, table.columns] : listIn(size).map((n) => wholeIn(n, MOST + 1));
  const values = size === undefined ? Float64Array.from(table.values) : new Float64Array(rows * columns);
  const said = listIn(cells);
  for (let at = 0; at < said.length; at += 2) values[wholeIn(said[at], values.length)] = finite(said[at + 1]);
  return { rows, columns, values };
}

/** What the source says, in every layer: only what jumok looks for there. */
function withSaid(sheet: Sheet, said: Readonly<Record<string, unknown>>): Sheet {
  const { sentence, focus, meaning } = said;
  const details = {
    ...(sentence === undefined ? {} : { sentence: sentence === null ? undefined : sentenceIn(sentence) }),
    ...(focus === undefined ? {} : { focus: focus === null ? undefined : wholeIn(focus, sheet.tokens.length) }),
    ...(meaning === undefined ? {} : { meaning: meaning === null ? undefined : meaningIn(meaning) }),
  };
  const layers = sheet.layers.map((layer) => {
    return { ...layer, source: { ...layer.source, details: withoutNothing({ ...layer.source.details, ...details }) } };
  });
  const told = layers[0].source.details.sentence;
  return { ...sheet, layers, tokens: sentence === undefined ? sheet.tokens : spanned(sheet.tokens, told ?? "") };
}

function withoutNothing<T extends object>(details: T): T {
  return something(details) ?? ({} as T);
}

function sentenceIn(value: unknown): string {
  if (typeof value !== "string") throw new Refused("damaged");
  return value.normalize("NFC").slice(0, MOST * 201);
}

function meaningIn(value: unknown): Record<string, Record<string, string>> {
  const texts = (words: unknown) =>
    Object.fromEntries(Object.entries(mapIn(words)).map(([lang, text]) => [lang, textOf(text)]));
  return Object.fromEntries(Object.entries(mapIn(value)).map(([name, words]) => [textOf(name), texts(words)]));
}

function bitsIn(hex: unknown, n: number): Uint8Array {
  if (typeof hex !== "string" || hex.length !== Math.ceil(n / 4) || /[^0-9a-f]/.test(hex)) throw new Refused("damaged");
  return Uint8Array.from({ length: n }, (_, at) => (parseInt(hex[at >> 2], 16) >> (3 - (at % 4))) & 1);
}

function mapIn(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refused("damaged");
  return value as Record<string, unknown>;
}

function listIn(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Refused("damaged");
  return value;
}

/** A whole number from 0 to before `n`. */
function wholeIn(value: unknown, n: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value >= n) throw new Refused("damaged");
  return value;
}

// the whole ----------------------------------------------------------------------------------------

/** The sheet itself, where every size fits the next. */
function fitting(sheet: Sheet): Sheet {
  const { tokens, dimensions, x, layers } = sheet;
  let width = x.columns;
  const fits = layers.every((layer) => {
    const reads = layer.x?.columns ?? width;
    const writes = outputWidth(layer);
    width = writes;
    return (
      fitsWidth(layer, reads) &&
      (!layer.residual || reads === writes) &&
      (layer.x?.rows ?? tokens.length) === tokens.length
    );
  });
  if (!fits || x.rows !== tokens.length || (dimensions?.length ?? x.columns) !== x.columns)
    throw new Refused("damaged");
  return sheet;
}

function fitsWidth(layer: SheetLayer, width: number): boolean {
  const { w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, n_heads, n_kv_heads, rotation } = layer;
  const tables = [w_q, w_k, w_v, ...(w_o ? [w_o] : [])];
  const biases = [
    [b_q, w_q.columns],
    [b_k, w_k.columns],
    [b_v, w_v.columns],
    [b_o, outputWidth(layer)],
  ] as const;
  const [dHead, dValue] = [w_q.columns / n_heads, w_v.columns / n_kv_heads];
  return (
    [w_q, w_k, w_v].every((w) => w.rows === width) &&
    tables.every((w) => w.rows > 0 && w.columns > 0 && Math.max(w.rows, w.columns) <= MOST) &&
    Number.isInteger(dHead) &&
    dHead === w_k.columns / n_kv_heads &&
    Number.isInteger(dValue) &&
    (!w_o || w_o.rows === n_heads * dValue) &&
    (!rotation || dHead % 2 === 0) &&
    biases.every(([b, n]) => b === null || b.length === n)
  );
}
