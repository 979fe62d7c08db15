/** One's own jobs, looked at again and again; by the way it is noticed when the server is gone. */
import { computed, signal } from "@preact/signals";
import { Declined, isOver, jsonOf, type Job, type Texts } from "./answers";
import type { Line } from "./line";
import { textsOf } from "./model";

const BUSY_MS = 2_000;
const QUIET_MS = 10_000;
const PATIENCE_MS = 15_000;

export class Jobs {
  readonly all = signal<readonly Job[]>([]);
  /** Those that wait or run. */
  readonly open = computed(() => this.all.value.filter(({ state }) => !isOver(state)));
  /** The last one that came to its end while it was watched. */
  readonly news = signal<Job | null>(null);
  /** Those that were listed before, and are no longer: deleted here, or in another tab. */
  readonly gone = signal<ReadonlySet<string>>(new Set());
  /** Why one could not be stopped or taken away. */
  readonly trouble = signal<Texts | null>(null);
  /** Those that something is asked of just now. */
  readonly asked = signal<ReadonlySet<string>>(new Set());

  constructor(readonly line: Line) {}

  /** Look for as long as the page is there. */
  async watch(): Promise<never> {
    for (;;) {
      await this.look();
      await this.line.around.pause(this.open.peek().length > 0 ? BUSY_MS : QUIET_MS);
    }
  }

  async look(): Promise<void> {
    const once = async (): Promise<unknown> => jsonOf(await this.line.ask("/api/jobs", { signal: AbortSignal.timeout(PATIENCE_MS) }));
    try {
      const said = (await this.line.again(once)) as readonly Job[] | { readonly jobs: readonly Job[] };
      this.#take("jobs" in said ? said.jobs : said);
    } catch (error) {
      // a server that was started anew may ask for its token again; the line says so, and waits
      if (error instanceof Declined && error.status === 403) await this.line.returned();
      else this.trouble.value = textsOf(error);
    }
  }

  #take(jobs: readonly Job[]): void {
    const open = new Set(this.open.peek().map(({ id }) => id));
    const ended = jobs.find(({ id, state }) => open.has(id) && (state === "done" || state === "failed"));
    if (ended !== undefined) this.news.value = ended;
    const listed = new Set(jobs.map(({ id }) => id));
    const gone = this.all.peek().filter(({ id }) => !listed.has(id));
    if (gone.length > 0) this.gone.value = new Set([...this.gone.peek(), ...gone.map(({ id }) => id)]);
    this.all.value = jobs;
  }

  stop(id: string): Promise<void> {
    return this.#change(id, () => this.line.write(`/api/jobs/${id}/stop`, {}));
  }

  remove(id: string): Promise<void> {
    return this.#change(id, () => this.line.write(`/api/jobs/${id}`, {}, "DELETE"));
  }

  async #change(id: string, change: () => Promise<unknown>): Promise<void> {
    if (this.asked.peek().has(id)) return;
    this.asked.value = new Set([...this.asked.peek(), id]);
    this.trouble.value = null;
    try {
      await change();
    } catch (error) {
      this.trouble.value = textsOf(error);
    }
    await this.look();
    this.asked.value = new Set([...this.asked.peek()].filter((one) => one !== id));
  }
}
