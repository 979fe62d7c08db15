/**
 * A second program that comes along where a document needs it, such as a training run: it adds a panel above the views, and
 * documents that move. It shares this program's parts (kit.ts); build.mjs takes them out of it.
 */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Model } from "./hosts/model";
import * as kit from "./kit";
import type { Desk, Session } from "./state";

export interface Extended {
  /** Left out: the documents as they came. */
  readonly desks?: readonly Desk[];
  /** What can be chosen besides, whole numbers from 0: the address and the host carry them too. */
  readonly places: Readonly<Record<string, Signal<number>>>;
  readonly Panel: (given: { session: Session }) => JSX.Element;
}

export type Extension = (model: Model) => Extended;

/** The text of a program is a module whose default export takes the kit. */
export async function extensionOf(program: string): Promise<Extension> {
  const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  const module = (await import(address)) as { default: (parts: typeof kit) => { extend: Extension } };
  URL.revokeObjectURL(address);
  return module.default(kit).extend;
}
