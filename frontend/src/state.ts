/** The one state of a view: what is chosen, what was edited, and the address that carries both. */
import { batch, computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { Cuts } from "./cuts";
import { openDocument } from "./engine/container";
import { rowOf } from "./engine/path";
import type { Cell, Document, Lang, Layer, Stage } from "./engine/record";
import { SHOWN } from "./engine/record";
import type { Window } from "./engine/map";
import { packed, unpacked } from "./engine/address";
import { edited, layersOf, Refused, sheetOf, type Edit, type Sheet } from "./engine/sheet";
import type { Extended } from "./extension";
import type { Address } from "./hosts/address";
import type { Model, Pairing, Sent } from "./hosts/model";
import { solverOf, type Solver } from "./hosts/solver";
import type { Mapping } from "./look/colours";

export const VIEWS = ["stages", "heads", "map", "compare"] as const;
export type View = (typeof VIEWS)[number];
export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** What is chosen; plain JSON, so that an address or a notebook can carry it. */
export interface Choice {
  view: View;
  document: number;
  layer: number;
  head: number;
  query: number;
  key: number;
  stage: Stage;
  lang: Lang;
  theme: Theme;
  window: Window | null;
}

/** One document on the desk: as it came, as it was edited, and the way back. */
export class Desk {
  readonly original: Sheet | null;
  readonly sheet: Signal<Sheet | null>;
  readonly past = signal<readonly Sheet[]>([]);
  readonly future = signal<readonly Sheet[]>([]);
  /** The recomputed layers of an editable example; null where layers are brought one by one. */
  readonly made: ReadonlySignal<readonly Layer[] | null>;
  /** As before the last edit, to mark what changed; null where nothing was edited. */
  readonly before = signal<readonly Layer[] | null>(null);
  readonly #here: Map<number, Signal<Layer | null>> = new Map();
  readonly #document: Document;

  /** `moving`: a document that becomes another one, such as the next step of a training; it cannot be edited. */
  constructor(document: Document, readonly moving: ReadonlySignal<Document> | null = null) {
    this.#document = document;
    const here = moving === null && isSmall(document) ? hereOf(document) : null;
    this.original = here && sheetOf(here);
    this.sheet = signal(this.original);
    this.made = computed(() => {
      if (moving !== null) return hereOf(moving.value);
      const sheet = this.sheet.value;
      return sheet === null ? null : sheet === this.original ? here : layersOf(sheet);
    });
  }

  get document(): Document {
    return this.moving === null ? this.#document : this.moving.value;
  }

  /** A layer, or null while it is on its way (the signal tells when it has come). */
  layer(at: number): Layer | null {
    const made = this.made.value;
    if (made !== null) return made[at] ?? null;
    let here = this.#here.get(at);
    if (here === undefined) {
      const got = this.document.layer(at);
      here = signal(got instanceof Promise ? null : got);
      this.#here.set(at, here);
      const coming = here;
      if (got instanceof Promise) void got.then((layer) => (coming.value = layer));
    }
    return here.value;
  }

  /** What the program calls a layer. */
  number(at: number): number {
    return this.document.numbers?.[at] ?? at;
  }

  get nLayers(): number {
    return this.document.facts.length;
  }

  /** Make an edit. What cannot be is refused, and nothing changes. With `join` it is one step with the edit before. */
  apply(edit: Edit, { join = false } = {}): Refused | null {
    const sheet = this.sheet.peek();
    if (sheet === null) throw new RangeError("nothing here can be edited");
    try {
      const next = edited(sheet, edit);
      if (next === sheet) return null;
      const joined = join && this.past.peek().length > 0;
      if (joined) this.#put(next, this.past.peek(), [], this.before.peek());
      else this.#put(next, [...this.past.peek(), sheet], []);
      return null;
    } catch (error) {
      if (error instanceof Refused) return error;
      throw error;
    }
  }

  undo(): void {
    const past = this.past.peek();
    const sheet = this.sheet.peek();
    if (past.length && sheet) this.#put(past[past.length - 1], past.slice(0, -1), [sheet, ...this.future.peek()]);
  }

  redo(): void {
    const [next, ...rest] = this.future.peek();
    const sheet = this.sheet.peek();
    if (next && sheet) this.#put(next, [...this.past.peek(), sheet], rest);
  }

  /** Back to what came; it can be undone. */
  reset(): void {
    const sheet = this.sheet.peek();
    if (sheet && this.original && sheet !== this.original) this.#put(this.original, [...this.past.peek(), sheet], []);
  }

  /** Another sheet from outside (an address); no way back is kept. */
  put(sheet: Sheet): void {
    batch(() => {
      this.sheet.value = sheet;
      this.past.value = [];
      this.future.value = [];
      this.before.value = null;
    });
  }

  #put(sheet: Sheet, past: readonly Sheet[], future: readonly Sheet[], before = this.made.peek()): void {
    batch(() => {
      this.before.value = before;
      this.past.value = past.slice(-MOST_STEPS);
      this.future.value = future;
      this.sheet.value = sheet;
    });
  }
}

