/** The model of a page with a server behind it: layers come by ranges of bytes, questions are answered by Python. */
import { signal, type Signal } from "@preact/signals";
import type { Listener, Model } from "../hosts/model";
import { Declined, type Texts } from "./answers";
import type { Line } from "./line";
import { openRemote, type Remote } from "./remote";

interface Want {
  readonly want: { readonly document: number; readonly layer: number };
}

type Question = Readonly<Record<string, unknown>> & { readonly kind: string; readonly number: number };

export class ServedModel implements Model {
  /** What could not be brought, where a page would wait for it. */
  readonly trouble: Signal<Texts | null> = signal(null);
  readonly #values: Map<string, unknown>;
  readonly #listeners = new Map<string, Set<Listener>>();

  /** `paths`: where each document of the page lies. */
  static async open(line: Line, values: Readonly<Record<string, unknown>>, paths: readonly string[]): Promise<ServedModel> {
    return new ServedModel(line, values, paths, await Promise.all(paths.map((path) => openRemote(line, path))));
  }

  private constructor(
    readonly line: Line,
    values: Readonly<Record<string, unknown>>,
    readonly paths: readonly string[],
    readonly remotes: readonly Remote[],
  ) {
    this.#values = new Map(Object.entries(values));
    this.#values.set("documents", remotes.map(({ header, bytes }) => ({ header, bytes })));
  }

  get(name: string): unknown {
    return this.#values.get(name) ?? null;
  }

  set(name: string, value: unknown): void {
    this.#values.set(name, value);
    this.#tell(`change:${name}`);
  }

  save_changes(): void {}

  on(event: string, listener: Listener): void {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event)!.add(listener);
  }

  off(event: string, listener: Listener): void {
    this.#listeners.get(event)?.delete(listener);
  }

  send(content: unknown): void {
    void ("want" in (content as object) ? this.#bring((content as Want).want) : this.#ask(content as Question));
  }

  async #bring({ document, layer }: Want["want"]): Promise<void> {
    try {
      const bytes = await this.remotes[document].layer(layer);
      this.#tell("msg:custom", { document, layer }, [bytes]);
    } catch (error) {
      this.trouble.value = textsOf(error);
    }
  }

  async #ask({ number, ...question }: Question): Promise<void> {
    const { kind } = question;
    const about = kind === "cut" ? { document: this.paths[0].split("/").pop()! } : {};
    try {
      const answer = await this.line.question({ ...question, ...about });
      // a verdict has a kind of its own
      this.#tell("msg:custom", { kind, number, ...(kind === "check" ? { verdict: answer } : (answer as object)) }, []);
    } catch (error) {
      this.#tell("msg:custom", { kind, number, error: textsOf(error) }, []);
    }
  }

  #tell(event: string, ...given: unknown[]): void {
    [...(this.#listeners.get(event) ?? [])].forEach((told) => told(...given));
  }
}

export function textsOf(error: unknown): Texts {
  if (error instanceof Declined) return error.texts;
  const reason = error instanceof Error ? error.message : String(error);
  return { en: reason, ko: reason };
}
