/** What is pointed at, kept, and walked through in the stage view; the number whose arithmetic is shown. */
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import { hasCell, valueAt } from "../../engine/cells";
import { originOf, type Origin, type Step } from "../../engine/origin";
import type { Cell, Layer, Stage } from "../../engine/record";
import { changes, type Changes } from "../../engine/changes";
import type { Session } from "../../state";
import { nameOf } from "../tokens";
import { gridsOf, isSame, isWindowed, placeIn, stagesOf, stopOf, stopsOf, type Grid, type Stop } from "./road";
import { steady } from "./steady";

const OF_PAIRS: readonly Stage[] = ["scores", "scaled", "allowed", "weights"];
const OF_KEYS: readonly Stage[] = ["k", "v", "weighted_values"];
const OF_NO_HEAD: readonly Stage[] = ["x", "w_q", "w_k", "w_v", "w_o", "allowed", "output"];

/** What is marked in a table: the cell whose arithmetic is shown, if it is there, and those that it was made from. */
export interface Marks {
  readonly pointed: string | null;
  readonly sources: readonly string[];
}

/** What stood in each cell of a table before the last edit; null where it is what it was. */
export type Befores = readonly (number | null)[];

export class Looking {
  /** Under the mouse, for as long as it is there. */
  readonly hovered = signal<Cell | null>(null);
  /** Clicked, or reached with the keyboard: it stays. */
  readonly kept = signal<Cell | null>(null);
  /** The numbers from which the chain was followed back. */
  readonly trail = signal<readonly Cell[]>([]);
  readonly playing = signal(false);
  readonly allDimensions = signal(false);
  /** Counts the times that the walk came to a stage: the page scrolls then, and at no other time. */
  readonly arrived = signal(0);
  readonly layers: ReadonlySignal<readonly Layer[]>;
  /** The layer is too long for all of it to be shown. */
  readonly isLarge: ReadonlySignal<boolean>;
  readonly isEditable: ReadonlySignal<boolean>;
  /** What the chosen query is called. */
  readonly asking: ReadonlySignal<string>;
  /** The stages that have a table, and those where the walk stops. */
  readonly stages: ReadonlySignal<readonly Stage[]>;
  readonly stops: ReadonlySignal<readonly Stop[]>;
  readonly grids: ReadonlySignal<ReadonlyMap<Stage, Grid>>;
  readonly marks: ReadonlySignal<ReadonlyMap<Stage, Marks>>;
  readonly befores: ReadonlySignal<ReadonlyMap<Stage, Befores>>;
  readonly cell: ReadonlySignal<Cell>;
  readonly origin: ReadonlySignal<Origin | null>;
  /** How every score is scaled. */
  readonly scaling: ReadonlySignal<readonly Step[]>;
  readonly changes: ReadonlySignal<Changes | null>;
  readonly stop: ReadonlySignal<Stop>;
  #last: ReadonlyMap<Stage, Grid> = new Map();

