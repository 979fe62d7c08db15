/** What was measured, as its page carries it: src/jumok/picture/measured_page.py writes it, frontend/README.md describes it. */
import type { Lang } from "../../engine/record";
import { decoded } from "../../hosts/page";

type Both = readonly [en: string, ko: string];
type Texts = Readonly<Record<Lang, string>>;

export interface Family {
  readonly title: Both;
  readonly colour: string;
  readonly ink: string;
}

export interface Role {
  readonly name: string;
  /** The few letters that stand for it in a cell. */
  readonly mark: Both;
  readonly family: number;
  readonly measure: "most" | "weight" | "distance" | "evenness";
  readonly formula: string;
  readonly title: Both;
  readonly text: Both;
}

/** What is said of one head. `role` names it (−1: none does), its numbers are of `told` (−1: nothing can be said). */
export interface Card {
  readonly layer: number;
  readonly head: number;
  readonly kind: "named" | "trace" | "none" | "few" | "unmeasured";
  readonly role: number;
  readonly told: number;
  readonly said: Readonly<Record<Lang, readonly string[]>>;
}

/** A token's text; of a piece of a character, or a mark of the tokenizer, more. */
export type Label = string | readonly [text: string, part: number, parts: number, isMark: boolean];

export interface Sentence {
  readonly name: string;
  readonly tokens: readonly Label[];
}

export type Example = readonly [
  card: number, role: number, sentence: number, query: readonly number[], key: readonly number[], weight: number,
];

export interface Told {
  readonly title: Texts;
  readonly under: Texts;
  readonly overview: Readonly<Record<Lang, readonly string[]>>;
  readonly n_heads: readonly number[];
  readonly families: readonly Family[];
  readonly roles: readonly Role[];
  readonly rules: readonly Texts[];
  readonly cards: readonly Card[];
  readonly sentences: readonly Sentence[];
  readonly examples: readonly Example[];
  readonly n_rows: number;
  readonly columns: readonly (readonly [name: Sent, kind: keyof typeof KINDS])[];
}

const REALS = ["score", "with_sink", "without_sink", "baseline", "low", "high", "q", "way"] as const;
const COUNTS = ["n_cases", "n_sentences"] as const;
const PLACES = ["card", "role", "rule", "verdict"] as const;
type Sent = (typeof REALS)[number] | (typeof COUNTS)[number] | (typeof PLACES)[number];
export type Column = Sent | "difference";
const KINDS = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

export const VERDICTS = ["evidence", "no-evidence", "too-few"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The rows of the table are numbers; NaN where there is none. */
export class Measured {
  readonly columns: Readonly<Record<Column, ArrayLike<number>>>;
  readonly #rows: Int32Array;
  readonly #examples = new Map<number, Example[]>();

  constructor(readonly told: Told, numbers: ArrayBuffer) {
    this.columns = columnsOf(told, numbers);
    const { card, role } = this.columns;
    this.#rows = new Int32Array(told.cards.length * told.roles.length).fill(-1);
    for (let row = 0; row < told.n_rows; row += 1) this.#rows[this.#place(card[row], role[row])] = row;
    for (const example of told.examples) {
      const place = this.#place(example[0], example[1]);
      this.#examples.set(place, [...(this.#examples.get(place) ?? []), example]);
    }
  }

  /** The row of a role of a head; −1 where there was no case. */
  row(card: number, role: number): number {
    return role < 0 ? -1 : this.#rows[this.#place(card, role)];
  }

  /** The rows of a head: evidence first, then those that it has come furthest in. */
  rowsOf(card: number): number[] {
    const { verdict, way } = this.columns;
    const rows = this.told.roles.map((_, role) => this.row(card, role)).filter((row) => row >= 0);
    return rows.sort((a, b) => verdict[a] - verdict[b] || way[b] - way[a]);
  }

  examples(card: number, role: number): readonly Example[] {
    return this.#examples.get(this.#place(card, role)) ?? [];
  }

  verdict(row: number): Verdict {
    return VERDICTS[this.columns.verdict[row]];
  }

  /** Some row has this verdict. */
  has(verdict: Verdict): boolean {
    return Array.prototype.includes.call(this.columns.verdict, VERDICTS.indexOf(verdict));
  }

  /** The card of "5.3": layer 5, head 3; −1 where there is none. */
  cardAt(name: string): number {
    return this.told.cards.findIndex((one) => nameOf(one) === name);
  }

  #place(card: number, role: number): number {
    return card * this.told.roles.length + role;
  }
}

/** "5.3": layer 5, head 3. */
export function nameOf({ layer, head }: Card): string {
  return `${layer}.${head}`;
}

export function inLanguage([en, ko]: Both, lang: Lang): string {
  return lang === "en" ? en : ko;
}

function columnsOf(told: Told, numbers: ArrayBuffer): Record<Column, ArrayLike<number>> {
  const made: Partial<Record<Sent, ArrayLike<number>>> = {};
  let at = 0;
  for (const [name, kind] of told.columns) {
    made[name] = new KINDS[kind](numbers, at, told.n_rows);
    at += told.n_rows * KINDS[kind].BYTES_PER_ELEMENT;
  }
  const sent = made as Record<Sent, ArrayLike<number>>;
  return { ...sent, difference: differencesOf(told, sent) };
}

/** How much better a score is than its baseline: of a distance, how much shorter. */
function differencesOf({ roles, n_rows }: Told, { role, score, baseline }: Record<Sent, ArrayLike<number>>): Float32Array {
  const signs = roles.map(({ measure }) => (measure === "distance" ? -1 : 1));
  return Float32Array.from({ length: n_rows }, (_, row) => signs[role[row]] * (score[row] - baseline[row]));
}

/** What `packed` in measured_page.py made: deflated; the length of the JSON, the JSON, the columns. */
export async function opened(base64: string): Promise<Measured> {
  const stream = new Blob([decoded(base64)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const told = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as Told;
  return new Measured(told, bytes.slice(4 + length));
}
