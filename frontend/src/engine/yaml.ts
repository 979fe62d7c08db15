/** A sheet as an example file that `jumok.load` reads to the same numbers (src/jumok/sources/example_reader.py). */

import { tableOf, type Sheet, type SheetLayer } from "./sheet";
import type { Allowed, Table } from "./record";

/** Plain data, in the order in which it is written; numbers are texts already. */
type Plain = string | readonly Plain[] | PlainMap;
type PlainMap = ReadonlyMap<string, Plain>;

/** What an example file has no word for. */
export interface Lost {
  readonly layer: number;
  readonly what: "softcap" | "sink" | "bias" | "rotary" | "sinusoidal" | "x" | "wanted";
}

export const LOST: Readonly<Record<Lost["what"], readonly [en: string, ko: string]>> = {
  softcap: ["the soft cap", "소프트캡"],
  sink: ["the sink", "싱크"],
  bias: ["the position bias", "위치 편향"],
  rotary: ["the rotary positions", "회전 위치"],
  sinusoidal: ["the position code that is added to x", "x에 더하는 위치 코드"],
  wanted: ["wanted weights of a token whose name is not its own", "이름이 겹치는 토큰의 바라는 가중치"],
  x: ["x of its own; it reads what the layer before hands on", "이 층만의 x(앞 층의 출력을 읽습니다)"],
};
/** The reader holds a file to so many lists, names and values (src/jumok/sources/yaml_nodes.py). */
const MOST_NODES = 20_000;

/** The file's text; what it cannot carry is said in comments at its head. */
export function toYaml(sheet: Sheet): string {
  const sections = sectionsOf(sheet);
  const notes = lostIn(sheet).map(({ layer, what }) => {
    const [en, ko] = LOST[what];
    const said = [`layer ${layer}, ${en}`, `이 파일에 쓸 수 없어 뺀 것: ${layer}층, ${ko}`];
    return `# Not in this file, which has no word for it: ${said.join(" / ")}\n`;
  });
  if (nodesIn(sections) > MOST_NODES) {
    notes.push("# More numbers than jumok.load reads from a file; give them as arrays: jumok.attend(x=…)\n");
    notes.push("# jumok.load가 읽기에는 숫자가 너무 많습니다. 배열로 주십시오: jumok.attend(x=…)\n");
  }
  return notes.join("") + written(sections);
}

/** What is lost where the sheet is written as an example file. */
export function lostIn(sheet: Sheet): Lost[] {
  return sheet.layers.flatMap((layer, at) => {
    const positions = positionsOf(layer, at);
    const lost: Readonly<Record<Lost["what"], boolean>> = {
      softcap: layer.softcap !== null,
      sink: layer.sink !== null,
      bias: layer.bias !== null && !slopesOf(layer),
      rotary: layer.rotation !== null && positions !== "rotary",
      sinusoidal: at > 0 && layer.coded && positions !== "sinusoidal",
      x: layer.x !== null,
      wanted: at === sheet.layers.length - 1 && wantedOf(sheet) === null,
    };
    return (Object.keys(lost) as Lost["what"][]).filter((what) => lost[what]).map((what) => ({ layer: at, what }));
  });
}

function nodesIn(part: Plain): number {
  if (typeof part === "string") return 1;
  const parts = isMap(part) ? [...part].flat() : part;
  return parts.reduce((n: number, one: Plain) => n + nodesIn(one), 1);
}

function isMap(part: Plain): part is PlainMap {
  return part instanceof Map;
}

// the sections of a file ---------------------------------------------------------------------------

type Sections = readonly (readonly [name: string, part: Plain | undefined])[];

function mapOf(sections: Sections): PlainMap {
  return new Map(sections.filter((section): section is [string, Plain] => section[1] !== undefined));
}

