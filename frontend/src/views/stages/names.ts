/** The names of places and cells, as they are read and heard. */
import { fill, number, shown } from "../../explanation/words";
import { namesOf } from "../../engine/path";
import type { Step } from "../../engine/origin";
import type { Cell, Lang, Layer, Stage, Token } from "../../engine/record";
import { nameOf } from "../tokens";
import type { Grid, Place } from "./road";
import { told } from "./words";

export const SYMBOLS: Readonly<Record<Stage, string>> = {
  x: "X", w_q: "W_Q", w_k: "W_K", w_v: "W_V", w_o: "W_O", q: "Q", k: "K", v: "V",
  scores: "QKᵀ", scaled: "÷ √d_k", allowed: "M", weights: "softmax", weighted_values: "× V", mixed: "Σ", output: "output",
};

/** A stage in letters; the scaled scores as they are scaled here. */
export function symbolOf(stage: Stage, scaling: readonly Step[]): string {
  if (stage !== "scaled") return SYMBOLS[stage];
  const said = ({ kind, by }: Step): string => {
    return kind === "root" ? SYMBOLS.scaled : `${kind === "scale" ? "×" : "÷"} ${number(by)}`;
  };
  return scaling.map(said).join(" ");
}

/** A number as it stands in a cell; a mask has no numbers. */
export function cellText(stage: Stage, value: number): string {
  return stage === "allowed" ? (value === 0 ? "·" : "●") : number(value);
}

/** A place on an axis in words. */
export function placeName({ token, name }: Place, lang: Lang): string {
  if (token !== null) return nameOf(token);
  if (typeof name === "object") return told("head.dimension", lang, { head: name.head, number: name.number });
  return typeof name === "string" ? shown(name) : fill("{name:dim}", { name }, lang);
}

/** What every cell of a table is called, row by row, before its number; and what it is called where the mask hides it. */
export function cellNames(grid: Grid, lang: Lang, query: string): { readonly open: string[]; readonly hidden: string[] } {
  const kind = grid.stage.startsWith("w_") ? "w" : grid.stage;
  const matrix = SYMBOLS[grid.stage];
  const columns = grid.columns.places.map((place) => placeName(place, lang));
  const named = (name: string): string[] => grid.rows.places.flatMap((place) => {
    const row = placeName(place, lang);
    return columns.map((column) => told(name, lang, { row, column, matrix, query }));
  });
  const hides = kind === "weights" ? "cell.weights.hidden" : kind === "allowed" ? "cell.hidden" : null;
  return { open: named(`cell.${kind}`), hidden: hides ? named(hides) : [] };
}

/** One cell's name, wherever it stands in the record. */
export function cellName(layer: Layer, cell: Cell, lang: Lang, isHidden = false): string {
  const [row, column] = sidesOf(layer, cell).map((place) => placeName(place, lang));
  const kind = cell.stage.startsWith("w_") ? "w" : cell.stage;
  const name = !isHidden ? `cell.${kind}` : kind === "weights" ? "cell.weights.hidden" : "cell.hidden";
  const query = cell.query === undefined ? "" : nameOf(layer.tokens[cell.query]);
  return told(name, lang, { row, column, matrix: SYMBOLS[cell.stage], query });
}

/** The row and the column of a cell, in words. */
export function sidesIn(layer: Layer, cell: Cell, lang: Lang): [string, string] {
  const [row, column] = sidesOf(layer, cell);
  return [placeName(row, lang), placeName(column, lang)];
}

function sidesOf(layer: Layer, { stage, row, column }: Cell): [Place, Place] {
  const token = (tokens: readonly Token[], at: number): Place => ({ at, token: tokens[at], name: tokens[at].label.text });
  const query = (at: number): Place => token(layer.tokens, at);
  const key = (at: number): Place => token(layer.keyTokens ?? layer.tokens, at);
  const dimension = (what: "x" | "q" | "v" | "output", at: number): Place => {
    return { at, token: null, name: namesOf(layer, what)?.[at] ?? at };
  };
  switch (stage) {
    case "x":
      return [query(row), dimension("x", column)];
    case "w_q":
    case "w_k":
      return [dimension("x", row), dimension("q", column % layer.q.width)];
    case "w_v":
      return [dimension("x", row), dimension("v", column % layer.v!.width)];
    case "w_o":
      return [headDimension(layer, row), dimension("output", column)];
    case "q":
      return [query(row), dimension("q", column)];
    case "k":
      return [key(row), dimension("q", column)];
    case "v":
    case "weighted_values":
      return [key(row), dimension("v", column)];
    case "mixed":
      return [query(row), dimension("v", column)];
    case "output":
      return [query(row), outputDimension(layer, column)];
    default:
      return [query(row), key(column)];
  }
}

/** A dimension of all heads side by side. */
function headDimension(layer: Layer, at: number): Place {
  const width = layer.v!.width;
  if (layer.q.heads === 1) return { at, token: null, name: namesOf(layer, "v")?.[at] ?? at };
  return { at, token: null, name: { head: Math.floor(at / width), number: (at % width) + 1 } };
}

function outputDimension(layer: Layer, at: number): Place {
  const name = namesOf(layer, "output")?.[at];
  return name === undefined && !layer.heads?.w_o ? headDimension(layer, at) : { at, token: null, name: name ?? at };
}
