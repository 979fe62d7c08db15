/** Server-Sent Events, read through the line: they go on after the last one that came, however often it breaks. */
import { jsonOf } from "./answers";
import type { Line } from "./line";

export interface Happening {
  readonly id: string | null;
  readonly event: string;
  readonly data: unknown;
}

/** A server says something at least every ten seconds; after three such silences nobody is there. */
const SILENCE_MS = 30_000;

/** Follow until `take` says that this was the last one, or `signal` that nobody looks any more. Throws Declined. */
export async function follow(
  line: Line,
  path: string,
  take: (happening: Happening) => boolean,
  signal: AbortSignal,
): Promise<void> {
  let last: string | null = null;
  const once = async (): Promise<void> => {
    const headers: Record<string, string> = last === null ? {} : { "Last-Event-ID": last };
    const response = await line.ask(path, { headers, signal });
    if (!response.ok || response.body === null) await jsonOf(response);
    for await (const happening of happeningsOf(response.body!)) {
      last = happening.id ?? last;
      if (take(happening)) return;
    }
    throw new Error("the stream ended");
  };
  await line.again(once, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** The events of a stream, as the HTML standard reads them. Leaving the loop closes the stream. */
export async function* happeningsOf(body: ReadableStream<Uint8Array>, silence = SILENCE_MS): AsyncGenerator<Happening> {
  let told = blank();
  for await (const line of linesOf(body, silence)) {
    if (line !== "") {
      put(told, line);
      continue;
    }
    if (told.data.length > 0) yield { id: told.id, event: told.event, data: JSON.parse(told.data.join("\n")) as unknown };
    told = blank();
  }
}

interface Collected {
  id: string | null;
  event: string;
  readonly data: string[];
}

function blank(): Collected {
  return { id: null, event: "message", data: [] };
}

function put(told: Collected, line: string): void {
  const [, name, text] = /^([^:]*):? ?(.*)$/.exec(line)!;
  if (name === "id") told.id = text;
  else if (name === "event") told.event = text;
  else if (name === "data") told.data.push(text);
}

/** Whole lines; what a broken stream left of one is nobody's. */
async function* linesOf(body: ReadableStream<Uint8Array>, silence: number): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await withinTime(reader.read(), silence);
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      yield* lines.map((line) => line.replace(/\r$/, ""));
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

async function withinTime<T>(coming: Promise<T>, most: number): Promise<T> {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    waiting = setTimeout(() => reject(new Error("nothing came")), most);
  });
  try {
    return await Promise.race([coming, silence]);
  } finally {
    clearTimeout(waiting);
  }
}
