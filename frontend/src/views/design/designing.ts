/** A design under way: what is asked of Python and when, what it found; all that an answer changes is one edit. */
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Lang, Table } from "../../engine/record";
import type { Refused, Sheet } from "../../engine/sheet";
import type { WantedRow } from "../../engine/wanted";
import { lostIn, toYaml, type Lost } from "../../engine/yaml";
import type { Answer } from "../../hosts/solver";
import type { Desk, Session } from "../../state";
import { isSameDesign, reportIn, type Report } from "./report";

/** A slider that moves asks once it pauses. */
const PAUSE_MS = 150;
/** Beyond this somebody wonders whether anybody is there. */
const LATE_MS = 10_000;

type State = "idle" | "asking" | "late" | "solved";
/** Why nothing was found: what an example file has no word for, what cannot be set, or what Python says. */
export type Wrong = { readonly lost: readonly Lost["what"][] } | Refused | Readonly<Record<Lang, string>>;

/** What was found, and for which numbers. */
interface Found {
  readonly report: Report;
  readonly sheet: Sheet;
}

export class Designing {
  /** Whether Python is asked at every change of what is wanted. */
  readonly isLive = signal(true);
  readonly keepsKeys = signal(false);
  readonly state = signal<State>("idle");
  readonly wrong = signal<Wrong | null>(null);
  /** What is known of the numbers shown; `isStale` where they are others than those that it was found for. */
  readonly found: ReadonlySignal<(Found & { readonly isStale: boolean }) | null>;
  readonly #answered = signal<Found | null>(null);
  #pause: ReturnType<typeof setTimeout> | undefined;
  #late: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly session: Session,
    readonly desk: Desk,
  ) {
    const stored = storedIn(desk);
    this.found = computed(() => {
      const sheet = desk.sheet.value;
      const known = [this.#answered.value, stored].filter((found) => found !== null);
      const fitting = sheet && known.find((found) => isSameDesign(found.sheet, sheet));
      if (fitting) return { ...fitting, isStale: false };
      return known.length > 0 ? { ...known[0], isStale: true } : null;
    });
  }

  /** Want another row of a query; with `join` it is one step with the edit before. */
  want(head: number, query: number, row: WantedRow | null, { join = false } = {}): Refused | null {
    const refused = this.desk.apply({ set: "wanted", head, query, row }, { join });
    if (refused !== null) return refused;
    clearTimeout(this.#pause);
    const sheet = this.desk.sheet.peek()!;
    const isToSolve = this.session.solver !== null && this.isLive.peek() && sheet.wanted.length > 0;
    if (isToSolve) this.#pause = setTimeout(() => this.#solveFor(sheet), PAUSE_MS);
    return null;
  }

  /** Solve for the wishes of a sheet, where they still stand; after another edit as a step of its own. */
  #solveFor(sheet: Sheet): void {
    const now = this.desk.sheet.peek()!;
    if (now.wanted === sheet.wanted) void this.solve({ join: now === sheet });
  }

  /** Ask Python, and put what it finds into the tables. */
  async solve({ join = false } = {}): Promise<void> {
    const sheet = this.desk.sheet.peek()!;
    const lost = lostIn(sheet).map(({ what }) => what);
    this.wrong.value = lost.length > 0 ? { lost } : null;
    if (lost.length > 0) return;
    this.state.value = "asking";
    clearTimeout(this.#late);
    this.#late = setTimeout(() => (this.state.value = "late"), LATE_MS);
    const fixed = this.keepsKeys.peek() ? "w_k" : null;
    const answer = await this.session.solver!.ask({ example: toYaml(sheet), fixed });
    if (answer === null) return; // asked again meanwhile: that answer counts
    clearTimeout(this.#late);
    this.#take(answer, sheet, join);
  }

  /** Put an answer into the sheet that it was asked for; what was edited meanwhile is not overwritten. */
  #take(answer: Answer, asked: Sheet, join: boolean): void {
    batch(() => {
      this.state.value = "idle";
      const now = this.desk.sheet.peek()!;
      if (now !== asked) {
        if (this.isLive.peek()) this.#solveFor(asked);
        return;
      }
      if ("error" in answer) {
        this.wrong.value = { en: String(answer.error.en), ko: String(answer.error.ko) };
        return;
      }
      const [w_q, w_k] = [tableOf(answer.w_q), tableOf(answer.w_k)];
      this.wrong.value = this.desk.apply({ set: "design", layer: asked.layers.length - 1, w_q, w_k }, { join });
      const report = reportIn(answer.report);
      if (this.wrong.peek() !== null || report === null) return;
      this.#answered.value = { report, sheet: this.desk.sheet.peek()! };
      this.state.value = "solved";
    });
  }
}

/** The design that came with a record. */
function storedIn({ original, document }: Desk): Found | null {
  if (original === null) return null;
  const sources = [...original.layers.map((layer) => layer.source), document.source];
  const report = sources.map(({ details }) => reportIn(details.design)).find((one) => one !== null);
  return report ? { report, sheet: original } : null;
}

function tableOf(rows: readonly (readonly number[])[]): Table {
  return { rows: rows.length, columns: rows[0].length, values: Float64Array.from(rows.flat()) };
}

const kept = new WeakMap<Desk, Designing>();

/** One a desk, for as long as it is there: a panel that was closed still knows what was found. */
export function designingOf(session: Session, desk: Desk): Designing {
  const designing = kept.get(desk) ?? new Designing(session, desk);
  kept.set(desk, designing);
  return designing;
}
