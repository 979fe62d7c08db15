/** What is chosen on the page, and the address that carries it. */
import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Lang } from "../../engine/record";
import type { Address } from "../../hosts/address";
import { nameOf, VERDICTS, type Measured, type Verdict } from "./measured";
import { ordered, SORTS, type Sort } from "./order";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
export const PER_PAGE = 50;
const QUIET_MS = 120;
/** Up to this one the families of roles are those that most heads have. */
const COMMON = 2;

/** Names as an address carries them: all texts, "" for none. */
type Said = Readonly<Record<string, string>>;

export class Choice {
  readonly lang: Signal<Lang>;
  readonly theme: Signal<Theme>;
  /** The head whose card is shown, by its place. */
  readonly card: Signal<number>;
  /** The role that map and table show; −1 for all. */
  readonly role = signal(-1);
  readonly layer = signal(-1);
  /** Null for all. */
  readonly verdict: Signal<Verdict | null>;
  readonly sort = signal<Sort>("way");
  readonly isDown = signal(true);
  readonly page = signal(0);
  readonly rows: ReadonlySignal<Uint32Array>;
  readonly #opening: Said;
  #waiting: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly measured: Measured, view: Said, private readonly address: Address) {
    this.lang = signal("en");
    this.theme = signal("auto");
    this.card = signal(plainest(measured));
    this.verdict = signal(measured.has("evidence") ? "evidence" : null);
    this.rows = computed(() => ordered(measured, this.asked()));
    this.#choose(view);
    this.#opening = this.#said();
    this.read();
    address.listen(() => this.read());
    effect(() => this.#write());
  }

  asked() {
    const { role, layer, verdict, sort, isDown } = this;
    return { role: role.value, layer: layer.value, verdict: verdict.value, sort: sort.value, isDown: isDown.value };
  }

  get nPages(): number {
    return Math.max(1, Math.ceil(this.rows.value.length / PER_PAGE));
  }

  /** By another column, from its most telling end; by the same one, the other way round. */
  sortBy(column: Sort): void {
    const isUp = ["card", "role", "q", "verdict"].includes(column);
    this.isDown.value = this.sort.peek() === column ? !this.isDown.peek() : !isUp;
    this.sort.value = column;
    this.page.value = 0;
  }

  /** What the address says; what it does not say is as when the page opened. */
  read(): void {
    this.#choose({ ...this.#opening, ...Object.fromEntries(this.address.read()) });
  }

  link(): string {
    return this.address.link(this.#differing(this.#said()));
  }

  #choose(said: Said): void {
    const { told } = this.measured;
    const put = <T>(to: Signal<T>, value: T | undefined): void => {
      if (value !== undefined) to.value = value;
    };
    const oneOf = <T extends string>(all: readonly T[], text: string | undefined): T | undefined => all.find((one) => one === text);
    put(this.lang, oneOf(["en", "ko"] as const, said.lang));
    put(this.theme, oneOf(THEMES, said.theme));
    const card = this.measured.cardAt(said.head ?? "");
    put(this.card, card < 0 ? undefined : card);
    if (said.role !== undefined) this.role.value = told.roles.findIndex(({ name }) => name === said.role);
    put(this.layer, whole(said.layer, told.n_heads.length) ?? (said.layer === "" ? -1 : undefined));
    put(this.verdict, oneOf(VERDICTS, said.verdict) ?? (said.verdict === "" ? null : undefined));
    put(this.sort, oneOf(SORTS, said.sort));
    if (said.down !== undefined) this.isDown.value = said.down !== "0";
    put(this.page, whole(said.page, this.nPages));
  }

  #said(): Said {
    const { told } = this.measured;
    return {
      lang: this.lang.value,
      theme: this.theme.value,
      head: nameOf(told.cards[this.card.value]),
      role: told.roles[this.role.value]?.name ?? "",
      layer: this.layer.value < 0 ? "" : String(this.layer.value),
      verdict: this.verdict.value ?? "",
      sort: this.sort.value,
      down: this.isDown.value ? "1" : "0",
      page: String(this.page.value),
    };
  }

  #differing(said: Said): URLSearchParams {
    return new URLSearchParams(Object.entries(said).filter(([name, text]) => text !== this.#opening[name] || name === "lang"));
  }

  /** Once a quiet moment comes: browsers refuse an address that changes too often. */
  #write(): void {
    const said = this.#said();
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.address.write(this.#differing(said)), QUIET_MS);
  }
}

function whole(text: string | undefined, n: number): number | undefined {
  return text !== undefined && /^\d+$/.test(text) && Number(text) < n ? Number(text) : undefined;
}

/** The head to look at first: the one that does most plainly what names it. Places, spread and sinks, which are common, come last. */
function plainest(measured: Measured): number {
  const { cards, roles } = measured.told;
  const plain = cards.map(({ role }, at) => {
    const row = measured.row(at, role);
    return row < 0 ? -1 : measured.columns.way[row] + Number(roles[role].family > COMMON);
  });
  return plain.indexOf(Math.max(...plain));
}
