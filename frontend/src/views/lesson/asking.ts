/** Numbers drawn for a question, and what somebody typed judged as lessons/lesson.py judges it. */
import type { Named, Value } from "../../engine/expressions";
import type { Question, Text, Typed } from "./lesson";

/** A number from 0 up to 1, as Math.random gives it. */
export type Chance = () => number;

const MOST_TRIES = 20;
const NOTHING = 1e-9; // what rounding leaves of a whole number

/** Numbers for a question; others than last time, where there are others. */
export function drawn({ draws, sets }: Question, before: Named | null = null, chance: Chance = Math.random): Named {
  const one = <T>(values: readonly T[]): T => values[Math.floor(chance() * values.length)];
  const each = (): Named => Object.fromEntries(draws.map(([name, values]) => [name, one(values)]));
  const draw = (): Named => (sets.length ? one(sets) : each());
  let made = draw();
  for (let n = 0; n < MOST_TRIES && JSON.stringify(made) === JSON.stringify(before); n += 1) made = draw();
  return made;
}

/** A number as people type it, as lessons/typed.py reads it; null where it is none. `isWhole`: so is the answer. */
export function typedNumber(text: string, isWhole: boolean, { letters, pattern, words }: Typed): number | null {
  const plain = text.normalize("NFC").toLowerCase().replace(/[^]/g, (letter) => letters[letter] ?? letter);
  const [, number, comma, below = 1, percent, word] = RegExp(pattern).exec(plain) ?? [];
  const above = Number(number?.replace(/[ ,]/g, "") ?? comma?.replace(",", "."));
  const value = word ? words[word] : above / Number(below) / (percent ? 100 : 1);
  return (isWhole ? comma : word) || !isFinite(value) ? null : value;
}

/** Whether what was given counts as an answer. */
export function isNear(answer: Value, given: Value, tolerance: number | null): boolean {
  if (typeof answer === "string" || typeof given === "string") return answer === given;
  const allowed = tolerance ?? 0.005 * Math.max(1, Math.abs(Number(answer)));
  return Math.abs(Number(given) - Number(answer)) <= allowed * (1 + 1e-9);
}

export type Judged =
  | { readonly kind: "right" | "wrong" | "no_number" }
  | { readonly kind: "slip"; readonly said: Text };

/** What comes of an answer; `compute` computes an expression with the numbers that were drawn. */
export function judged(question: Question, text: string, compute: (expression: string) => Value, typed: Typed): Judged {
  const answer = compute(question.answer);
  const isWhole = isNear(answer, Math.round(Number(answer)), NOTHING);
  const given = typeof answer === "string" ? text.normalize("NFC").trim() : typedNumber(text, isWhole, typed);
  if (given === null) return { kind: "no_number" };
  if (isNear(answer, given, question.tolerance)) return { kind: "right" };
  const slip = question.mistakes.find(([expression]) => isNear(compute(expression), given, question.tolerance));
  return slip === undefined ? { kind: "wrong" } : { kind: "slip", said: slip[1] };
}

/** What `jumok check --json` said of an exercise. A server behind the page gives the same. */
export interface Verdict {
  readonly isRight: boolean;
  readonly kind: string | null;
  readonly text: Readonly<Record<string, string>>;
}

/** The verdict that a text holds; null where it holds none. */
export function verdictOf(text: string): Verdict | null {
  return verdictIn(jsonOf(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)));
}

export function verdictIn(plain: Readonly<Record<string, unknown>> | null): Verdict | null {
  if (plain?.format !== "jumok-verdict" || typeof plain.text !== "object") return null;
  const isRight = plain.status === "right" || plain.status === "right-differently";
  return { isRight, kind: typeof plain.kind === "string" ? plain.kind : null, text: plain.text as Verdict["text"] };
}

/** Whether it judges another kind of code than was asked for. Code that cannot run is of no kind, and its text says why. */
export function isOfOther({ kind }: Verdict, checks: string): boolean {
  return kind !== null && kind !== "" && kind !== checks;
}

/** An object of JSON; null where the text is none. */
export function jsonOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const plain: unknown = JSON.parse(text);
    return typeof plain === "object" && plain !== null ? (plain as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
