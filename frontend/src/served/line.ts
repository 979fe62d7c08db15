/** The line to the server. A lost connection is sought again, and what was under way is asked once more. */
import { signal } from "@preact/signals";
import { Declined, jsonOf, type About, type Texts } from "./answers";

const FIRST_MS = 300;
const MOST_MS = 10_000;
const PATIENCE_MS = 5_000;

export type Fetch = (path: string, init?: RequestInit) => Promise<Response>;
export type Standing = "here" | "lost" | "back";

/** What of its surroundings a line uses. */
export interface Around {
  readonly fetch: Fetch;
  /** Ends after so many milliseconds, or earlier where the machine says that a network is there again. */
  readonly pause: (milliseconds: number) => Promise<void>;
}

export class Line {
  readonly standing = signal<Standing>("here");
  /** What the server can do; null until it has said so. */
  readonly about = signal<About | null>(null);
  /** The server that came back is another process than the one that was lost. */
  readonly isRestarted = signal(false);
  /** Why the server, which is there, does not let this page in. */
  readonly refusal = signal<Texts | null>(null);
  #seeking: Promise<void> | null = null;
  #underWay = new AbortController();

  constructor(readonly around: Around) {}

  /** Whatever comes back; it breaks off where the connection is found to be lost, or `signal` says so. */
  ask(path: string, init: RequestInit = {}): Promise<Response> {
    const signals = [this.#underWay.signal, ...(init.signal ? [init.signal] : [])];
    return this.around.fetch(path, { ...init, signal: AbortSignal.any(signals) });
  }

  /** Ask until there is an answer. What the server declines is an answer. */
  async again<T>(ask: () => Promise<T>, signal: AbortSignal | null = null): Promise<T> {
    for (let pause = FIRST_MS; ; pause = longer(pause)) {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof Declined || signal?.aborted) throw error;
      }
      await this.returned();
      // the server is there, and this broke off all the same
      await this.around.pause(varied(pause));
    }
  }

  /** Written once only: a second time might do it twice. Throws Declined, or what `fetch` throws. */
  async write(path: string, what: unknown, method = "POST"): Promise<unknown> {
    try {
      return await jsonOf(await this.ask(path, written(what, method)));
    } catch (error) {
      if (!(error instanceof Declined)) void this.returned();
      throw error;
    }
  }

  /** A question that changes nothing: it may be asked again. */
  question(what: unknown): Promise<unknown> {
    return this.again(async () => jsonOf(await this.ask("/api/ask", written(what, "POST"))));
  }

  /** Resolves once the server answers; at once where it does. */
  returned(): Promise<void> {
    this.#seeking ??= this.#seek().finally(() => (this.#seeking = null));
    return this.#seeking;
  }

  async #seek(): Promise<void> {
    let failures = 0;
    for (let pause = FIRST_MS; !(await this.#isThere()); pause = longer(pause)) {
      failures += 1;
      // one failure also is what a page that is being left sees
      if (failures === 2) this.#lose();
      await this.around.pause(varied(pause));
    }
    if (this.standing.peek() === "lost") this.standing.value = "back";
  }

  #lose(): void {
    this.standing.value = "lost";
    this.isRestarted.value = false;
    this.#underWay.abort();
    this.#underWay = new AbortController();
  }

  async #isThere(): Promise<boolean> {
    try {
      const about = (await jsonOf(await this.around.fetch("/api/session", { signal: AbortSignal.timeout(PATIENCE_MS) }))) as About;
      const before = this.about.peek();
      if (before !== null && before.started !== about.started) this.isRestarted.value = true;
      if (before?.started !== about.started) this.about.value = about;
      this.refusal.value = null;
      return true;
    } catch (error) {
      this.refusal.value = error instanceof Declined ? error.texts : null;
      return false;
    }
  }
}

function written(what: unknown, method: string): RequestInit {
  return { method, headers: { "Content-Type": "application/json", "X-Jumok": "1" }, body: JSON.stringify(what) };
}

function longer(pause: number): number {
  return Math.min(2 * pause, MOST_MS);
}

/** Thirty pages that lost one server should not come back in step. */
function varied(pause: number): number {
  return pause * (0.75 + 0.5 * Math.random());
}

/** The surroundings of a page. */
export function browser(window: globalThis.Window): Around {
  return {
    fetch: (path, init) => window.fetch(path, init),
    pause: (milliseconds) => new Promise((resolve) => {
      const ended = (): void => {
        clearTimeout(waiting);
        window.removeEventListener("online", ended);
        resolve();
      };
      const waiting = setTimeout(ended, milliseconds);
      window.addEventListener("online", ended);
    }),
  };
}