function sectionsOf(sheet: Sheet): PlainMap {
  const { title, sentence, meaning, focus, pair } = sheet.layers[0].source.details;
  const [texts, names] = [sheet.tokens.map((token) => token.text), sheet.dimensions];
  const known = Object.entries(meaning ?? {}).filter(([name]) => names?.includes(name));
  const blocks = sheet.layers.map((layer, at) => blockOf(sheet, layer, at));
  return mapOf([
    ["title", byLanguage(title)],
    ["sentence", sentence === texts.join(" ") ? undefined : sentence],
    ["dimensions", names ?? undefined],
    ["tokens", texts.map((text, at) => new Map([[text, rowOf(names, cellsOf(sheet.x, at))]]))],
    ...(blocks.length === 1 ? [...blocks[0]] : [["layers", blocks] as const]),
    ["wanted", wantedOf(sheet) ?? undefined],
    ["focus", focus === undefined ? undefined : (uniqueName(texts, focus) ?? undefined)],
    ["pair", pair],
    ["meaning", known.length ? mapOf(known.map(([name, words]) => [name, byLanguage(words)])) : undefined],
  ]);
}

/** The wanted weights by the names of the tokens; null where a token has none of its own. */
function wantedOf({ wanted, tokens }: Sheet): Plain | null | undefined {
  const texts = tokens.map((token) => token.text);
  const used = wanted.flatMap((table) => Object.entries(table).flatMap(([query, row]) => [query, ...Object.keys(row)]));
  if (used.some((at) => uniqueName(texts, Number(at)) === null)) return null;
  const byName = <To>(of: Readonly<Record<number, To>>, said: (one: To) => Plain): PlainMap => {
    return new Map(Object.entries<To>(of).map(([at, one]) => [uniqueName(texts, Number(at)) as string, said(one)]));
  };
  const tables = wanted.map((table) => byName(table, (row) => byName(row, numeral)));
  return tables.length < 2 ? tables[0] : tables;
}

function byLanguage(words: Readonly<Record<string, string>> | undefined): Plain | undefined {
  const said = (["en", "ko"] as const).filter((lang) => words?.[lang] !== undefined);
  return said.length ? mapOf(said.map((lang) => [lang, words?.[lang]])) : undefined;
}

function blockOf(sheet: Sheet, layer: SheetLayer, at: number): PlainMap {
  const mask = maskOf(layer.allowed, sheet);
  return mapOf([
    ["weights", weightsOf(sheet, layer, inputWidth(sheet, at))],
    ["heads", layer.n_heads === 1 ? undefined : String(layer.n_heads)],
    ["kv_heads", layer.n_kv_heads === layer.n_heads ? undefined : String(layer.n_kv_heads)],
    ["scale", layer.scale === null ? undefined : numeral(layer.scale)],
    ["temperature", layer.temperature === 1 ? undefined : numeral(layer.temperature)],
    ["positions", positionsOf(layer, at)],
    ["mask", mask === "none" ? undefined : mask],
    ["residual", layer.residual ? "true" : undefined],
  ]);
}

function inputWidth(sheet: Sheet, at: number): number {
  return sheet.layers[at].w_q.rows;
}

function positionsOf(layer: SheetLayer, at: number): Plain | undefined {
  const slopes = slopesOf(layer);
  if (slopes) return mapOf([["alibi", slopes.map(numeral)]]);
  const { rotation } = layer;
  if (rotation?.base === 10_000 && !rotation.interleaved && rotation.offset === 0) return "rotary";
  return at > 0 && layer.coded ? "sinusoidal" : undefined; // the first layer's x has its code already
}

/** A slope for each head, where the bias is alibi as the file knows it. */
function slopesOf({ bias, n_heads }: SheetLayer): number[] | null {
  if (bias?.kind !== "alibi" || bias.offset !== 0) return null;
  return Array.from({ length: n_heads }, (_, head) => bias.slopes[bias.slopes.length === 1 ? 0 : head]);
}

// numbers ------------------------------------------------------------------------------------------

/** The shortest digits that read as the same double. */
function numeral(value: number): string {
  return String(value);
}

function cellsOf({ columns, values }: Table, row: number): number[] {
  return [...values.subarray(row * columns, (row + 1) * columns)];
}

/** By the names of the dimensions, those that are not 0; a list where they have none. */
function rowOf(names: readonly string[] | null, row: readonly number[]): Plain {
  if (names?.length !== row.length) return row.map(numeral);
  return mapOf(names.map((name, at) => [name, row[at] === 0 ? undefined : numeral(row[at])]));
}

