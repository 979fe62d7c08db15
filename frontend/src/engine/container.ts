/** Documents: files as `trace.save` writes them (src/jumok/saved.py); a layer is brought when it is asked for. */

import { headsOf, ruleOf, type Described } from "./described";
import type { Atlas, Document, Label, Layer, LayerFacts, Source, Token } from "./record";
import { Damaged, Tensors, type Entries, type Entry } from "./tensors";

export { Damaged };

/** A document whose layers are in `bytes`, or come one by one when `ask`ed for. Throws Damaged. */
export function openDocument(
  header: string,
  bytes: DataView | null,
  ask: (layer: number) => Promise<DataView>,
): Document {
  const { entries, record, page } = orDamaged(() => read(header));
  const captured = (record.source ?? record.layers[0]?.source)?.kind === "model";
  const rows = orDamaged(() => record.tokens.map((row, at) => tokensOf(row, page?.labels?.[at], captured)));
  const ofLayer = orDamaged(() => grouped(entries, record.layers.length));
  const build = (at: number, view: DataView) =>
    orDamaged(() => layerOf(record.layers[at], rows, new Tensors(ofLayer[at], view, bytes === null)));
  return {
    kind: record.kind,
    source: sourceOf(record.source ?? record.layers[0]?.source),
    title: page?.title ?? null,
    storage: page?.storage ?? "exact",
    facts: page?.layers ?? orDamaged(() => ofLayer.map(sizesOf)),
    numbers: numbersOf(record.layers.map(({ source }) => source.layer)),
    atlas: page?.atlas ?? null,
    tokens: (layer) => rows[record.layers[layer].tokens],
    layer: keeping((at) => (bytes === null ? ask(at).then((view) => build(at, view)) : build(at, bytes))),
  };
}

function numbersOf(said: readonly (number | null | undefined)[]): readonly number[] | null {
  return said.every((n, at) => typeof n === "number" && n > (at > 0 ? said[at - 1]! : -1)) ? (said as number[]) : null;
}

function orDamaged<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof Damaged ? error : new Damaged(error instanceof Error ? error.message : String(error));
  }
}

/** A layer is made once; one that failed to come is asked for again the next time. */
function keeping(make: (layer: number) => Layer | Promise<Layer>): Document["layer"] {
  const kept = new Map<number, Layer | Promise<Layer>>();
  return (at) => {
    const known = kept.get(at);
    if (known) return known;
    const made = make(at);
    kept.set(at, made);
    if (made instanceof Promise) {
      made.then(
        (layer) => kept.set(at, layer),
        () => kept.delete(at),
      );
    }
    return made;
  };
}

// the header ---------------------------------------------------------------------------------------

interface LayerRecord {
  readonly tokens: number;
  readonly key_tokens?: number;
  readonly rule: Described;
  readonly heads?: Described;
  readonly dimensions?: readonly string[];
  readonly source: Partial<Source>;
}

interface FileRecord {
  readonly kind: "trace" | "reading";
  readonly tokens: readonly (readonly TokenRecord[])[];
  readonly layers: readonly LayerRecord[];
  readonly source?: Partial<Source>;
}

type TokenRecord = readonly [text: string, start?: number, end?: number];

interface Page {
  readonly storage: "exact" | "int16";
  readonly layers: readonly LayerFacts[];
  readonly atlas: Atlas | null;
  readonly labels: readonly (readonly Label[])[];
  readonly title: Readonly<Record<string, string>> | null;
}

function read(header: string): { entries: Entries; record: FileRecord; page: Partial<Page> | null } {
  const { __metadata__: metadata, ...tensors } = JSON.parse(header) as Record<string, Entry> & {
    __metadata__?: Record<string, string>;
  };
  if (metadata?.format !== "jumok") throw new Damaged("jumok did not save it");
  if (metadata.version !== "1") throw new Damaged(`its format has version ${metadata.version}, this page reads 1`);
  const record = JSON.parse(metadata.record) as FileRecord;
  if (!["trace", "reading"].includes(record.kind)) throw new Damaged(`a record of kind ${record.kind}`);
  return {
    entries: new Map(Object.entries(tensors)),
    record,
    page: metadata.page === undefined ? null : (JSON.parse(metadata.page) as Page),
  };
}

