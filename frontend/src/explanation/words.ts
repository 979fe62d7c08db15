/** How a sentence is filled: Korean particles, numbers, tokens as a reader can see them. As explanation/words.py. */

import type { Lang } from "../engine/record";
import { isolated } from "../isolated";
import { pieces, small } from "./phrases.json";

export type Dim = readonly [name: string, value: number];
/** [name, a, b] for a × b; [null, n, sum] for those left out. */
export type Term = readonly [name: string | number | null, a: number, b: number];
export type Step = readonly [kind: string, value: number];
/** What a fact may hold. */
export type Value = string | number | ArrayLike<number> | readonly (string | number)[] | readonly (Dim | Term | Step)[];
export type Data = Readonly<Record<string, Value>>;
export type Meaning = Readonly<Record<string, Readonly<Record<string, string>>>>;

const LANGS: readonly Lang[] = ["en", "ko"];

/** The text of a pair of texts in a language. */
export function inLanguage(pair: readonly string[], lang: Lang): string {
  return pair[LANGS.indexOf(lang)];
}

// tokens -------------------------------------------------------------------------------------------

// What has ink of its own: no space or mark, no filler of Hangul, no empty cell of Braille.
const INK = /[^\p{C}\p{Z}\p{Mn}\p{Me}\u115f\u1160\u2800\u3164\uffa0]/u;
// Joiners and variation selectors stay: inside emoji and some scripts these are seen as one sign.
const UNSEEN = /(?![\u200c\u200d\ufe0e\ufe0f])[\p{C}\p{Zl}\p{Zp}]/gu;
const VISIBLE = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);

/**
 * A token as it can be seen on one line: composed, with control and direction characters spelled out. Where nothing in it
 * has ink of its own (spaces, joiners, a mark alone), all of it is spelled out, a space as ␣.
 */
export function shown(text: string): string {
  const composed = text.normalize("NFC");
  if (INK.test(composed)) return composed.replace(UNSEEN, spelled);
  return composed.replace(/[^ ]/gu, spelled).replaceAll(" ", "␣") || "''";
}