const MOST_STEPS = 500;
const QUIET_MS = 120;

/** Everything that one `render` draws from. No state stands outside of it: several views live in one page. */
export class Session {
  readonly desks: readonly Desk[];
  readonly pairing: Pairing | null;
  readonly choice: { readonly [Name in keyof Choice]: Signal<Choice[Name]> };
  /** The number whose arithmetic is shown: pointed at or focused, else the chosen query and key. */
  readonly pointed = signal<Cell | null>(null);
  /** How maps of weights are coloured, and whether they leave out the first key. */
  readonly mapping = signal<Mapping>("row");
  readonly firstHidden = signal(false);
  /** On a narrow page: of where a number comes from only the walk is shown. */
  readonly isFolded = signal(false);
  /** Tables (by their stage) and other parts that are out of sight while a document moves: they follow when it rests. */
  readonly unseen = signal<ReadonlySet<string>>(new Set());
  readonly desk: ReadonlySignal<Desk>;
  readonly layer: ReadonlySignal<Layer | null>;
  /** The layer is on its way. */
  readonly isComing: ReadonlySignal<boolean>;
  /** What the page is called, where somebody named it. */
  readonly title: Readonly<Record<string, string>> | null;
  readonly hasAddress: boolean;
  /** Python behind the page; null where there is none. */
  readonly solver: Solver | null;
  /** What the model does without some of its weights. */
  readonly cuts: Cuts;
  /** The address carried changes that could not be read. */
  readonly isUnread = signal(false);
  /** What a second program shows above the views; null where there is none. */
  readonly extended: Extended | null;
  readonly #model: Model;
  readonly #opening: Choice;
  readonly #address: Address | null;
  #stop: (() => void)[] = [];
  #waiting: ReturnType<typeof setTimeout> | undefined;

