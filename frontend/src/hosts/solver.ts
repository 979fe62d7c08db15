/** Python behind the page, where there is one: given an example file with `wanted:`, it answers with W_Q and W_K. */
import type { Model } from "./model";

/** What is asked: the file as `jumok design` reads it, and what of it stays as it stands. */
export interface Question {
  readonly example: string;
  readonly fixed: "w_k" | null;
}

type Rows = readonly (readonly number[])[];

/** What came back; `error` in each language where it could not be solved. */
export type Answer =
  | { readonly w_q: Rows; readonly w_k: Rows; readonly report: unknown }
  | { readonly error: Readonly<Record<string, string>> };

/** One question is under way at a time; of those that come meanwhile only the last is asked, and answered. */
export class Solver {
  #number = 0;
  #isAsking = false;
  #next: { readonly question: Question; readonly resolve: (answer: Answer | null) => void } | null = null;

  constructor(readonly model: Model) {}

  /** The answer; null where a later question took its place. */
  ask(question: Question): Promise<Answer | null> {
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
      const said = given[0] as { kind?: string; number?: number } & Answer;
      if (said.kind !== "design" || said.number !== number) return;
      this.model.off("msg:custom", answered);
      this.#isAsking = false;
      resolve(this.#next === null ? said : null);
      if (this.#next !== null) this.#sendNext();
    };
    this.#next = null;
    this.#isAsking = true;
    this.model.on("msg:custom", answered);
    this.model.send({ kind: "design", number, ...question });
  }
}

/** null where no Python is behind the page. */
export function solverOf(model: Model): Solver | null {
  return model.get("solver") === true ? new Solver(model) : null;
}
