/** A document on the server: its header first, and a layer once it is looked at, each by the range of its bytes. */
import type { Entry } from "../engine/tensors";
import { Declined, jsonOf } from "./answers";
import type { Line } from "./line";

/** The first request: most headers end within it. */
const FIRST_BYTES = 1 << 18;
/** Up to here a document comes whole, as it does to a page on disk. */
const SMALL_BYTES = 2 << 20;
const LENGTH_BYTES = 8;

interface Part {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of the whole file. */
  readonly total: number;
  readonly tag: string | null;
}

export interface Remote {
  readonly header: string;
  /** All tensors; null where layers come one by one. */
  readonly bytes: DataView | null;
  layer(at: number): Promise<DataView>;
}

/** Open a document. Throws Declined. */
export async function openRemote(line: Line, path: string): Promise<Remote> {
  const first = await partOf(line, path, 0, FIRST_BYTES, null);
  const start = LENGTH_BYTES + Number(new DataView(first.bytes.buffer).getBigUint64(0, true));
  const begun = first.bytes.length < start ? await continued(line, path, first, start) : first;
  const header = new TextDecoder().decode(begun.bytes.subarray(LENGTH_BYTES, start));
  const ranges = rangesOf(header);
  const isWhole = ranges === null || first.total <= SMALL_BYTES;
  const all = isWhole ? await continued(line, path, begun, first.total) : null;
  return {
    header,
    bytes: all && new DataView(all.bytes.buffer, start),
    async layer(at) {
      const [from, to] = ranges![at];
      const { bytes } = await partOf(line, path, start + from, start + to, first.tag);
      return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
  };
}

/** A part, and what follows it up to `end`. */
async function continued(line: Line, path: string, part: Part, end: number): Promise<Part> {
  if (part.bytes.length >= end) return part;
  const more = await partOf(line, path, part.bytes.length, end, part.tag);
  const bytes = new Uint8Array(end);
  bytes.set(part.bytes);
  bytes.set(more.bytes, part.bytes.length);
  return { ...part, bytes };
}

function partOf(line: Line, path: string, from: number, to: number, tag: string | null): Promise<Part> {
  const headers = { Range: `bytes=${from}-${to - 1}`, ...(tag === null ? {} : { "If-Range": tag }) };
  return line.again(async () => {
    const response = await line.ask(path, { headers });
    if (!response.ok) await jsonOf(response);
    const tagNow = response.headers.get("ETag");
    if (tag !== null && tagNow !== tag) throw new Declined(CHANGED, response.status);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status !== 206) return { bytes: from === 0 ? bytes : bytes.slice(from, to), total: bytes.length, tag: tagNow };
    const total = Number(/\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1]);
    return { bytes, total, tag: tagNow };
  });
}

const CHANGED = {
  en: "The file behind this page has changed since it was opened. Load the page again.",
  ko: "이 페이지를 연 뒤로 파일이 바뀌었습니다. 페이지를 새로 고치십시오.",
};

/** Where each layer lies among the tensors; null for a document that always comes whole. */
function rangesOf(header: string): readonly (readonly [from: number, to: number])[] | null {
  const { __metadata__: metadata, ...entries } = JSON.parse(header) as Record<string, Entry> & { __metadata__?: Record<string, string> };
  const page = JSON.parse(metadata?.page ?? "{}") as { atlas?: unknown };
  if (!page.atlas) return null;
  const ranges: [number, number][] = [];
  for (const [name, { data_offsets: [from, to] }] of Object.entries(entries)) {
    const at = Number(/^layers\.(\d+)\./.exec(name)?.[1]);
    const [first, last] = ranges[at] ?? [from, to];
    ranges[at] = [Math.min(first, from), Math.max(last, to)];
  }
  return ranges;
}