  constructor(model: Model, address: Address | null, extended: Extended | null = null) {
    this.#model = model;
    this.extended = extended;
    this.#address = address;
    this.hasAddress = address !== null;
    this.solver = solverOf(model);
    this.cuts = new Cuts(model);
    this.title = (model.get("title") as Readonly<Record<string, string>> | null | undefined) ?? null;
    this.desks = extended?.desks ?? documentsOf(model).map((document) => new Desk(document));
    this.pairing = (model.get("comparison") as Pairing | null) ?? null;
    const told = this.#fitting(model.get("view"));
    const places = Object.entries(extended?.places ?? {});
    for (const [name, at] of places) at.value = (told as Record<string, number | undefined>)[name] ?? at.value;
    const own = this.#openingOf(told);
    this.choice = { ...signalsOf(own), ...Object.fromEntries(places) };
    this.#opening = this.chosen();
    this.desk = computed(() => this.desks[this.choice.document.value]);
    this.layer = computed(() => this.desk.value.layer(this.choice.layer.value));
    this.isComing = computed(() => this.layer.value === null);
    this.read();
    this.#stop = [effect(() => this.#within()), effect(() => this.#write())];
    const changed = (): void => this.choose(this.#fitting(model.get("view")));
    model.on("change:view", changed);
    const gone = address?.listen(() => this.read());
    this.#stop.push(() => model.off("change:view", changed), () => gone?.(), () => this.cuts.dispose());
    if (told.key === undefined) this.#readMostWhenItComes();
  }

  /** Choose some of it; the rest stays. */
  choose(some: Partial<Choice>): void {
    batch(() => {
      for (const [name, value] of Object.entries(some)) {
        const at = this.choice[name as keyof Choice] as Signal<unknown>;
        if (value !== undefined) at.value = value;
      }
    });
  }

  /** All that is chosen, as plain JSON. */
  chosen(): Choice {
    const entries = Object.entries(this.choice).map(([name, at]) => [name, at.value]);
    return Object.fromEntries(entries) as Choice;
  }

  /** What the address says, chosen; what does not fit in it is left as it is. */
  read(): void {
    const said = this.#address?.read();
    if (said === undefined) return;
    batch(() => {
      this.isUnread.value = false;
      this.desks.forEach((desk, at) => {
        const text = said.get(at ? `edit${at + 1}` : "edit");
        const sheet = text === null ? desk.original : restored(text, desk.original);
        const now = desk.sheet.peek();
        this.isUnread.value = this.isUnread.peek() || (text !== null && sheet === null);
        if (sheet && now && packed(sheet, desk.original!) !== packed(now, desk.original!)) desk.put(sheet);
      });
      this.choose(this.#fitting(plain(said)));
    });
  }

  /** The address that carries all of this, to be sent to somebody; null where the host has none. */
  link(): string | null {
    return this.#address?.link(this.#said(this.chosen(), this.#sheets())) ?? null;
  }

  dispose(): void {
    clearTimeout(this.#waiting);
    this.#stop.forEach((stop) => stop());
    this.#stop = [];
  }

  #sheets(): (Sheet | null)[] {
    return this.desks.map(({ sheet }) => sheet.value);
  }

  #said({ window, ...rest }: Choice, sheets: readonly (Sheet | null)[]): URLSearchParams {
    const said = new URLSearchParams();
    for (const [name, value] of Object.entries(rest)) {
      if (value !== this.#opening[name as keyof Choice] || name === "lang") said.set(name, String(value));
    }
    if (window !== null) said.set("window", [window.row, window.rows, window.column, window.columns].join(","));
    this.desks.forEach(({ original }, at) => {
      const sheet = sheets[at];
      const text = sheet && original ? packed(sheet, original) : null;
      if (text !== null) said.set(at ? `edit${at + 1}` : "edit", text);
    });
    return said;
  }

  /** Tell the address and the host, once a quiet moment comes: browsers refuse an address that changes too often. */
  #write(): void {
    const chosen = this.chosen();
    const sheets = this.#sheets();
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => {
      this.#address?.write(this.#said(chosen, sheets));
      this.#model.set("view", chosen);
      this.#model.save_changes();
    }, QUIET_MS);
  }

  /** Keep what is chosen inside the document, whatever was removed or switched. */
  #within(): void {
    const { document, layer, head, query, key } = this.choice;
    const desk = this.desks[document.value];
    layer.value = within(layer.value, desk.nLayers);
    const made = desk.made.value?.[layer.value];
    const facts = desk.document.facts[layer.value];
    head.value = within(head.value, made ? made.q.heads : facts.n_heads);
    query.value = within(query.value, made ? made.q.rows : facts.n_queries);
    key.value = within(key.value, made ? made.k.rows : facts.n_keys);
  }

  /** Before anybody chooses: what the host says, else what changed most between two texts, else what is read most. */
  #openingOf(told: Partial<Choice>): Choice {
    const at = told.document ?? 0;
    const { document } = this.desks[at];
    const most = this.pairing?.heads?.find((change) => change.query !== null && change.key !== null);
    const layer = within(told.layer ?? most?.layer ?? 0, document.facts.length);
    const { n_heads, n_queries, n_keys } = document.facts[layer];
    const head = within(told.head ?? most?.head ?? 0, n_heads);
    const isMost = most !== undefined && most.layer === layer && most.head === head;
    const here = document.layer(layer);
    const { focus } = { ...document.source.details, ...(here instanceof Promise ? {} : here.source.details) };
    // A causal model's first query reads nothing but itself: where nobody says more, the last one is shown.
    const query = within(told.query ?? (isMost ? most.query![at] : (focus ?? n_queries - 1)), n_queries);
    const read = here instanceof Promise ? query - 1 : largestAt(rowOf(here, head, query).weights);
    const key = within(told.key ?? (isMost && query === most.query![at] ? most.key![at] : read), n_keys);
    const view: View = this.desks.length > 1 ? "compare" : isSmall(document) ? "stages" : "heads";
    return { view, stage: "weights", lang: "en", theme: "auto", window: null, ...told, document: at, layer, head, query, key };
  }

  /** In a large document the key that is read most is known once its layer has come; whoever chose before, chose. */
  #readMostWhenItComes(): void {
    const { document: at, layer, head, query, key } = this.#opening;
    const coming = this.desks[at].document.layer(layer);
    if (!(coming instanceof Promise) || this.desks.length > 1) return;
    void coming.then((here) => {
      const { layer: nowLayer, head: nowHead, query: nowQuery, key: nowKey } = this.chosen();
      if (nowLayer !== layer || nowHead !== head || nowQuery !== query || nowKey !== key) return;
      this.#opening.key = largestAt(rowOf(here, head, query).weights);
      this.choose({ key: this.#opening.key });
    });
  }

  /** What of some plain JSON is a choice that this session can make. */
  #fitting(said: unknown): Partial<Choice> {
    if (typeof said !== "object" || said === null) return {};
    const given = said as Record<string, unknown>;
    const fits: { [Name in keyof Choice]: (value: unknown) => boolean } = {
      view: (value) => oneOf(VIEWS)(value) && (value !== "compare" || this.desks.length > 1), lang: oneOf(["en", "ko"]), theme: oneOf(THEMES), stage: oneOf(SHOWN),
      document: (value) => isPlace(value) && value < this.desks.length,
      layer: isPlace, head: isPlace, query: isPlace, key: isPlace, window: isWindow,
      ...Object.fromEntries(Object.keys(this.extended?.places ?? {}).map((name) => [name, isPlace])),
    };
    const names = Object.keys(fits) as (keyof Choice)[];
    return Object.fromEntries(names.filter((name) => name in given && fits[name](given[name])).map((name) => [name, given[name]]));
  }
}