function spelled(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  const hex = (digits: number) => code.toString(16).padStart(digits, "0");
  return VISIBLE.get(letter) ?? (code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`);
}

const PLAIN = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_ '’.-]*[\p{L}\p{N}_])?$/u;
const SMALL_WORDS = new Set(small);

/** A token inside a sentence: in quotes where it could be read as a word of the sentence itself. */
export function quoted(token: string, lang: Lang): string {
  const text = shown(token);
  if (text === "''") return text;
  const isOwnWord = lang === "en" ? SMALL_WORDS.has(text.toLowerCase()) : /[가-힣]$/.test(text);
  return PLAIN.test(text) && !isOwnWord ? isolated(text) : `'${isolated(text)}'`;
}

/** A text among others. */
function among(text: string): string {
  return isolated(shown(text));
}

/** A person's text in a language, as it can be seen; "" where there is none. */
function meant(meaning: Meaning, name: string, lang: Lang): string {
  const text = Object.hasOwn(meaning, name) && Object.hasOwn(meaning[name], lang) ? meaning[name][lang] : "";
  return text === "" ? "" : shown(text);
}

// numbers ------------------------------------------------------------------------------------------

/** A number as people write it: three decimals without zeros at the end, powers of ten beyond. */
export function number(value: number): string {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size < 0.0005 || size >= 1e6) return inPowersOfTen(value);
  return fixed(value, 3).replace(/\.?0+$/, "");
}

/** A share in percent, one decimal: 0.5499 → 55.0%. */
export function percent(value: number): string {
  return `${fixed(100 * value, 1)}%`;
}

/** As toFixed, but a number exactly half-way goes to the even digit, as in Python: 0.0625 → 0.062. */
export function fixed(value: number, digits: number): string {
  const halves = value * 2 ** (digits + 1); // whole and odd only where value · 10^digits ends in exactly .5
  const text = value.toFixed(digits);
  return Number.isInteger(halves) && halves % 2 !== 0 ? toEven(text) : text;
}

function inPowersOfTen(value: number): string {
  const [mantissa, power] = value.toExponential(2).split("e");
  const isHalfWay = /\.\d\d50*e/.test(value.toExponential(40)); // where it is, 40 digits are all there are
  return `${isHalfWay ? toEven(mantissa) : mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

/** JavaScript rounds a half away from zero; where that left an odd last digit, Python has the one below it. */
function toEven(text: string): string {
  return text.replace(/[13579]$/, (digit) => String(Number(digit) - 1));
}

/** A whole number with commas: 12345 → 12,345. */
function whole(value: number): string {
  return String(Math.trunc(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

function bracketed(value: number): string {
  const text = number(value);
  return text.startsWith("-") ? `(${text})` : text;
}

// Korean particles ---------------------------------------------------------------------------------

const DIGITS: Readonly<Record<string, string>> = { 0: "ㅇ", 1: "ㄹ", 3: "ㅁ", 6: "ㄱ", 7: "ㄹ", 8: "ㄹ" };
const WRITTEN_WITH_A_VOWEL = new Set(["mat", "bat", "net", "set", "hit", "jet", "knit"]); // 매트, 배트 …
const LETTER_NAMES: Readonly<Record<string, string>> = { l: "ㄹ", m: "ㅁ", n: "ㄴ", r: "ㄹ" }; // 엘 엠 엔 알

/** The right half of a pair such as 은/는, 으로/로 after a word; 은(는) where it cannot be read aloud. */
export function particle(word: string, pair: string): string {
  const [closed, opened = ""] = pair.split("/");
  const final = finalOf(word);
  if (final === null) return `${closed}(${opened})`;
  if (closed === "으로") return final === "" || final === "ㄹ" ? opened : closed;
  return final === "" ? opened : closed;
}

/** The consonant that a word ends in when read aloud in Korean; "" for a vowel, null where nobody can say. */
function finalOf(word: string): string | null {
  const last = word.normalize("NFC").match(/[\p{L}\p{N}]/gu)?.at(-1);
  if (last === undefined) return null;
  if (last >= "가" && last <= "힣") {
    const jong = (last.charCodeAt(0) - "가".charCodeAt(0)) % 28;
    return jong === 0 ? "" : jong === 8 ? "ㄹ" : "ㅂ";
  }
  if (/[0-9]/.test(last)) return DIGITS[last] ?? "";
  if (/[a-z]/i.test(last)) return latinFinal(latinTail(word), word.replace(/[^A-Za-z]/g, ""));
  if (last >= "ぁ" && last <= "ヿ") return last === "ん" || last === "ン" ? "ㄴ" : "";
  return null;
}

/** The last run of Latin letters; what is no letter or digit may follow it. */
function latinTail(word: string): string {
  return /[a-z]*$/.exec(word.toLowerCase().replace(/[^\p{L}\p{N}]+$/u, ""))?.[0] ?? "";
}

function latinFinal(tail: string, letters: string): string {
  if (WRITTEN_WITH_A_VOWEL.has(tail)) return "";
  const isSpelled = /^[A-Z]+$/.test(letters) && !/[aeiouy]/.test(tail);
  if (tail.length === 1 || isSpelled) return LETTER_NAMES[tail.slice(-1)] ?? "";
  if (/(l|[bcdfgkpstz]le|[aeiouy]le)$/.test(tail)) return "ㄹ";
  if (/([mn]|ng|[aeiouy][mn]e)$/.test(tail)) return "ㄴ";
  return /(^|[^aeiouy])[aeiou][ptck]$|oo[pk]$|ck$/.test(tail) ? "ㄱ" : "";
}

// sentences ----------------------------------------------------------------------------------------

/** Pieces are filled with what is said already. */
export function piece(name: keyof typeof pieces, lang: Lang, data: Readonly<Record<string, string>> = {}): string {
  return inLanguage(pieces[name], lang).replace(/\{(\w+)\}/g, (_, key: string) => data[key]);
}

/** How each kind of value is said. */
class Filler {
  constructor(
    readonly lang: Lang,
    readonly meaning: Meaning,
  ) {}

  dimension(name: string | number, withMeaning = false): string {
    if (typeof name === "number") return piece("dimension", this.lang, { number: String(name + 1) });
    const words = withMeaning ? meant(this.meaning, name, this.lang) : "";
    return words !== "" && words !== name ? `${among(name)} (${isolated(words)})` : among(name);
  }

  joined(parts: readonly string[]): string {
    return [...parts.slice(0, -2), parts.slice(-2).join(piece("last", this.lang))].join(", ");
  }

  dims(dims: readonly Dim[], withMeaning = false): string {
    return dims.map(([name, a]) => `${this.dimension(name, withMeaning)} ${number(a)}`).join(", ");
  }

  terms(terms: readonly Term[]): string {
    const some = terms.some(([name]) => name === null); // then a dimension without a name is told by its number
    const said = terms.map(([name, a, b]) => {
      if (name === null) return piece("more", this.lang, { n: String(a), sum: number(b) });
      return `${some || typeof name === "string" ? `${this.dimension(name)} ` : ""}${bracketed(a)}×${bracketed(b)}`;
    });
    return said.join(" + ") || "0";
  }

  steps(steps: readonly Step[]): string {
    return steps.map(([kind, a]) => STEPS[kind](number(a), this.lang, a)).join(" ");
  }

  rows(rows: readonly Dim[]): string {
    const said = rows.map(([name, a]) => piece("row", this.lang, { a: bracketed(a), dimension: this.dimension(name) }));
    return said.join(" + ");
  }

  vector(vector: ArrayLike<number>): string {
    const numbers = Array.from({ length: Math.min(8, vector.length) }, (_, at) => number(vector[at]));
    return `(${[...numbers, ...(vector.length > 8 ? ["…"] : [])].join(", ")})`;
  }

  /** Two weights beside each other: the larger over the smaller, so that no small fraction has to be read. */
  ratio(value: number): string {
    const [first, second] = value >= 1 ? [number(value), "1"] : ["1", number(1 / Math.max(value, 1e-300))];
    return piece("ratio", this.lang, { first, second });
  }

  /** A text in quotes where it needs them, or a number; with the right particle where one is asked for. */
  plain(value: string | number, pair: string): string {
    const text = typeof value === "string" ? quoted(value, this.lang) : number(value);
    return pair === "" ? text : text + particle(text, pair);
  }
}

const STEPS: Readonly<Record<string, (text: string, lang: Lang, value: number) => string>> = {
  root: (a) => `÷ √${a}`,
  scale: (a) => `× ${a}`,
  temperature: (a, lang) => `÷ ${a} (${piece("temperature", lang)})`,
  softcap: (a, lang) => `→ ${a}·tanh(… ÷ ${a}) (${piece("softcap", lang)})`,
  bias: (_, lang, a) => `${a >= 0 ? "+" : "-"} ${number(Math.abs(a))} (${piece("bias", lang)})`,
};

// A template and the fact it is for agree about what stands where: tests say every sentence.
const SPECS: Readonly<Record<string, (filler: Filler, value: never) => string>> = {
  e: (_, text: string) => among(text),
  as: (_, text: string) => text,
  n: (_, a: number) => number(a),
  pct: (_, a: number) => percent(a),
  int: (_, a: number) => whole(a),
  dim: (filler, name: string | number) => filler.dimension(name),
  "dim+": (filler, name: string | number) => filler.dimension(name, true),
  dims: (filler, dims: readonly Dim[]) => filler.dims(dims),
  "dims+": (filler, dims: readonly Dim[]) => filler.dims(dims, true),
  names: (filler, names: readonly string[]) => filler.joined(names.map((name) => quoted(name, filler.lang))),
  dimnames: (filler, names: readonly (string | number)[]) => filler.joined(names.map((name) => filler.dimension(name))),
  ranked: (_, ranked: readonly Dim[]) => ranked.map(([name, a]) => `${among(name)} ${percent(a)}`).join(", "),
  terms: (filler, terms: readonly Term[]) => filler.terms(terms),
  steps: (filler, steps: readonly Step[]) => filler.steps(steps),
  rows: (filler, rows: readonly Dim[]) => filler.rows(rows),
  words: (filler, names: readonly string[]) =>
    names.map((name) => isolated(meant(filler.meaning, name, filler.lang) || shown(name))).join(", "),
  vec: (filler, vector: ArrayLike<number>) => filler.vector(vector),
  ratio: (filler, a: number) => filler.ratio(a),
};

/**
 * A sentence: a template with its facts put in. `{token}` shows a text, `{token:은/는}` adds the right particle,
 * `{w:n}` a number, `{w:pct}` a share, `{dims:dims}` dimensions with their numbers, `{what:as}` what was filled before, and
 * so on. What is written from right to left is kept apart (isolated.ts).
 */
export function fill(template: string, data: Data, lang: Lang, meaning: Meaning = {}): string {
  const filler = new Filler(lang, meaning);
  return template.replace(/\{(\w+)(?::([^}]*))?\}/g, (_, name: string, spec = "") => {
    if (!Object.hasOwn(data, name)) throw new Error(`the sentence ${template} needs the fact ${name}`);
    const value = data[name] as never;
    return Object.hasOwn(SPECS, spec) ? SPECS[spec](filler, value) : filler.plain(value, spec);
  });
}
