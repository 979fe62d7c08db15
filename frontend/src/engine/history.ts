/** A training run, as src/jumok/picture/learned.py packs it: curves, and the layers of every snapshot, made when looked at. */

import { projected } from "./chain";
import { ruleOf, type Described } from "./described";
import type { Upstream } from "./gradients";
import type { Document, Heads, Label, Layer, LayerFacts, Numbers, PerHead, Rule, Source, Table, Token } from "./record";
import { Damaged, Tensors, type Entry } from "./tensors";

export const MATRICES = ["w_q", "w_k", "w_v", "w_o"] as const;
export type Matrix = (typeof MATRICES)[number];
const BIASES = ["b_q", "b_k", "b_v", "b_o"] as const;

type Texts = Readonly<Record<string, string>>;

/** One sequence that was looked at all through the training. */
export interface Probe {
  readonly tokens: readonly Token[];
  readonly query: number | null;
  readonly reads: readonly number[];
  readonly answer: string | null;
}

/** The heads' mean weight on the keys of a role: (snapshot, layer, head). */
export interface Role {
  readonly name: string;
  readonly values: PerHead;
  /** The best without a look at the tokens; null where nobody measured it. */
  readonly baseline: number | null;
}

/** What emerged, as Python measured it; null where nobody did. */
export interface Emerged {
  readonly accuracy: number;
  readonly chance: number;
  readonly carrier: readonly [layer: number, head: number] | null;
  readonly appeared: number | null;
}

/** The entry of a matrix that moved most until the next snapshot, in the run's own numbers. */
export interface Move {
  readonly row: number;
  readonly column: number;
  readonly before: number;
  readonly after: number;
}

export interface Section {
  readonly name: string;
  readonly title: string;
  readonly lines: readonly string[];
}

export interface History {
  /** (snapshot,) */
  readonly steps: readonly number[];
  readonly layers: readonly { readonly name: string; readonly n_heads: number }[];
  readonly probes: readonly Probe[];
  /** (step,) of each batch, before its update */
  readonly loss: Numbers;
  /** (snapshot,) NaN where it was not measured */
  readonly accuracy: Numbers;
  readonly roles: readonly Role[];
  /** The norm of a weight's gradient at each step; null where it was not kept. */
  readonly gradientNorm: (layer: number, matrix: Matrix) => Numbers | null;
  readonly emerged: Emerged | null;
  /** Sentences of Python's, a list a language. */
  readonly told: Readonly<Record<string, readonly Section[]>>;
  readonly title: Texts | null;
  readonly storage: "exact" | "int16";
  /** The largest difference that rounding made to a weight. */
  readonly error: number;
  /** A projection at one snapshot; null where it was not kept. */
  readonly weight: (layer: number, matrix: Matrix, snapshot: number) => Table | null;
  /** What all layers did with one probe at one snapshot. */
  readonly at: (snapshot: number, probe: number) => Document;
  /** The gradient of the loss on one probe, where it reaches a layer; null where it was not kept. */
  readonly upstream: (layer: number, probe: number, snapshot: number) => Upstream | null;
  /** null after the last snapshot, and where the matrix was not kept. */
  readonly moved: (layer: number, matrix: Matrix, snapshot: number) => Move | null;
  readonly learningRate: number | null;
}

interface Plain {
  readonly kind: string;
  readonly steps: readonly number[];
  readonly layers: readonly { readonly name: string; readonly n_heads: number; readonly n_kv_heads: number }[];
  readonly probes: readonly {
    readonly tokens: readonly (readonly [text: string, start?: number, end?: number])[];
    /** One a layer, or one a snapshot where it holds numbers that are learned. */
    readonly rules: readonly (Described | readonly Described[])[];
    readonly query: number | null;
    readonly reads: readonly number[];
    readonly answer: string | null;
    readonly dimensions: readonly string[] | null;
  }[];
  readonly baselines: Readonly<Record<string, number>>;
  readonly task: { readonly name?: string; readonly title?: Texts };
  readonly settings: { readonly learning_rate?: unknown };
}

interface Page {
  readonly storage: "exact" | "int16";
  readonly error: number;
  readonly labels: readonly (readonly Label[])[];
  readonly emerged: Emerged | null;
  readonly told: Readonly<Record<string, readonly Section[]>>;
  readonly title: Texts | null;
}

/** The last snapshot that is not after a step; the first where none is. */
export function snapshotAt(steps: readonly number[], step: number): number {
  return Math.max(0, steps.findLastIndex((one) => one <= step));
}

