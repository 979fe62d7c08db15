/** Python behind the page, where there is one: what it is asked, and what it answers. */
import type { Model } from "./model";

/** Why there is no answer, in each language. */
export interface Trouble {
  readonly error: Readonly<Record<string, string>>;
}

/** What is asked of a design: the file as `jumok design` reads it, and what of it stays as it stands. */
export interface Question {
  readonly example: string;
  readonly fixed: "w_k" | null;
}

type Rows = readonly (readonly number[])[];

/** What came back, or why it could not be solved. */
export type Answer = { readonly w_q: Rows; readonly w_k: Rows; readonly report: unknown } | Trouble;

/** One question is under way at a time; of those that come meanwhile only the last is asked, and answered. */
export class Asker<Q extends object, A extends object> {
  #number = 0;
  #isAsking = false;
  #next: { readonly question: Q; readonly resolve: (answer: A | Trouble | null) => void } | null = null;

  constructor(
    readonly model: Model,
    /** Which sort of question this is: the answers to it say the same. */
    readonly kind: string,
  ) {}

  /** The answer; null where a later question took its place. */
  ask(question: Q): Promise<A | Trouble | null> {
    return new Promise((resolve) => {
      this.#next?.resolve(null);
      this.#next = { question, resolve };
      if (!this.#isAsking) this.#sendNext();
    });
  }

  #sendNext(): void {
    const { question, resolve } = this.#next!;
    const number = (this.#number += 1);
    const answered = (...given: unknown[]): void => {
      const said = given[0] as { kind?: string; number?: number } & (A | Trouble);
      if (said.kind !== this.kind || said.number !== number) return;
      this.model.off("msg:custom", answered);
      this.#isAsking = false;
      resolve(this.#next === null ? said : null);
      if (this.#next !== null) this.#sendNext();
    };
    this.#next = null;
    this.#isAsking = true;
    this.model.on("msg:custom", answered);
    this.model.send({ kind: this.kind, number, ...question });
  }
}

/** Given an example file with `wanted:`, it answers with W_Q and W_K. */
export type Solver = Asker<Question, Exclude<Answer, Trouble>>;

/** null where no Python is behind the page. */
export function solverOf(model: Model): Solver | null {
  return model.get("solver") === true ? new Asker(model, "design") : null;
}
