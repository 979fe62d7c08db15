/** What Python says of a lesson (lessons/tree.py): pieces and blocks, each text as runs of letters. */
import type { Named, Value } from "../../engine/expressions";
import type { Measured } from "../../engine/functions";
import type { Lang } from "../../engine/record";
import type { Choice } from "../../state";

/** Letters; a number that Python computed, and what gave it; or what is computed once numbers are drawn. */
export type Part =
  | string
  | { readonly value: string; readonly from: string }
  | { readonly drawn: string; readonly spec: string };

export type Span = readonly [kind: string, parts: readonly Part[], href?: string];
export type Text = readonly Span[];

export type Entry = readonly [depth: number, text: Text];

export type Piece =
  | { readonly kind: "heading"; readonly level: number; readonly text: Text }
  | { readonly kind: "paragraph" | "quote"; readonly text: Text }
  | { readonly kind: "items"; readonly ordered: boolean; readonly entries: readonly Entry[] }
  | { readonly kind: "table"; readonly rows: readonly (readonly Text[])[] }
  | { readonly kind: "code"; readonly code: string };

interface Of<Kind extends string> {
  readonly kind: Kind;
  readonly id: string;
  readonly hints: readonly Text[];
}

export type Show = Of<"show"> & { readonly view: string; readonly choice: Partial<Choice>; readonly command: string };

export type Predict = Of<"predict"> & {
  readonly ask: Text;
  readonly choices: readonly Text[];
  readonly answer: Value;
  /** Which choice the answer is. */
  readonly right: number;
  readonly after: Text;
};

export type Question = Of<"question"> & {
  readonly ask: Text;
  readonly draws: readonly (readonly [name: string, values: readonly (number | string)[]])[];
  /** Where something was measured for these numbers: one of them is drawn. */
  readonly sets: readonly Named[];
  readonly answer: string;
  readonly tolerance: number | null;
  readonly mistakes: readonly (readonly [slip: string, said: Text])[];
  readonly after: Text;
};

export type Try = Of<"try"> & {
  readonly say: Text;
  /** The state of the live view in which it begins, with the document that is changed. */
  readonly choice: Partial<Choice> & { readonly document: number };
  readonly command: string;
  readonly goal: string;
  /** One way, as it is done in the live view. */
  readonly solution: string;
};

export type Exercise = Of<"exercise"> & {
  readonly say: Text;
  /** What `jumok check --kind` is told. */
  readonly checks: string;
  readonly file: string;
  readonly command: string;
  readonly stub: string;
  readonly solution: string;
};

/** What is done, and counts. */
export type Asking = Predict | Question | Try | Exercise;
export type Element = Piece | Show | Asking;

export interface Goal {
  readonly text: Readonly<Record<Lang, string>>;
  /** What counts for it, in the whole course. */
  readonly blocks: readonly (readonly [lesson: string, block: string])[];
  readonly is_here: boolean;
}

/** How a number is read that somebody types (lessons/typed.py): what a letter stands for, the groups of a number, what a word means. */
export interface Typed {
  readonly letters: Readonly<Record<string, string>>;
  readonly pattern: string;
  readonly words: Readonly<Record<string, number>>;
}

export interface Lesson {
  readonly name: string;
  readonly command: string;
  /** What each document of the page is called in expressions; the first is meant where none is named. */
  readonly examples: readonly string[];
  readonly minutes: number;
  readonly elements: Readonly<Partial<Record<Lang, readonly Element[]>>>;
  readonly measured: Measured;
  readonly typed: Typed;
  readonly goals: readonly Goal[];
}

const ASKING = new Set(["predict", "question", "try", "exercise"]);

export function isAsking(element: Element): element is Asking {
  return ASKING.has(element.kind);
}
