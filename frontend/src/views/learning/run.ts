/** The chosen step of one run or of two, and the desks on which the other views find its layers. */
import { batch, computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { openHistory, snapshotAt, type History } from "../../engine/history";
import { rowOf } from "../../engine/path";
import type { Document } from "../../engine/record";
import type { Extended } from "../../extension";
import type { Model, Sent } from "../../hosts/model";
import { Desk, type Session } from "../../state";

/** One run as it stands on one side of the page. */
export interface Side {
  readonly history: History;
  /** What tells it from the other side; "" where it stands alone. */
  readonly name: string;
  readonly probe: Signal<number>;
  readonly snapshot: ReadonlySignal<number>;
  readonly desk: Desk;
}

export class Runs {
  readonly sides: readonly Side[];
  /** How many updates had been made. */
  readonly step: Signal<number>;
  /** All steps of which some side has a snapshot. */
  readonly steps: readonly number[];
  /** Where of these the chosen step stands. */
  readonly at: ReadonlySignal<number>;
  /** The step of that snapshot: between two snapshots the earlier one is shown. */
  readonly shown: ReadonlySignal<number>;
  readonly marking = signal(false);
  /** The slider is on its way. */
  readonly isMoving = signal(false);
  /** Called together with each change of the step, before anything is computed from it. */
  leaving: () => void = () => undefined;

  constructor(model: Model) {
    const sent = model.get("documents") as readonly Sent[];
    const histories = sent.map(({ header, bytes }) => openHistory(header, bytes!));
    const sides = model.get("sides") as readonly { readonly run: number; readonly name: string }[];
    this.steps = [...new Set(histories.flatMap(({ steps }) => steps))].sort((a, b) => a - b);
    this.step = signal(this.steps.at(-1)!);
    this.at = computed(() => snapshotAt(this.steps, this.step.value));
    this.shown = computed(() => this.steps[this.at.value]);
    const isOneRun = sides.length > 1 && sides[0].run === sides[1].run;
    this.sides = sides.map(({ run, name }, at) => this.#side(histories[run], name, isOneRun ? at : 0));
  }

  #side(history: History, name: string, first: number): Side {
    const probe = signal(Math.min(first, history.probes.length - 1));
    const snapshot = computed(() => snapshotAt(history.steps, this.step.value));
    const documentAt = (at: number): Document => {
      const made = history.at(at, Math.min(probe.value, history.probes.length - 1));
      return name === "" || made.title === null ? made : { ...made, title: named(made.title, name) };
    };
    const desk = new Desk(documentAt(snapshot.peek()), computed(() => documentAt(snapshot.value)));
    return { history, name, probe, snapshot, desk };
  }

  /** The layers of the snapshot before, for the marks of what changed since: once the slider rests, where it is asked for. */
  markChanges(): void {
    const isMarking = this.marking.value && !this.isMoving.value;
    for (const { history, probe, snapshot, desk } of this.sides) {
      const before = isMarking && snapshot.value > 0 ? history.at(snapshot.value - 1, probe.value) : null;
      desk.before.value = before && before.facts.map((_, at) => before.layer(at) as NonNullable<ReturnType<Desk["layer"]>>);
    }
  }

  /** What the state of the page holds besides: the step, and a sentence a side. */
  get places(): Extended["places"] {
    const probes = this.sides.map(({ probe }, at) => [at ? `probe${at + 1}` : "probe", probe]);
    return { step: this.step, ...Object.fromEntries(probes) };
  }

  /** Go to a snapshot by its place among all steps. */
  goTo(at: number): void {
    const step = this.steps[Math.max(0, Math.min(at, this.steps.length - 1))];
    if (step === this.step.peek()) return;
    batch(() => {
      this.leaving();
      this.step.value = step;
    });
  }

  /**
   * Where the change of each run was, as it was measured: none where nothing came of it. Where nobody measured, where accuracy,
   * or the loss, moved most between two snapshots.
   */
  get moments(): { readonly name: string; readonly step: number }[] {
    const told = this.sides.filter(({ history }, at) => this.sides.findIndex((one) => one.history === history) === at);
    return told.flatMap(({ history, name }) => {
      const step = history.emerged === null ? steepest(history) : history.emerged.appeared;
      return step === null ? [] : [{ name: told.length > 1 ? name.split(":")[0] : "", step }];
    });
  }
}

function named(title: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(title).map(([lang, text]) => [lang, `${name} · ${text}`]));
}

function steepest({ steps, accuracy, loss }: History): number {
  const curve = steps.map((step, at) => (Number.isNaN(accuracy[at]) ? -loss[Math.min(step, loss.length - 1)] : accuracy[at]));
  const rises = curve.map((value, at) => (at === 0 ? -Infinity : value - curve[at - 1]));
  return steps[rises.indexOf(Math.max(...rises))] ?? steps[0];
}

/** Another sentence: whoever chose it wants to see the row that its answer depends on, and what that row reads most. */
export function chooseProbe(session: Session, side: Side, at: number): void {
  batch(() => {
    side.probe.value = at;
    const layer = side.desk.layer(Math.min(session.choice.layer.peek(), side.desk.nLayers - 1));
    const query = side.history.probes[at].query ?? 0;
    if (layer === null || session.desk.peek() !== side.desk) return;
    const { weights } = rowOf(layer, Math.min(session.choice.head.peek(), layer.q.heads - 1), query);
    session.choose({ query, key: weights.indexOf(weights.reduce((most, one) => Math.max(most, one))) });
  });
}