/** A run from its document. Throws Damaged. */
export function openHistory(header: string, bytes: DataView): History {
  const { __metadata__: metadata, ...entries } = JSON.parse(header) as Record<string, Entry> & {
    __metadata__: Record<string, string>;
  };
  const plain = JSON.parse(metadata.record) as Plain;
  const page = JSON.parse(metadata.page) as Page;
  if (plain.kind !== "history") throw new Damaged(`it is a ${plain.kind}, no training run`);
  const arrays = new Arrays(new Map(Object.entries(entries)), bytes);
  const weights = plain.layers.map((_, at) => new Map(
    [...MATRICES, ...BIASES].flatMap((name) => arrays.moving(`layers.${at}.${name}`, name)),
  ));
  const probes = plain.probes.map((probe, at) => new Moving(probe, page.labels[at], arrays, `probes.${at}.`));
  const weight = (layer: number, matrix: Matrix, snapshot: number): Table | null => {
    const all = weights[layer].get(matrix);
    return all === undefined ? null : tableOf(all, snapshot);
  };
  const headsAt = (layer: number, snapshot: number): Heads | null => headsOf(weights[layer], snapshot);
  return {
    steps: plain.steps,
    layers: plain.layers,
    probes,
    loss: arrays.floats("loss")!,
    accuracy: arrays.floats("accuracy")!,
    roles: arrays.under("roles.").map((name) => {
      return { name, values: arrays.cube(`roles.${name}`)!, baseline: plain.baselines[name] ?? null };
    }),
    gradientNorm: (layer, matrix) => arrays.floats(`gradient_norm.${plain.layers[layer].name}.${matrix}`),
    emerged: page.emerged,
    told: page.told,
    title: page.title,
    storage: page.storage,
    error: page.error,
    weight,
    at: (snapshot, probe) => documentAt(plain, page, probes[probe], snapshot, headsAt),
    upstream: (layer, probe, snapshot) => upstreamOf(probes[probe].layers[layer], snapshot, plain.layers[layer].n_heads),
    moved: (layer, matrix, snapshot) => arrays.move(`moves.${layer}.${matrix}`, snapshot),
    learningRate: typeof plain.settings.learning_rate === "number" ? plain.settings.learning_rate : null,
  };
}

/** The arrays of a run. What moves is made whole once, since every step of the slider reads it. */
class Arrays {
  readonly #tensors: Tensors;

  constructor(readonly entries: ReadonlyMap<string, Entry>, readonly bytes: DataView) {
    this.#tensors = new Tensors(entries, bytes, false);
  }

  floats(name: string): Numbers | null {
    return this.entries.has(name) ? this.#tensors.floats(name) : null;
  }

  cube(name: string): PerHead | null {
    if (!this.entries.has(name)) return null;
    return this.entries.has(`${name}.scale`) ? this.#tensors.rounded(name) : this.#tensors.perHead(name);
  }

  move(name: string, snapshot: number): Move | null {
    const [row, column, before, after] = this.floats(name)?.subarray(4 * snapshot, 4 * snapshot + 4) ?? [];
    return after === undefined ? null : { row, column, before, after };
  }

