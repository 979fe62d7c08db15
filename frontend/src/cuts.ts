/** What the model does without some of its weights: what came with the page, and what a Python behind it is asked for. */
import { batch, signal } from "@preact/signals";
import type { Lang } from "./engine/record";
import { cuts as phrases } from "./explanation/phrases.json";
import { fill } from "./explanation/words";
import type { Listener, Model } from "./hosts/model";
import { Asker, type Trouble } from "./hosts/solver";

/** How far the output vector of one token moved. */
export interface Change {
  readonly position: number;
  readonly token: string;
  readonly norm: number;
  readonly relative: number;
  readonly cosine: number;
}

/** What the model expects at one token, with the weight and without it. */
export interface Guesses {
  readonly position: number;
  readonly token: string;
  readonly words: readonly { readonly text: string; readonly before: number; readonly after: number }[];
  readonly moved: number;
  readonly logits: number;
}

/** As picture/cuts.py makes it of a `Cut`: query null: of every token; key null: the whole row. */
export interface Cut {
  readonly document: number;
  readonly layer: number;
  readonly head: number;
  readonly query: number | null;
  readonly key: number | null;
  readonly query_text: string | null;
  readonly key_text: string | null;
  readonly weight: number | null;
  readonly way: string;
  readonly kind: "next" | "word" | "vectors" | "numbers";
  /** The furthest first. */
  readonly changes: readonly Change[];
  readonly guesses: readonly Guesses[];
}

export interface Cell {
  readonly document: number;
  readonly layer: number;
  readonly head: number;
  readonly query: number;
  readonly key: number;
}

type Question = Omit<Cell, "document"> & { readonly renormalise: boolean };

/** Beyond this somebody wonders whether anybody is there. */
const LATE_MS = 10_000;

export class Cuts {
  readonly all = signal<readonly Cut[]>([]);
  readonly state = signal<"idle" | "asking" | "late">("idle");
  /** Why the last one could not be made, and of which cell. */
  readonly wrong = signal<{ readonly cell: Cell; readonly text: Readonly<Record<string, string>> } | null>(null);
  readonly isLive: boolean;
  readonly #asker: Asker<Question, { readonly cut: Cut }>;
  readonly #model: Model;
  readonly #changed: Listener;

  constructor(model: Model) {
    this.#model = model;
    this.#asker = new Asker(model, "cut");
    this.isLive = model.get("cutter") === true;
    this.#changed = () => (this.all.value = (model.get("cuts") as readonly Cut[] | null) ?? []);
    this.#changed();
    model.on("change:cuts", this.#changed);
  }

  /** Ask Python what the model does without one weight; it runs the model twice. */
  async make(cell: Cell, renormalise: boolean): Promise<void> {
    const { document: _, ...place } = cell;
    batch(() => {
      this.state.value = "asking";
      this.wrong.value = null;
    });
    const late = setTimeout(() => (this.state.value = "late"), LATE_MS);
    const answer = await this.#asker.ask({ ...place, renormalise });
    clearTimeout(late);
    batch(() => {
      this.state.value = "idle";
      if (answer !== null) this.#take(answer, cell);
    });
  }

  dispose(): void {
    this.#model.off("change:cuts", this.#changed);
  }

  #take(answer: { readonly cut: Cut } | Trouble, cell: Cell): void {
    if ("error" in answer) this.wrong.value = { cell, text: answer.error };
    else this.all.value = [...this.all.value.filter((cut) => nameOf(cut) !== nameOf(answer.cut)), answer.cut];
  }
}

function nameOf({ document, layer, head, query, key, way }: Cut): string {
  return [document, layer, head, query, key, way].join();
}

/** Whether a cell's weight is, or is among, what was cut. */
export function isCutAt(cut: Cut, cell: Cell): boolean {
  const isHere = cut.document === cell.document && cut.layer === cell.layer && cut.head === cell.head;
  return isHere && (cut.query ?? cell.query) === cell.query && (cut.key ?? cell.key) === cell.key;
}

type Phrase = keyof typeof phrases;

/** What was cut and what stands in its place; and, where there is no table of it, what came of it. As cut_words.py. */
export function cutText(cut: Cut, lang: Lang): string {
  const one = (side: number | null): string => (side === null ? "all" : "one");
  const data = { ...cut, query: cut.query_text, key: cut.key_text };
  const said: [string, object][] = [[`cut.${one(cut.query)}.${one(cut.key)}`, data], [`way.${cut.way}`, {}]];
  if (isSame(cut)) said.push(["nothing", {}]);
  else if (cut.kind === "numbers") said.push(["numbers", cut.changes[0]]);
  return said.map(([name, of]) => fill(phrases[name as Phrase][lang === "en" ? 0 : 1], { ...of }, lang)).join(" ");
}

/** Whether the model's output is the same without it. */
export function isSame({ changes }: Cut): boolean {
  return !changes.some(({ norm }) => norm > 0);
}
