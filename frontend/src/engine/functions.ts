/** What an expression of a lesson can ask of records and of numbers: lessons/functions.py, for the page. */
import { fixed } from "../explanation/words";
import { found, numeric, Unanswerable, type Callable, type Named, type Row, type Value } from "./expressions";
import { kvHeadOf, namesOf, namesOfTokens, outputRowOf, rowOf, weightAt } from "./path";
import type { Layer, PerHead, Table, Token } from "./record";
import { allowedAt } from "./rule";

/** A record: its layers, and what the program calls each; null: by its place. */
export interface Read {
  readonly layers: readonly Layer[];
  readonly numbers: readonly number[] | null;
}

export type Records = ReadonlyMap<string, Read>;

/** What Python measured: [function, arguments, named arguments] as JSON → value. */
export type Measured = Readonly<Record<string, number>>;

const PAIRS = { score: "scores", scaled: "scaled", weight: "weights" } as const;
const VECTORS = { x: "embedding", query: "queries", key: "keys", value: "values", output: "outputs" } as const;
const ROWS = ["scores", "weights"] as const;
const CELLS = ["w_q", "w_k", "w_v", "w_o"] as const;
type Vector = keyof typeof VECTORS;

type Functions = Readonly<Record<string, Callable>>;

/** What is asked of a record: how many arguments, without the name of a record before them, and the answer. */
type Reader = readonly [name: string, n: number, answer: (asked: Asked) => Value];

const READERS: readonly Reader[] = [
  ...Object.entries(PAIRS).map(([name, stage]): Reader => [name, 2, (asked) => asked.row(stage)[asked.key(1)]]),
  ...ROWS.map((name): Reader => [name, 1, (asked) => rowBy(namesOfTokens(asked.keys), asked.row(name))]),
  ...Object.keys(VECTORS).map((name): Reader => [name, 2, (asked) => asked.number(name as Vector)]),
  ...Object.entries(VECTORS).map(([name, all]): Reader => [all, 1, (asked) => asked.numbers(name as Vector)]),
  ...CELLS.map((name): Reader => [name, 2, (asked) => asked.cell(name)]),
  ["n_tokens", 0, ({ first }) => first.tokens.length],
  ["d_k", 0, ({ first }) => first.q.width],
  ["n_heads", 0, ({ first }) => first.q.heads],
  ["n_layers", 0, ({ read }) => read.layers.length],
  ["n_scores", 0, (asked) => asked.nScores()],
  ["mean_weight", 1, (asked) => asked.meanWeight()],
];

/** The functions of expressions by name, as they read these records; `example` is meant where none is named. */
export function functionsOf(example: string, records: Records, measured: Measured = {}): Functions {
  const entries = READERS.map(([name, n, answer]): [string, Callable] => {
    return [name, (given, named) => answer(new Asked(example, records, n, given, named))];
  });
  return { ...measuredBy(measured), ...Object.fromEntries(entries), ...OF_NUMBERS };
}

/** The functions whose values came along. */
function measuredBy(measured: Measured): Functions {
  const names = Object.keys(measured).map((key) => (JSON.parse(key) as [string])[0]);
  const call = (name: string): Callable => (given, named) => found(measured, JSON.stringify([name, given, named]));
  return Object.fromEntries(names.map((name) => [name, call(name)]));
}

// records ------------------------------------------------------------------------------------------

/** One call: the layer that it reads, and what it says about it. */
class Asked {
  readonly read: Read;
  readonly layer: Layer;
  readonly #given: readonly Value[];
  readonly #named: Named;

  constructor(example: string, records: Records, n: number, given: readonly Value[], named: Named) {
    const isOther = given.length === n + 1;
    if (given.length !== n && !isOther) throw new Unanswerable(`${n} arguments are needed`);
    const read = records.get(isOther ? String(given[0]) : example);
    if (read === undefined) throw new Unanswerable("the record is not in this page");
    this.read = read;
    this.#given = isOther ? given.slice(1) : given;
    this.#named = named;
    const { layers, numbers } = read;
    const at = numbers === null ? this.#place("layer", layers.length) : numbers.indexOf(numeric(named.layer ?? 0));
    this.layer = present(layers[at]);
  }