  constructor(readonly session: Session) {
    this.layers = computed(() => layersOf(session));
    this.isLarge = computed(() => isWindowed(session.layer.value!));
    this.isEditable = computed(() => session.desk.value.sheet.value !== null && !this.isLarge.value);
    this.asking = computed(() => {
      const token = session.layer.value!.tokens[session.choice.query.value];
      return token ? nameOf(token) : "";
    });
    this.stages = steady(() => stagesOf(session.layer.value!));
    this.stops = steady(() => stopsOf(session.layer.value!));
    this.cell = steady(() => this.#cell());
    this.origin = computed(() => {
      const [layers, cell] = [this.layers.value, this.cell.value];
      return hasCell(layers, cell) ? originOf(layers, cell) : null;
    });
    this.scaling = steady(() => scalingOf(this.layers.value, session.choice.layer.value));
    this.changes = computed(() => {
      const { before, made } = session.desk.value;
      return before.value && made.value ? changes(before.value, made.value) : null;
    });
    this.stop = computed(() => stopOf(session.layer.value!, session.choice.stage.value));
    this.grids = steady(() => this.#grids());
    this.marks = steady(() => this.#ofGrids((grid) => marksIn(grid, this.cell.value, this.origin.value?.from ?? [])));
    this.befores = steady(() => this.#ofGrids((grid) => beforesIn(grid, this.changes.value)));
  }

  /** Keep a cell; the chain that was followed begins anew. */
  keep(cell: Cell): void {
    if (isSame(cell, this.kept.peek())) return;
    batch(() => {
      this.kept.value = cell;
      this.trail.value = [];
      this.session.choose({ stage: cell.stage });
    });
  }

  /** Go to a cell that the shown number was made from. */
  follow(cell: Cell): void {
    const from = this.cell.peek();
    batch(() => {
      this.trail.value = [...this.trail.peek(), from];
      this.#goTo(cell);
    });
  }

  back(): void {
    const trail = this.trail.peek();
    const to = trail.at(-1);
    if (to === undefined) return;
    batch(() => {
      this.trail.value = trail.slice(0, -1);
      this.#goTo(to);
    });
  }

  /** Walk to a stage, and look at what is so there of the chosen query and key. */
  goTo(stage: Stage): void {
    batch(() => {
      this.release();
      this.#arrive(stage);
    });
  }

  /** Look at the chosen query and key again, at no other number. */
  release(): void {
    batch(() => {
      this.hovered.value = this.kept.value = null;
      this.trail.value = [];
    });
  }

  step(by: 1 | -1): void {
    const stops = this.stops.peek();
    const to = stops[stops.indexOf(this.stop.peek()) + by];
    if (to !== undefined) this.goTo(to);
  }

  #goTo(cell: Cell): void {
    const head = OF_NO_HEAD.includes(cell.stage) ? undefined : cell.head;
    this.session.choose({ layer: cell.layer, head, query: cell.query });
    this.hovered.value = null;
    this.kept.value = cell;
    this.#arrive(cell.stage);
  }

  #arrive(stage: Stage): void {
    this.session.choose({ stage });
    this.arrived.value++;
  }

  #grids(): ReadonlyMap<Stage, Grid> {
    const { layer, head, query, key } = this.session.choice;
    const looked = { at: layer.value, head: head.value, query: query.value, key: key.value };
    const { unseen } = this.session;
    const kept = new Map([...this.#last].filter(([stage]) => unseen.value.has(stage)));
    return (this.#last = gridsOf(this.session.layer.value!, { ...looked, allDimensions: this.allDimensions.value }, kept));
  }

  #ofGrids<T>(made: (grid: Grid) => T): Map<Stage, T> {
    return new Map(Array.from(this.grids.value, ([stage, grid]) => [stage, made(grid)]));
  }

  #cell(): Cell {
    const { layer, head, query } = this.session.choice;
    const cell = this.hovered.value ?? this.kept.value;
    if (cell === null || cell.layer !== layer.value || !hasCell(this.layers.value, cell)) return this.#chosen();
    const ofHead = OF_NO_HEAD.includes(cell.stage) ? cell : { ...cell, head: head.value };
    return ofHead.query === undefined ? ofHead : { ...ofHead, query: query.value };
  }

  /** At the stage of the walk: the chosen query and key, and where there are dimensions the largest number. */
  #chosen(): Cell {
    const { layer, head, query, key } = this.session.choice;
    const stage = this.stop.value;
    const at = { layer: layer.value, stage, head: OF_NO_HEAD.includes(stage) ? 0 : head.value };
    if (OF_PAIRS.includes(stage)) return { ...at, row: query.value, column: key.value };
    const isOfKey = OF_KEYS.includes(stage);
    const cell: Cell = { ...at, row: (isOfKey ? key : query).value, column: 0 };
    return this.#largest(stage === "weighted_values" ? { ...cell, query: query.value } : cell);
  }

  #largest(first: Cell): Cell {
    let [best, most] = [first, -1];
    for (let cell = first; hasCell(this.layers.value, cell); cell = { ...cell, column: cell.column + 1 }) {
      const size = Math.abs(valueAt(this.layers.value, cell));
      if (size > most) [best, most] = [cell, size];
    }
    return best;
  }
}

function marksIn({ layer, stage, head }: Grid, pointed: Cell, from: readonly Cell[]): Marks {
  const here = (cell: Cell): boolean => {
    return cell.layer === layer && cell.stage === stage && (cell.head === head || head === 0);
  };
  return { pointed: here(pointed) ? placeIn(pointed) : null, sources: from.filter(here).map(placeIn) };
}

function beforesIn({ rows, columns, ...of }: Grid, changes: Changes | null): Befores {
  const changeAt = changes?.in(of);
  return rows.places.flatMap((row) => columns.places.map((column) => changeAt?.(row.at, column.at)?.before ?? null));
}

/** The steps that are the same for every query and key; not the soft cap and the position bias. */
function scalingOf(layers: readonly Layer[], layer: number): Step[] {
  const origin = originOf(layers, { layer, stage: "scaled", head: 0, row: 0, column: 0 });
  const steps = origin.kind === "scaled" ? origin.steps : [];
  return steps.filter(({ kind }) => kind === "root" || kind === "scale" || kind === "temperature");
}

/** All layers where they are made here; else this one and, where it is here, the one that made its x. */
function layersOf({ desk, choice, layer }: Session): readonly Layer[] {
  const made = desk.value.made.value;
  if (made !== null) return made;
  const layers: Layer[] = [];
  const at = choice.layer.value;
  if (layer.value?.x && at > 0) layers[at - 1] = desk.value.layer(at - 1)!;
  if (layer.value !== null) layers[at] = layer.value;
  return layers;
}