function documentsOf(model: Model): Document[] {
  const sent = model.get("documents") as readonly Sent[];
  return sent.map(({ header, bytes }, document) => openDocument(header, bytes, (layer) => asked(model, document, layer)));
}

/** A layer's bytes, asked of the host. */
function asked(model: Model, document: number, layer: number): Promise<DataView> {
  return new Promise((resolve) => {
    const answered = (...given: unknown[]): void => {
      const [about, buffers] = given as [{ document?: number; layer?: number }, DataView[]];
      if (about.document !== document || about.layer !== layer) return;
      model.off("msg:custom", answered);
      resolve(buffers[0]);
    };
    model.on("msg:custom", answered);
    model.send({ want: { document, layer } });
  });
}

function restored(text: string, original: Sheet | null): Sheet | null {
  try {
    return original && unpacked(text, original);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

function plain(said: URLSearchParams): Record<string, unknown> {
  const entries = [...said].map(([name, text]): [string, unknown] => [name, /^\d+$/.test(text) ? Number(text) : text]);
  const made = Object.fromEntries(entries);
  if (typeof made.window === "string") {
    const [row, rows, column, columns] = made.window.split(",").map(Number);
    made.window = { row, rows, column, columns };
  }
  return made;
}

type Signals = { [Name in keyof Choice]: Signal<Choice[Name]> };

function signalsOf(choice: Choice): Signals {
  return Object.fromEntries(Object.entries(choice).map(([name, value]) => [name, signal(value)])) as unknown as Signals;
}

/** All layers, where none of them has to be brought first; null where there is no layer, or one has. */
function hereOf(document: Document): readonly Layer[] | null {
  const layers = document.facts.map((_, at) => document.layer(at));
  const here = layers.filter((layer): layer is Layer => !(layer instanceof Promise));
  return here.length > 0 && here.length === layers.length ? here : null;
}

/** Where the largest number stands; the first of several. */
function largestAt(numbers: Float64Array): number {
  return numbers.indexOf(numbers.reduce((most, one) => Math.max(most, one), -Infinity));
}

/** Small enough to be brought whole, and looked at number by number. */
function isSmall(document: Document): boolean {
  return document.storage === "exact" && document.facts.every(({ n_queries, n_keys }) => n_queries <= 64 && n_keys <= 64);
}

function within(at: number, n: number): number {
  return Math.max(0, Math.min(at, n - 1));
}

function isPlace(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isWindow(value: unknown): boolean {
  if (value === null) return true;
  const { row, rows, column, columns } = (value ?? {}) as Partial<Window>;
  return [row, rows, column, columns].every(Number.isFinite) && rows! > 0 && columns! > 0;
}

function oneOf(values: readonly unknown[]): (value: unknown) => boolean {
  return (value) => values.includes(value);
}
