/** What a person may edit, and every edit of it. A sheet is never changed: an edit makes a new one, or is refused. */

import { foldedScale, layersOf, type Projection, type Sheet, type SheetLayer } from "./chain";
import { withDimensions, type DimensionEdit } from "./dimension_edits";
import type { Allowed, Layer, Table } from "./record";
import { finite, inRange, placeOf, Refused } from "./refused";
import { allowedAt } from "./rule";
import { withTokens, type TokenEdit } from "./token_edits";
import { withRow, type WantedRow } from "./wanted";

export { layersOf, MOST, sheetOf, type Projection, type Sheet, type SheetLayer } from "./chain";
export { changes, type Change, type Changes } from "./changes";
export { numberOf, Refused, type Reason } from "./refused";

export type Edit =
  | {
      readonly set: "x" | Projection;
      readonly layer: number;
      readonly row: number;
      readonly column: number;
      readonly value: number;
    }
  | {
      readonly set: "allowed";
      readonly layer: number;
      readonly row: number;
      readonly column: number;
      readonly value: boolean;
    }
  | { readonly set: "scale"; readonly layer: number; readonly value: number | null }
  | { readonly set: "temperature"; readonly layer: number; readonly value: number }
  | { readonly set: "wanted"; readonly head: number; readonly query: number; readonly row: WantedRow | null }
  | { readonly set: "design"; readonly layer: number; readonly w_q: Table; readonly w_k: Table }
  | TokenEdit
  | DimensionEdit;

/** A new sheet with the edit made; throws `Refused` and changes nothing where it cannot be. */
export function edited(sheet: Sheet, edit: Edit): Sheet {
  if ("set" in edit) return checked(edit.set === "wanted" ? withWanted(sheet, edit) : withNumber(sheet, edit));
  return checked(isOfTokens(edit) ? withTokens(sheet, edit) : withDimensions(sheet, edit));
}

function isOfTokens(edit: TokenEdit | DimensionEdit): edit is TokenEdit {
  const { add, rename, remove, move } = edit as Record<string, unknown>;
  return [add, rename, remove, move].includes("token");
}

type WantedEdit = Extract<Edit, { set: "wanted" }>;
type SetEdit = Exclude<Extract<Edit, { set: string }>, WantedEdit>;

function withWanted(sheet: Sheet, { head, query, row }: WantedEdit): Sheet {
  const at = placeOf("query", query, sheet.tokens.length);
  return { ...sheet, wanted: withRow(sheet.wanted, sheet.layers[sheet.layers.length - 1].n_heads, head, at, row) };
}

function withNumber(sheet: Sheet, edit: SetEdit): Sheet {
  const at = placeOf("layer", edit.layer, sheet.layers.length);
  const layer = sheet.layers[at];
  if (edit.set === "x" && at === 0) return { ...sheet, x: withCell(sheet.x, edit.row, edit.column, edit.value) };
  return { ...sheet, layers: sheet.layers.with(at, withLayerNumber(sheet, layer, edit)) };
}

function withLayerNumber(sheet: Sheet, layer: SheetLayer, edit: SetEdit): SheetLayer {
  switch (edit.set) {
    case "allowed":
      return withAllowed(layer, sheet.tokens.length, edit.row, edit.column, edit.value);
    case "scale":
      return { ...layer, scale: edit.value === null ? null : inRange("scale", edit.value) };
    case "temperature": {
      const temperature = inRange("temperature", edit.value);
      return { ...layer, temperature, source: { ...layer.source, details: { ...layer.source.details, temperature } } };
    }
    case "design":
      return { ...layer, w_q: likeTable(layer.w_q, edit.w_q), w_k: likeTable(layer.w_k, edit.w_k) };
    default: {
      const table = layer[edit.set];
      if (!table && edit.set === "x") throw new Refused("chained", { layer: edit.layer });
      if (!table) throw new Refused("no_such_table", { what: edit.set, layer: edit.layer });
      return { ...layer, [edit.set]: withCell(table, edit.row, edit.column, edit.value) };
    }
  }
}

function withCell(table: Table, row: number, column: number, value: unknown): Table {
  const at = placeOf("row", row, table.rows) * table.columns + placeOf("column", column, table.columns);
  return { ...table, values: Float64Array.from(table.values).with(at, finite(value)) };
}

/** Another table of the same size. */
function likeTable({ rows, columns }: Table, given: Table): Table {
  if (given.rows !== rows || given.columns !== columns) throw new Refused("no_such_place", { what: "row" });
  return { rows, columns, values: Float64Array.from(given.values, finite) };
}

/** A rule with one cell of its own is a table. */
function withAllowed(layer: SheetLayer, n: number, query: number, key: number, value: unknown): SheetLayer {
  const at = placeOf("query", query, n) * n + placeOf("key", key, n);
  if (typeof value !== "boolean") throw new Refused("not_yes_or_no");
  const cells = tableOf(layer.allowed, n);
  if (cells[at] === Number(value)) return layer;
  cells[at] = Number(value);
  return { ...layer, allowed: { kind: "table", columns: n, cells } };
}

/** (query, key) 1 where the query may read the key. */
export function tableOf(allowed: Allowed, n: number): Uint8Array {
  return new Uint8Array(n * n).map((_, at) => Number(allowedAt(allowed, Math.floor(at / n), at % n)));
}

// the whole ----------------------------------------------------------------------------------------

/** The sheet itself, where every number of every stage is finite and somebody may read something. */
export function checked(sheet: Sheet): Sheet {
  sheet.layers.forEach((layer, at) => {
    if (!tableOf(layer.allowed, sheet.tokens.length).includes(1)) throw new Refused("nothing_allowed", { layer: at });
    const scale = foldedScale(layer);
    if (scale !== null) inRange("scale/temperature", scale);
  });
  layersOf(sheet).forEach((layer, at) => refuseOverflow(layer, at));
  return sheet;
}

/** What a number may reach: half of what Python trusts a double with (path/products.py). */
const CEILING = Number.MAX_VALUE / 16;

/** No sum is larger than its width · max|a| · max|b|. */
function refuseOverflow(layer: Layer, at: number): void {
  const [x, q, k, v] = [layer.x, layer.q, layer.k, layer.v].map((array) => largestOf(array?.values ?? []));
  const score = q * k * layer.q.width;
  const growth = (layer.rule.scale ?? 1) / Math.min(1, layer.rule.softcap ?? 1);
  const w_o = layer.heads?.w_o;
  const sizes = {
    x,
    q,
    k,
    v,
    scores: score,
    scaled: score * growth,
    output: 2 * v * (w_o ? largestOf(w_o.values) * w_o.rows : 1),
  };
  for (const [stage, size] of Object.entries(sizes)) {
    if (!(size <= CEILING)) throw new Refused("overflow", { layer: at, stage });
  }
}

/** The largest size; infinite where one is no number. */
function largestOf(values: Iterable<number>): number {
  let largest = 0;
  for (const value of values) largest = Number.isNaN(value) ? Infinity : Math.max(largest, Math.abs(value));
  return largest;
}