/** `captured`: a person calls a tokenizer's piece by its label, as picture/labels.py `names` does. */
function tokensOf(row: readonly TokenRecord[], labels: readonly Label[] | undefined, captured: boolean): Token[] {
  const named = (label: Label) => label.text.replace(/^␣+/, "") || label.text;
  return row.map(([text, start, end], at) => ({
    text: captured && labels?.[at] ? named(labels[at]) : text,
    span: start === undefined || end === undefined ? null : [start, end],
    label: labels?.[at] ?? { text, part: 1, parts: 1, raw: null, special: false },
  }));
}

function sourceOf(said: Partial<Source> | undefined): Source {
  return {
    kind: "arrays",
    name: null,
    layer: null,
    exact: true,
    backend: "numpy",
    shared_heads: null,
    special_tokens: null,
    details: {},
    ...said,
  };
}

/** The tensors of each layer, by what follows `layers.N.` in their names. */
function grouped(entries: Entries, nLayers: number): Entries[] {
  const layers = Array.from({ length: nLayers }, () => new Map<string, Entry>());
  for (const [name, entry] of entries) {
    const [, at, rest] = /^layers\.(\d+)\.(.+)$/.exec(name) ?? [];
    if (!(Number(at) < nLayers)) throw new Damaged(`there is no place for the array ${name}`);
    layers[Number(at)].set(rest, entry);
  }
  return layers;
}

/** What the shapes say of a layer; what would have to be computed is left open (NaN). */
function sizesOf(entries: Entries): LayerFacts {
  const [q, k, v] = ["q", "k", "v"].map((name) => entries.get(name)?.shape);
  if (!q || !k || !v) throw new Damaged("a layer has no q, k or v");
  const unknown = new Array<number>(q[0]).fill(NaN);
  return {
    n_heads: q[0],
    n_kv_heads: k[0],
    n_queries: q[1],
    n_keys: k[1],
    d_head: q[2],
    d_value: v[2],
    values: true,
    error: new Array<number>(q[0]).fill(0),
    entropy: unknown,
    first: unknown,
    previous: unknown,
  };
}

// a layer ------------------------------------------------------------------------------------------

function layerOf(said: LayerRecord, rows: readonly Token[][], tensors: Tensors): Layer {
  const isRounded = (name: string) => tensors.has(`${name}.scale`);
  const array = (name: string) => (isRounded(name) ? tensors.rounded(name) : tensors.perHead(name));
  const layer: Layer = {
    tokens: rowAt(rows, said.tokens),
    keyTokens: said.key_tokens === undefined ? null : rowAt(rows, said.key_tokens),
    q: array("q"),
    k: array("k"),
    v: tensors.has("v") ? array("v") : null,
    rule: ruleOf(said.rule, tensors),
    x: tensors.has("x") ? tensors.table("x") : null,
    heads: said.heads ? headsOf(said.heads, tensors) : null,
    dimensions: said.dimensions ?? null,
    source: sourceOf(said.source),
    lse: tensors.has("lse") ? tensors.floats("lse") : null,
    exact: !["q", "k", "v"].some(isRounded),
  };
  checkSizes(layer);
  return layer;
}

function rowAt(rows: readonly Token[][], at: number): Token[] {
  if (!rows[at]) throw new Damaged(`there is no row ${at} of tokens`);
  return rows[at];
}

function checkSizes({ tokens, keyTokens, q, k, v, lse }: Layer): void {
  const fits =
    q.rows === tokens.length &&
    k.rows === (keyTokens ?? tokens).length &&
    k.width === q.width &&
    q.heads % k.heads === 0 &&
    (v === null || (v.heads === k.heads && v.rows === k.rows)) &&
    (lse === null || lse.length === q.heads * q.rows);
  if (!fits) throw new Damaged("tokens, q, k and v do not fit together");
}