  /** The names below a prefix, without it. */
  under(prefix: string): string[] {
    return [...this.entries.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  }

  /** [what it is called, its numbers], or nothing where it is not there; a bias is (snapshot, 1, width). */
  moving(name: string, called: string): [string, PerHead][] {
    if (!this.entries.has(name)) return [];
    const { shape } = this.entries.get(name)!;
    if (shape.length === 3) return [[called, this.cube(name)!]];
    return [[called, { heads: shape[0], rows: 1, width: shape[1], values: this.#tensors.floats(name) }]];
  }

  /** The rule of one layer of one probe, or one for each snapshot: their arrays have names of their own. */
  rules(said: Described | readonly Described[], prefix: string): readonly Rule[] {
    const own = this.under(prefix).map((name): [string, Entry] => [name, this.entries.get(prefix + name)!]);
    const tensors = new Tensors(new Map(own), this.bytes, false);
    return [said].flat().map((one) => ruleOf(one as Described, tensors));
  }
}

/** A probe with all that was kept of it. */
class Moving implements Probe {
  readonly tokens: readonly Token[];
  readonly query: number | null;
  readonly reads: readonly number[];
  readonly answer: string | null;
  readonly dimensions: readonly string[] | null;
  readonly layers: readonly {
    readonly rules: readonly Rule[];
    readonly x: PerHead | null;
    /** (snapshot · head, token, width); null where they are made from x */
    readonly qkv: readonly (PerHead | null)[];
    /** (snapshot, query, d_out), or (snapshot · head, query, key) */
    readonly gradient: PerHead | null;
    readonly weightsGradient: PerHead | null;
  }[];

  constructor(said: Plain["probes"][number], labels: readonly Label[], arrays: Arrays, prefix: string) {
    [this.query, this.reads, this.answer, this.dimensions] = [said.query, said.reads, said.answer, said.dimensions];
    this.tokens = said.tokens.map(([text, start, end], at) => {
      return { text, span: start === undefined ? null : [start, end!], label: labels[at] };
    });
    this.layers = said.rules.map((rules, at) => ({
      rules: arrays.rules(rules, `${prefix}${at}.`),
      x: arrays.cube(`${prefix}${at}.x`),
      qkv: ["q", "k", "v"].map((name) => arrays.cube(`${prefix}${at}.${name}`)),
      gradient: arrays.cube(`${prefix}${at}.gradient`),
      weightsGradient: arrays.cube(`${prefix}${at}.weights_gradient`),
    }));
  }
}

function tableOf({ rows, width, values }: PerHead, snapshot: number): Table {
  const size = rows * width;
  return { rows, columns: width, values: values.subarray(snapshot * size, (snapshot + 1) * size) };
}

function headsOf(kept: ReadonlyMap<string, PerHead>, snapshot: number): Heads | null {
  if (!kept.has("w_q")) return null;
  const table = (name: Matrix): Table | null => (kept.has(name) ? tableOf(kept.get(name)!, snapshot) : null);
  const bias = (name: string): Numbers | null => (kept.has(name) ? tableOf(kept.get(name)!, snapshot).values : null);
  return {
    w_q: table("w_q")!, w_k: table("w_k")!, w_v: table("w_v")!, w_o: table("w_o"),
    b_q: bias("b_q"), b_k: bias("b_k"), b_v: bias("b_v"), b_o: bias("b_o"),
    rotation: null,
  };
}

type HeadsAt = (layer: number, snapshot: number) => Heads | null;

function documentAt(plain: Plain, page: Page, probe: Moving, snapshot: number, headsAt: HeadsAt): Document {
  const layers = new Map<number, Layer>();
  const layer = (at: number): Layer => {
    if (!layers.has(at)) layers.set(at, layerAt(plain, probe, at, snapshot, headsAt(at, snapshot)));
    return layers.get(at)!;
  };
  return {
    kind: "reading",
    source: sourceAt(plain, probe, snapshot, null),
    title: page.title,
    storage: "exact", // of what is shown: every later number is made from what stands here
    facts: plain.layers.map((_, at) => factsOf(layer(at))),
    atlas: null,
    tokens: () => probe.tokens,
    layer,
  };
}

function layerAt(plain: Plain, probe: Moving, at: number, snapshot: number, heads: Heads | null): Layer {
  const { rules, x: moving, qkv } = probe.layers[at];
  const { n_heads, n_kv_heads } = plain.layers[at];
  const x = moving === null ? null : tableOf(moving, snapshot);
  const own = (which: 0 | 1 | 2, w: Table | undefined, b: Numbers | null | undefined, n: number): PerHead => {
    const kept = qkv[which];
    if (kept !== null) return partOf(kept, snapshot * n, n);
    if (x === null || w === undefined) throw new Damaged("a layer has neither x nor q, k and v");
    return projected(x, w, b ?? null, n);
  };
  return {
    tokens: probe.tokens,
    keyTokens: null,
    q: own(0, heads?.w_q, heads?.b_q, n_heads),
    k: own(1, heads?.w_k, heads?.b_k, n_kv_heads),
    v: own(2, heads?.w_v, heads?.b_v, n_kv_heads),
    rule: rules[Math.min(snapshot, rules.length - 1)],
    x,
    heads,
    dimensions: probe.dimensions,
    source: sourceAt(plain, probe, snapshot, at),
    lse: null,
    exact: true,
  };
}

/** Where both were kept the output's is the one that reaches the values too. */
function upstreamOf({ gradient, weightsGradient }: Moving["layers"][number], snapshot: number, heads: number): Upstream | null {
  if (gradient !== null) return { output: tableOf(gradient, snapshot), weights: null };
  return weightsGradient && { output: null, weights: partOf(weightsGradient, snapshot * heads, heads) };
}

/** Some of the heads, from one on. */
function partOf({ rows, width, values }: PerHead, from: number, heads: number): PerHead {
  const size = rows * width;
  return { heads, rows, width, values: values.subarray(from * size, (from + heads) * size) };
}

/** As History._source in src/jumok/history.py. */
function sourceAt(plain: Plain, probe: Moving, snapshot: number, layer: number | null): Source {
  return {
    kind: "training", name: plain.task.name ?? null, layer, exact: true, backend: "numpy",
    shared_heads: null, special_tokens: null,
    details: {
      step: plain.steps[snapshot],
      ...(probe.query !== null && { focus: probe.query }),
      ...((plain.layers.length > 1 || layer === null) && { n_layers: plain.layers.length }),
      ...(plain.task.title && { title: plain.task.title }),
    },
  };
}

function factsOf({ q, k, v }: Layer): LayerFacts {
  const unknown = new Array<number>(q.heads).fill(NaN);
  return {
    n_heads: q.heads, n_kv_heads: k.heads, n_queries: q.rows, n_keys: k.rows, d_head: q.width, d_value: v!.width,
    values: true, error: new Array<number>(q.heads).fill(0), entropy: unknown, first: unknown, previous: unknown,
  };
}
