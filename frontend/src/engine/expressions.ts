/**
 * Expressions of a lesson, as lessons/expressions.py reads them: a small part of Python that computes and can do
 * nothing else. Python has checked every expression that comes here, so that a refusal only says that it cannot be computed.
 */

/** A row of numbers by name, as Python's dict. */
export type Row = ReadonlyMap<string, number>;
export type Value = number | string | boolean | readonly Value[] | Row;
export type Named = Readonly<Record<string, Value>>;
export type Callable = (given: readonly Value[], named: Named) => Value;

/** What cannot be read, or cannot be computed now. */
export class Unanswerable extends Error {}

type NamedTree = readonly [name: string, of: Tree];

type Tree =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "list"; readonly items: readonly Tree[] }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly given: readonly Tree[]; readonly named: readonly NamedTree[] }
  | { readonly kind: "not" | "minus" | "plus"; readonly of: Tree }
  | { readonly kind: "arithmetic"; readonly sign: string; readonly left: Tree; readonly right: Tree }
  | { readonly kind: "compare"; readonly first: Tree; readonly rest: readonly NamedTree[] }
  | { readonly kind: "and" | "or"; readonly parts: readonly Tree[] }
  | { readonly kind: "if"; readonly test: Tree; readonly then: Tree; readonly otherwise: Tree };

const MOST = 1e15;
const MOST_EXPONENT = 64;

/** What a text gives, for variables and functions by name. */
export function evaluated(text: string, variables: Named, functions: Readonly<Record<string, Callable>>): Value {
  return new Evaluation(variables, functions).of(treeOf(text));
}

const trees = new Map<string, Tree>();

function treeOf(text: string): Tree {
  let tree = trees.get(text);
  if (tree === undefined) {
    tree = new Parser(text).whole();
    trees.set(text, tree);
  }
  return tree;
}

// reading ------------------------------------------------------------------------------------------

const NUMBER = String.raw`\d[\d_]*(?:\.[\d_]*)?(?:e[+-]?\d+)?|\.\d[\d_]*(?:e[+-]?\d+)?`;
const TEXT = `"[^"]*"|'[^']*'`;
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
const SIGN = String.raw`\*\*|[<>=!]=|[\-+*\/<>=\(\),\[\]]`;
const TOKEN = new RegExp(`\\s*(?:(${NUMBER})|(${TEXT})|(${NAME})|(${SIGN}))`, "iuy");
const COMPARISONS = new Set(["==", "!=", "<", "<=", ">", ">="]);

interface Sign {
  readonly kind: "number" | "text" | "name" | "sign" | "end";
  readonly text: string;
}

/** By rising strength: if, or, and, not, comparisons, + −, × ÷, signs, **. */
class Parser {
  readonly #signs: readonly Sign[];
  #at = 0;

  constructor(text: string) {
    this.#signs = signsOf(text.normalize("NFC").trim());
  }

  whole(): Tree {
    const tree = this.#choice();
    if (this.#next.kind !== "end") throw new Unanswerable(this.#next.text);
    return tree;
  }

  get #next(): Sign {
    return this.#signs[this.#at];
  }

  /** The next sign or word, where it is one of these. */
  #take(...texts: readonly string[]): string | null {
    const { kind, text } = this.#next;
    if ((kind !== "sign" && kind !== "name") || !texts.includes(text)) return null;
    this.#at += 1;
    return text;
  }

  #expect(text: string): void {
    if (this.#take(text) === null) throw new Unanswerable(`${text} is missing`);
  }

  #choice(): Tree {
    const then = this.#either();
    if (this.#take("if") === null) return then;
    const test = this.#either();
    this.#expect("else");
    return { kind: "if", test, then, otherwise: this.#choice() };
  }

  #either(): Tree {
    return this.#joined("or", () => this.#joined("and", () => this.#negated()));
  }

  #joined(kind: "and" | "or", part: () => Tree): Tree {
    const parts = [part()];
    while (this.#take(kind) !== null) parts.push(part());
    return parts.length === 1 ? parts[0] : { kind, parts };
  }

  #negated(): Tree {
    return this.#take("not") === null ? this.#compared() : { kind: "not", of: this.#negated() };
  }

  #compared(): Tree {
    const first = this.#sum();
    const rest: [string, Tree][] = [];
    while (this.#next.kind === "sign" && COMPARISONS.has(this.#next.text)) {
      rest.push([this.#take(this.#next.text)!, this.#sum()]);
    }
    return rest.length === 0 ? first : { kind: "compare", first, rest };
  }

  #sum(): Tree {
    return this.#chain(["+", "-"], () => this.#chain(["*", "/"], () => this.#signed()));
  }

  #chain(signs: readonly string[], part: () => Tree): Tree {
    let left = part();
    for (let sign = this.#take(...signs); sign !== null; sign = this.#take(...signs)) {
      left = { kind: "arithmetic", sign, left, right: part() };
    }
    return left;
  }

  #signed(): Tree {
    const sign = this.#take("-", "+");
    if (sign !== null) return { kind: sign === "-" ? "minus" : "plus", of: this.#signed() };
    const left = this.#atom();
    return this.#take("**") === null ? left : { kind: "arithmetic", sign: "**", left, right: this.#signed() };
  }

  #atom(): Tree {
    const { kind, text } = this.#next;
    this.#at += 1;
    if (kind === "number") return { kind: "value", value: Number(text.replaceAll("_", "")) };
    if (kind === "text") return { kind: "value", value: text.slice(1, -1) };
    if (kind === "name" && (text === "True" || text === "False")) return { kind: "value", value: text === "True" };
    if (kind === "name") return this.#take("(") === null ? { kind: "name", name: text } : this.#call(text);
    if (text === "[") return { kind: "list", items: this.#several("]", () => this.#choice()) };
    if (kind !== "sign" || text !== "(") throw new Unanswerable(`${text} was not expected`);
    const inner = this.#choice();
    this.#expect(")");
    return inner;
  }

  #call(name: string): Tree {
    const given: Tree[] = [];
    const named: [string, Tree][] = [];
    this.#several(")", () => {
      const { kind, text } = this.#next;
      const isNamed = kind === "name" && this.#signs[this.#at + 1].text === "=";
      if (isNamed) this.#at += 2;
      const of = this.#choice();
      if (isNamed) named.push([text, of]);
      else given.push(of);
      return of;
    });
    return { kind: "call", name, given, named };
  }

  #several(end: string, one: () => Tree): Tree[] {
    const found: Tree[] = [];
    while (this.#take(end) === null) {
      found.push(one());
      if (this.#take(",") !== null) continue;
      this.#expect(end);
      break;
    }
    return found;
  }
}

