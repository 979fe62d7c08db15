/** A page that opens from disk: the model lies in its script elements, and each layer is decoded when it is wanted. */
import type { Listener, Model, Sent } from "./model";

/** The model of a page that `jumok.picture.page` wrote. */
export function pageModel(page: Document): Model {
  const values = new Map<string, unknown>(Object.entries(json(page, "jumok-model") as Record<string, unknown>));
  const headers = [...page.querySelectorAll<HTMLScriptElement>("script[data-jumok-header]")];
  values.set("documents", headers.map((header, at): Sent => sentOf(page, header, at)));
  const listeners = new Map<string, Set<Listener>>();
  const tell = (event: string, ...given: unknown[]): void => listeners.get(event)?.forEach((told) => told(...given));
  return {
    get: (name) => values.get(name) ?? null,
    set(name, value) {
      values.set(name, value);
      tell(`change:${name}`);
    },
    save_changes: () => undefined,
    on(event, listener) {
      if (!listeners.has(event)) listeners.set(event, new Set());
      listeners.get(event)?.add(listener);
    },
    off: (event, listener) => void listeners.get(event)?.delete(listener),
    send(content) {
      const { document, layer } = (content as { want: { document: number; layer: number } }).want;
      // after the caller has gone on, as in a notebook
      queueMicrotask(() => tell("msg:custom", { document, layer }, [bytesOf(page, document, layer)]));
    },
  };
}

function json(page: Document, id: string): unknown {
  return JSON.parse(page.getElementById(id)?.textContent ?? "{}");
}

/** A document in one block is here at once; a larger one gives its layers when it is asked. */
function sentOf(page: Document, header: HTMLScriptElement, at: number): Sent {
  const text = header.textContent ?? "";
  if (header.dataset.jumokHeader === "whole") return { header: text, bytes: bytesOf(page, at, null) };
  return { header: withAtlas(text, page.querySelector<HTMLImageElement>(`img[data-jumok-atlas="${at}"]`)), bytes: null };
}

/** The thumbnails of a large document stand once, before all else, so that they are seen at once. */
function withAtlas(header: string, image: HTMLImageElement | null): string {
  if (image === null) return header;
  const whole = JSON.parse(header) as { __metadata__: { page: string } };
  const told = JSON.parse(whole.__metadata__.page) as { atlas: { png: string | null } };
  told.atlas.png = image.src;
  whole.__metadata__.page = JSON.stringify(told);
  image.remove();
  return JSON.stringify(whole);
}

/** The bytes of one block. Its text is let go: it takes more room than what it says. */
function bytesOf(page: Document, document: number, layer: number | null): DataView {
  const which = layer === null ? ":not([data-layer])" : `[data-layer="${layer}"]`;
  const block = page.querySelector(`script[data-document="${document}"]${which}`);
  if (block === null) throw new Error(`layer ${layer} of document ${document} is not in this page`);
  const bytes = decoded(block.textContent ?? "");
  block.remove();
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

type Decoder = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

/** The bytes of a text in base64. */
export function decoded(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as Decoder;
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, base64);
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}
