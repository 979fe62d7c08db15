/** The one state of a served page: language and colours, the line to the server, one's jobs. */
import { effect, signal, type Signal } from "@preact/signals";
import type { Lang } from "../engine/record";
import type { Texts } from "./answers";
import { Jobs } from "./jobs";
import type { Line } from "./line";
import type { ServedModel } from "./model";

/** What the server wrote into the page. */
export interface Told {
  readonly view: "start" | "text" | "lessons" | "job" | "record" | "plain";
  readonly lang: Lang;
  readonly title?: Texts | string | null;
  readonly model?: Readonly<Record<string, unknown>>;
  readonly documents?: readonly string[];
  readonly lessons?: readonly Lesson[];
}

export interface Lesson {
  readonly number: number;
  readonly name: string;
  readonly title: Texts;
  readonly minutes: number;
}

const KEPT = "jumok-theme";
export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export class Served {
  readonly lang: Signal<Lang>;
  readonly theme: Signal<Theme>;
  readonly jobs: Jobs;
  /** What is drawn below, once there is something. */
  readonly model = signal<ServedModel | null>(null);

  constructor(
    readonly line: Line,
    readonly told: Told,
    readonly window: globalThis.Window,
  ) {
    this.lang = signal(told.lang);
    this.theme = signal(this.hasOwnSwitches ? "auto" : this.#kept());
    this.jobs = new Jobs(line);
    if (this.hasOwnSwitches) this.#follow();
    else effect(() => this.#show());
  }

  /** A page that draws itself has its own switches, and what stands above goes along. */
  get hasOwnSwitches(): boolean {
    return this.told.view === "plain";
  }

  #show(): void {
    const { documentElement: root } = this.window.document;
    root.lang = this.lang.value;
    root.style.colorScheme = this.theme.value === "auto" ? "light dark" : this.theme.value;
    this.#keep(this.theme.value);
  }

  #follow(): void {
    const { document: page } = this.window;
    const heard = (lang: string): void => {
      if ((lang === "ko" || lang === "en") && lang !== this.lang.value) this.#remember(lang);
    };
    new MutationObserver(() => heard(page.documentElement.lang)).observe(page.documentElement, { attributeFilter: ["lang"] });
    page.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLInputElement && target.name === "say") heard(target.id.replace("say-", ""));
    });
  }

  /** An address of this server, in the language that is chosen. */
  to(path: string): string {
    return `${path}?lang=${this.lang.value}`;
  }

  /** For addresses that say no language, such as those that one goes back to. */
  #remember(lang: Lang): void {
    this.lang.value = lang;
    void this.line.ask(`/?lang=${lang}`, { method: "HEAD" }).catch(() => undefined); // the server's cookie
  }

  /** The page in another language: an address that is loaded again says so, too. */
  speak(lang: Lang): void {
    const address = new URL(this.window.location.href);
    address.searchParams.set("lang", lang);
    this.window.history.replaceState(null, "", address);
    this.#remember(lang);
  }

  #kept(): Theme {
    try {
      return THEMES.find((theme) => theme === this.window.localStorage.getItem(KEPT)) ?? "auto";
    } catch {
      return "auto"; // a browser that keeps nothing
    }
  }

  #keep(theme: Theme): void {
    try {
      this.window.localStorage.setItem(KEPT, theme);
    } catch {
      // then the next page asks again
    }
  }
}