const KINDS = ["number", "text", "name", "sign"] as const;

function signsOf(text: string): Sign[] {
  const signs: Sign[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const from = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) throw new Unanswerable(text.slice(from));
    const at = KINDS.findIndex((_, group) => found[group + 1] !== undefined);
    signs.push({ kind: KINDS[at], text: found[at + 1] });
  }
  return [...signs, { kind: "end", text: "" }];
}

// computing ----------------------------------------------------------------------------------------

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "**": (a, b) => a ** b,
};
const ORDER: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

class Evaluation {
  constructor(
    readonly variables: Named,
    readonly functions: Readonly<Record<string, Callable>>,
  ) {}

  of(tree: Tree): Value {
    switch (tree.kind) {
      case "value": return bounded(tree.value);
      case "list": return tree.items.map((item) => this.of(item));
      case "name": return found(this.variables, tree.name);
      case "call": return this.#call(tree.name, tree.given, tree.named);
      case "not": return !isTrue(this.of(tree.of));
      case "minus": return -numeric(this.of(tree.of));
      case "plus": return numeric(this.of(tree.of));
      case "arithmetic": return this.#arithmetic(tree.sign, numeric(this.of(tree.left)), numeric(this.of(tree.right)));
      case "compare": return this.#compare(this.of(tree.first), tree.rest);
      case "and": return tree.parts.every((part) => isTrue(this.of(part)));
      case "or": return tree.parts.some((part) => isTrue(this.of(part)));
      case "if": return this.of(isTrue(this.of(tree.test)) ? tree.then : tree.otherwise);
    }
  }

  #call(name: string, given: readonly Tree[], named: readonly NamedTree[]): Value {
    const call = found(this.functions, name);
    const byName = Object.fromEntries(named.map(([key, one]) => [key, this.of(one)]));
    return bounded(call(given.map((one) => this.of(one)), byName));
  }

  #arithmetic(sign: string, left: number, right: number): Value {
    const isLarge = Math.abs(right) > MOST_EXPONENT || Math.log10(Math.abs(left) + 1) * right > 15;
    if (sign === "**" && isLarge) throw new Unanswerable("the power is too large");
    return bounded(ARITHMETIC[sign](left, right));
  }

  #compare(first: Value, rest: readonly NamedTree[]): boolean {
    let left = first;
    for (const [sign, tree] of rest) {
      const right = this.of(tree);
      const isOrder = sign in ORDER;
      if (isOrder && !ORDER[sign](numeric(left), numeric(right))) return false;
      if (!isOrder && isEqual(left, right) !== (sign === "==")) return false;
      left = right;
    }
    return true;
  }
}

/** What a name means; nothing that every object has. */
export function found<T>(table: Readonly<Record<string, T>>, name: string): T {
  if (!Object.hasOwn(table, name)) throw new Unanswerable(`unknown name ${name}`);
  return table[name];
}

/** A number; True counts as 1, as in Python. */
export function numeric(value: Value): number {
  if (typeof value !== "number" && typeof value !== "boolean") throw new Unanswerable("a number is needed");
  return Number(value);
}

function bounded(value: Value): Value {
  if (typeof value !== "number" || Math.abs(value) <= MOST) return value;
  throw new Unanswerable("the number is too large, or none");
}

/** What counts as true in Python: neither 0 nor empty. */
export function isTrue(value: Value): boolean {
  if (value instanceof Map) return value.size > 0;
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function isEqual(a: Value, b: Value): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, at) => isEqual(one, b[at]));
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([name, one]) => b.get(name) === one);
  }
  const plain = (value: Value): Value => (typeof value === "boolean" ? Number(value) : value);
  return plain(a) === plain(b);
}