  get first(): Layer {
    return this.read.layers[0];
  }

  get #head(): number {
    return this.#place("head", this.layer.q.heads);
  }

  #place(name: string, n: number): number {
    const at = numeric(this.#named[name] ?? 0);
    if (!Number.isInteger(at) || at < 0 || at >= n) throw new Unanswerable(`there is no ${name} ${at}`);
    return at;
  }

  query(at: number): number {
    return tokenAt(this.layer, this.layer.tokens, this.#given[at]);
  }

  key(at: number): number {
    return tokenAt(this.layer, this.keys, this.#given[at]);
  }

  get keys(): readonly Token[] {
    return this.layer.keyTokens ?? this.layer.tokens;
  }

  /** How many queries may read how many keys, together. */
  nScores(): number {
    const { q, k, rule } = this.layer;
    let n = 0;
    for (let query = 0; query < q.rows; query += 1) {
      for (let key = 0; key < k.rows; key += 1) n += Number(allowedAt(rule.allowed, query, key));
    }
    return n;
  }

  /** The mean weight on a token, or on the key so many steps further. */
  meanWeight(): number {
    const { q, k } = this.layer;
    const to = this.#given[0];
    const keyOf = typeof to === "string" ? () => this.key(0) : (query: number) => query + numeric(to);
    const all = Array.from({ length: q.rows }, (_, query) => [query, keyOf(query)]);
    const cells = all.filter(([, key]) => key >= 0 && key < k.rows);
    return cells.reduce((sum, [query, key]) => sum + weightAt(this.layer, this.#head, query, key), 0) / cells.length;
  }

  /** The numbers of the query that stands first. */
  row(stage: "scores" | "scaled" | "weights"): Float64Array {
    return rowOf(this.layer, this.#head, this.query(0))[stage];
  }

  number(name: Vector): number {
    const row = this.#vector(name);
    return row[this.#dimension(1, row.length)];
  }

  numbers(name: Vector): Row {
    const row = this.#vector(name);
    return rowBy(this.#names(row.length), row);
  }

  cell(name: (typeof CELLS)[number]): number {
    const table = present(this.layer.heads?.[name] ?? null);
    return table.values[this.#dimension(0, table.rows) * table.columns + this.#dimension(1, table.columns)];
  }

  #vector(name: Vector): ArrayLike<number> {
    const { layer } = this;
    const shared = kvHeadOf(layer, this.#head);
    switch (name) {
      case "x": return rowOfTable(present(layer.x), this.query(0));
      case "query": return rowOfHead(layer.q, this.#head, this.query(0));
      case "key": return rowOfHead(layer.k, shared, this.key(0));
      case "value": return rowOfHead(present(layer.v), shared, this.key(0));
      case "output": return present(outputRowOf(layer, this.query(0)));
    }
  }

  /** A dimension by the name that a person gave it, or by its number from 1. */
  #dimension(at: number, n: number): number {
    const name = this.#given[at];
    const place = typeof name === "string" ? this.#names(n).indexOf(name.normalize("NFC")) : numeric(name) - 1;
    if (Number.isInteger(place) && place >= 0 && place < n) return place;
    throw new Unanswerable(`there is no dimension ${String(name)}`);
  }

  #names(n: number): readonly string[] {
    const names = namesOf(this.layer, "x");
    return names?.length === n ? names : Array.from({ length: n }, (_, at) => String(at + 1));
  }
}

/** By its place or its name; of a model also by the name that is shown. */
function tokenAt({ source }: Layer, tokens: readonly Token[], token: Value): number {
  if (typeof token !== "string") return tokens[numeric(token)] ? numeric(token) : nothing(token);
  const text = token.normalize("NFC");
  const shown = source.kind === "model" ? tokens.map((one) => ({ ...one, text: one.label.text })) : tokens;
  for (const named of [tokens, shown]) {
    const at = placeOf(namesOfTokens(named), text);
    if (at >= 0) return at;
  }
  return nothing(token);
}

/** A token that stands once may also be called the#1. */
function placeOf(names: readonly string[], text: string): number {
  const at = names.indexOf(text);
  return at < 0 && text.endsWith("#1") ? names.indexOf(text.slice(0, -2)) : at;
}

function nothing(token: Value): never {
  throw new Unanswerable(`there is no token ${String(token)}`);
}

function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Unanswerable("this record does not hold it");
  return value;
}

function rowOfTable({ columns, values }: Table, row: number): ArrayLike<number> {
  return values.subarray(row * columns, (row + 1) * columns);
}

function rowOfHead({ rows, width, values }: PerHead, head: number, row: number): ArrayLike<number> {
  const at = (head * rows + row) * width;
  return values.subarray(at, at + width);
}

function rowBy(names: readonly string[], row: ArrayLike<number>): Row {
  return new Map(names.map((name, at) => [name, row[at]]));
}

// numbers ------------------------------------------------------------------------------------------

function listOf(value: Value): number[] {
  if (value instanceof Map) return [...value.values()];
  if (!Array.isArray(value)) throw new Unanswerable("a list is needed");
  return value.map(numeric);
}

/** Several numbers, or one list or row of them. */
function severalOf(given: readonly Value[]): number[] {
  return given.length === 1 && typeof given[0] === "object" ? listOf(given[0]) : given.map(numeric);
}

function softmax(row: readonly number[]): number[] {
  const top = Math.max(...row);
  const powers = row.map((one) => Math.exp(one - top));
  const sum = powers.reduce((all, one) => all + one, 0);
  return powers.map((power) => power / sum);
}

function dot(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new Unanswerable("both are equally long");
  return a.reduce((sum, one, at) => sum + one * b[at], 0);
}

function argmax(row: Value): Value {
  const numbers = listOf(row);
  const at = numbers.indexOf(Math.max(...numbers));
  if (at < 0) throw new Unanswerable("there is no largest of nothing");
  return row instanceof Map ? [...row.keys()][at] : at + 1;
}

function rank(row: Value, token: Value): number {
  const mine = row instanceof Map ? row.get(String(token)) : undefined;
  if (mine === undefined) return nothing(token);
  return 1 + listOf(row).filter((other) => other > mine).length;
}

/** As Python rounds: a half goes to the even digit. */
function rounded(value: number, digits: number): number {
  return Number(fixed(value, digits));
}

const OF_NUMBERS: Functions = {
  sqrt: ([a]) => Math.sqrt(numeric(a)),
  exp: ([a]) => Math.exp(numeric(a)),
  log: ([a]) => Math.log(numeric(a)),
  abs: ([a]) => Math.abs(numeric(a)),
  round: ([a, digits], named) => rounded(numeric(a), numeric(digits ?? named.digits ?? 0)),
  min: (given) => Math.min(...severalOf(given)),
  max: (given) => Math.max(...severalOf(given)),
  sum: (given) => severalOf(given).reduce((sum, one) => sum + one, 0),
  len: ([a]) => (typeof a === "string" ? [...a].length : listOf(a).length),
  softmax: ([a]) => softmax(listOf(a)),
  dot: ([a, b]) => dot(listOf(a), listOf(b)),
  argmax: ([a]) => argmax(a),
  rank: ([a, token]) => rank(a, token),
  cost: ([n], named) => numeric(n ?? named.n) ** 2,
  parameters: ([d, heads], named) => {
    const [width, n] = [numeric(d ?? named.d_model), numeric(heads ?? named.heads)];
    return 4 * width * n * Math.floor(width / n);
  },
};
