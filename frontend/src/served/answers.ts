/** What the server says, as `src/jumok/server` writes it: plain JSON, each text in both languages. */
import type { Lang } from "../engine/record";

export type Texts = Readonly<Record<Lang, string>>;

export const STATES = ["queued", "running", "done", "failed", "stopped"] as const;
export type State = (typeof STATES)[number];

export interface Progress {
  readonly done: number;
  /** null where nobody knows how much there is. */
  readonly of: number | null;
  readonly unit: string | Texts | null;
  readonly left_s: number | null;
}

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly title: Texts;
  readonly state: State;
  /** How many stand before it in the queue; null where it does not wait. */
  readonly ahead: number | null;
  readonly progress: Progress | null;
  readonly error: Texts | null;
  /** Where what it made is seen; null where it made nothing. */
  readonly made: string | null;
  readonly created: string;
}

/** Something that can be opened. */
export interface Entry {
  readonly name: string;
  readonly title: Texts | string;
  readonly href: string;
  readonly kind?: string;
}

/** What this server can do. */
export interface About {
  readonly version: string;
  /** Another one after every start of the server. */
  readonly started: string;
  readonly model: { readonly name: string; readonly limit: number | null } | null;
  readonly corpus: boolean;
  readonly allow_code: boolean;
  readonly tasks: readonly { readonly name: string; readonly title: Texts | string }[];
  /** What cannot be done here, and what to install for it. */
  readonly missing: Readonly<Record<string, Texts>>;
  readonly examples: readonly Entry[];
  readonly files: readonly Entry[];
}

/** The server answered, and it was a refusal. */
export class Declined extends Error {
  constructor(readonly texts: Texts, readonly status: number) {
    super(texts.en);
  }
}

export function isOver(state: State): boolean {
  return state === "done" || state === "failed" || state === "stopped";
}

/** A text that may be given once for both languages. */
export function inOne(text: Texts | string, lang: Lang): string {
  return typeof text === "string" ? text : text[lang];
}

/** What an answer holds. Throws Declined where it is a refusal, and what `fetch` throws where it breaks off. */
export async function jsonOf(response: Response): Promise<unknown> {
  const plain = await plainOf(response);
  if (response.ok && plain !== undefined) return plain;
  throw new Declined(errorOf(plain) ?? unexplained(response.status), response.status);
}

async function plainOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function errorOf(plain: unknown): Texts | null {
  const { error } = (plain ?? {}) as { error?: Partial<Texts> };
  return typeof error?.en === "string" && typeof error.ko === "string" ? (error as Texts) : null;
}

/** Something between the page and jumok answered in its place. */
function unexplained(status: number): Texts {
  return {
    en: `The server answered with status ${status} and no explanation. Try again; if it goes on, look at the terminal in which jumok serve runs.`,
    ko: `서버가 설명 없이 상태 코드 ${status}로 답했습니다. 다시 해 보고, 계속되면 jumok serve를 실행한 터미널을 확인하십시오.`,
  };
}