const WEIGHTS = ["w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"] as const;

function weightsOf(sheet: Sheet, layer: SheetLayer, width: number): Plain {
  return mapOf(
    WEIGHTS.map((name) => {
      const given = layer[name];
      if (given === null) return [name, undefined];
      return [name, "rows" in given ? matrixOf(given, sheet.dimensions, width) : Array.from(given, numeral)];
    }),
  );
}

/** In the simplest of: identity, a diagonal, rows by name, all numbers. */
function matrixOf(w: Table, names: readonly string[] | null, width: number): Plain {
  const rows = Array.from({ length: w.rows }, (_, at) => cellsOf(w, at));
  const isSquare = w.rows === width && w.columns === width;
  if (isSquare && rows.every((row, at) => isUnit(row, at))) return "identity";
  if (!isSquare || names?.length !== width) return rows.map((row) => row.map(numeral));
  const isDiagonal = rows.every((row, at) => row.every((value, column) => value === 0 || column === at));
  return isDiagonal
    ? diagonalOf(
        rows.map((row, at) => row[at]),
        names,
      )
    : namedRows(rows, names);
}

function isUnit(row: readonly number[], at: number): boolean {
  return row.every((value, column) => value === (column === at ? 1 : 0));
}

function diagonalOf(diagonal: readonly number[], names: readonly string[]): Plain {
  const count = (value: number) => diagonal.filter((one) => one === value).length;
  const usual = count(1) >= count(0) ? 1 : 0;
  const given = mapOf(names.map((name, at) => [name, diagonal[at] === usual ? undefined : numeral(diagonal[at])]));
  return mapOf([
    ["diagonal", given],
    ["otherwise", numeral(usual)],
  ]);
}

function namedRows(rows: readonly (readonly number[])[], names: readonly string[]): Plain {
  const isZero = (row: readonly number[]) => row.every((value) => value === 0);
  const usual = rows.filter(isZero).length > rows.filter(isUnit).length ? "zero" : "identity";
  const isUsual = usual === "zero" ? isZero : isUnit;
  const given = mapOf(names.map((name, at) => [name, isUsual(rows[at], at) ? undefined : rowOf(names, rows[at])]));
  return mapOf([
    ["rows", given],
    ["otherwise", usual],
  ]);
}

// masks --------------------------------------------------------------------------------------------

/** The rule in the file's words; what has no word of its own is written as a table. */
function maskOf(allowed: Allowed, sheet: Sheet): Plain {
  return maskWords(allowed, sheet) ?? maskTable(allowed, sheet.tokens.length);
}

function maskWords(allowed: Allowed, sheet: Sheet): Plain | null {
  if ("offset" in allowed && allowed.offset !== 0) return null;
  switch (allowed.kind) {
    case "everything":
      return "none";
    case "causal":
      return "causal";
    case "window": {
      const [back, ahead] = [String(allowed.n_back), String(allowed.n_ahead)];
      return mapOf([["window", allowed.n_ahead === 0 ? back : [back, ahead]]]);
    }
    case "padding":
      return paddingOf(
        allowed.keys,
        sheet.tokens.map((token) => token.text),
      );
    case "document":
      return mapOf([["document", documentsOf(allowed.ids)]]);
    case "both":
    case "either":
      return mapOf([
        [allowed.kind === "both" ? "all" : "any", joinedIn(allowed, allowed.kind).map((part) => maskOf(part, sheet))],
      ]);
    case "table":
      return null;
  }
}

/** The rules that are joined, in order, however they were bracketed. */
function joinedIn(allowed: Allowed, kind: "both" | "either"): Allowed[] {
  return allowed.kind === kind ? [...joinedIn(allowed.first, kind), ...joinedIn(allowed.second, kind)] : [allowed];
}

function paddingOf(real: Uint8Array, texts: readonly string[]): Plain | null {
  const names = texts.flatMap((_, at) => (real[at] ? [] : [uniqueName(texts, at)]));
  return names.every((name) => name !== null) ? mapOf([["padding", names]]) : null;
}

