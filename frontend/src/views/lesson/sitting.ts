/** Somebody at work on a lesson in this page: its records as they came and as they are now, and what was done. */
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import { evaluated, isTrue, Unanswerable, type Named, type Value } from "../../engine/expressions";
import { functionsOf, type Read } from "../../engine/functions";
import type { Lang, Layer } from "../../engine/record";
import type { Choice, Desk, Session } from "../../state";
import type { Checker } from "./checker";
import type { Kept } from "./kept";
import { isAsking, type Asking, type Element, type Lesson, type Try } from "./lesson";

/** Which of the two is seen where there is room for one. */
export type Pane = "lesson" | "live";

export class Sitting {
  readonly pane = signal<Pane>("lesson");
  /** The change that was read last, or begun. */
  readonly task = signal<Try | null>(null);
  /** The language of the lesson: the page's, where it is written in it. */
  readonly lang: ReadonlySignal<Lang>;
  readonly elements: ReadonlySignal<readonly Element[]>;
  readonly asking: ReadonlySignal<readonly Asking[]>;
  /** The first guess is still to be made: the weights would answer it. */
  readonly isGuessOpen: ReadonlySignal<boolean>;
  /** The records as they came, though the live view may have changed its own; null while one is on its way. */
  readonly given: ReadonlySignal<ReadonlyMap<string, Read> | null>;

  constructor(
    readonly session: Session,
    readonly lesson: Lesson,
    readonly kept: Kept,
    /** Python behind the page, which judges code; null where there is none. */
    readonly checker: Checker | null = null,
  ) {
    const written = Object.keys(lesson.elements) as Lang[];
    this.lang = computed(() => (written.includes(session.choice.lang.value) ? session.choice.lang.value : written[0]));
    this.elements = computed(() => lesson.elements[this.lang.value]!);
    this.asking = computed(() => this.elements.value.filter(isAsking));
    this.isGuessOpen = computed(() => {
      const first = this.asking.value.find(({ kind }) => kind === "predict");
      return first !== undefined && !this.isDone(first.id);
    });
    this.given = computed(() => {
      const given = session.desks.map((desk, at) => [lesson.examples[at], givenOf(desk)] as const);
      return given.every((one): one is [string, Read] => one[1] !== null) ? new Map(given) : null;
    });
  }

  /** What an expression of a question gives: of the records as they came. */
  compute(expression: string, drawn: Named): Value {
    const { examples, measured } = this.lesson;
    return evaluated(expression, drawn, functionsOf(examples[0], this.given.value!, measured));
  }

  /** Whether the goal holds in the live view now; what cannot be computed there is not reached. */
  holds({ goal, choice: { document } }: Try): boolean {
    const { examples, measured } = this.lesson;
    const live = liveOf(this.session.desks[document]);
    if (live === null || this.given.value === null) return false;
    const records = new Map([...this.given.value, [examples[document], live]]);
    try {
      return isTrue(evaluated(goal, {}, functionsOf(examples[document], records, measured)));
    } catch (error) {
      if (error instanceof Unanswerable) return false;
      throw error;
    }
  }

  /** Whether somebody changed the record so that the goal holds. */
  isReaching(block: Try): boolean {
    return this.isChanged(block) && this.holds(block);
  }

  isChanged({ choice: { document } }: Try): boolean {
    const { sheet, original } = this.session.desks[document];
    return sheet.value !== original;
  }

  isRight(id: string): boolean {
    return this.kept.has(this.lesson.name, id, "right");
  }

  isDone(id: string): boolean {
    return this.isRight(id) || this.kept.has(this.lesson.name, id, "guessed");
  }

  /** Bring the live view into a state, and to the eye. */
  show(choice: Partial<Choice>): void {
    batch(() => {
      this.session.choose(choice);
      this.pane.value = "live";
    });
  }
}

function givenOf(desk: Desk): Read | null {
  const { facts, numbers = null } = desk.document;
  const layers = facts.map((_, at) => {
    const layer = desk.document.layer(at);
    return layer instanceof Promise ? desk.layer(at) : layer;
  });
  return layers.every((layer): layer is Layer => layer !== null) ? { layers, numbers } : null;
}

function liveOf({ made, document }: Desk): Read | null {
  return made.value && { layers: made.value, numbers: document.numbers ?? null };
}