/** Numbers of documents from 0 on, since only which are equal counts. */
function documentsOf(ids: Int32Array): string[] {
  const order = [...new Set(ids)];
  return Array.from(ids, (id) => String(order.indexOf(id)));
}

function maskTable(allowed: Allowed, n: number): Plain {
  const cells = tableOf(allowed, n);
  if (!cells.includes(0)) return "none";
  return Array.from({ length: n }, (_, query) => Array.from(cells.subarray(query * n, (query + 1) * n), String));
}

/** How a file calls a token: its text, numbered where it stands more than once; null where that is another's text. */
function uniqueName(texts: readonly string[], at: number): string | null {
  const text = texts[at];
  const count = (wanted: string, all: readonly string[]) => all.filter((one) => one === wanted).length;
  if (count(text, texts) === 1) return text;
  const name = `${text}#${count(text, texts.slice(0, at + 1))}`;
  return count(name, texts) === 0 ? name : null;
}

// text ---------------------------------------------------------------------------------------------

/** A map longer than this is put on lines of its own. */
const WIDTH = 110;
/** YAML reads `key: value` only where the key is short. */
const LONGEST_KEY = 1000;

function written(sections: PlainMap): string {
  return [...sections].map(([name, part]) => `${entry(name, part, 0)}\n`).join("");
}

/** `name: part`, on one line where it is short; lists of the outermost level have a line for each of their parts. */
function entry(name: string, part: Plain, indent: number): string {
  const line = `\n${" ".repeat(indent + 2)}`;
  const flow = inOneLine(part);
  if (isList(part) && isDeep(part) && (indent === 0 || flow.length > WIDTH)) {
    return `${scalar(name)}:${part.map((one) => `${line}- ${item(one, indent + 4)}`).join("")}`;
  }
  if (isMap(part) && isDeep(part) && ((indent === 0 && part.size > 1) || flow.length > WIDTH)) {
    return `${scalar(name)}:${[...part].map(([inner, one]) => line + entry(inner, one, indent + 2)).join("")}`;
  }
  return `${scalar(name)}: ${flow}`;
}

/** A part of a list: the names of a map stand on lines, without braces. */
function item(part: Plain, indent: number): string {
  if (!isMap(part) || !isDeep(part)) return inOneLine(part);
  return [...part].map(([name, one]) => entry(name, one, indent)).join(`\n${" ".repeat(indent)}`);
}

function isList(part: Plain): part is readonly Plain[] {
  return Array.isArray(part);
}

/** Whether maps or lists stand in it, under names that can stand on lines. */
function isDeep(part: PlainMap | readonly Plain[]): boolean {
  const names = part instanceof Map ? [...part.keys()] : [];
  const isShort = names.every((name: string) => scalar(name).length <= LONGEST_KEY);
  return isShort && [...part.values()].some((one) => typeof one !== "string");
}

function inOneLine(part: Plain): string {
  if (typeof part === "string") return scalar(part);
  if (!isMap(part)) return `[${part.map(inOneLine).join(", ")}]`;
  return `{${[...part].map(([name, one]) => pair(scalar(name), inOneLine(one))).join(", ")}}`;
}

function pair(key: string, part: string): string {
  return key.length <= LONGEST_KEY ? `${key}: ${part}` : `? ${key} : ${part}`;
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
const PLAIN = /^[\p{L}\p{N}_]([\p{L}\p{N}_ .+/-]*[\p{L}\p{N}_.+/-])?$/u;

/** Numbers, letters and a few safe signs stay plain; all other texts stand in double quotes. */
function scalar(text: string): string {
  return NUMBER.test(text) || PLAIN.test(text) ? text : `"${[...text].map(escaped).join("")}"`;
}

/** A letter between double quotes; what cannot be seen, or turns the direction of writing, as its code. */
function escaped(letter: string): string {
  if (letter === '"' || letter === "\\") return `\\${letter}`;
  if (letter === "\n") return "\\n";
  if (!/[\p{C}\p{Z}]/u.test(letter) || [" ", "\u200c", "\u200d"].includes(letter)) return letter;
  const code = (letter.codePointAt(0) as number).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
  return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}
