/** What every host gives `render`: the part of anywidget's model that jumok uses. */

export type Listener = (...given: unknown[]) => void;

export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, listener: Listener): void;
  off(event: string, listener: Listener): void;
  send(content: unknown): void;
}

/** One entry of `model.get("documents")`. */
export interface Sent {
  readonly header: string;
  readonly bytes: DataView | null;
}

/** `model.get("comparison")`: which token of document 0 stands for which of document 1. */
export interface Pairing {
  readonly pairs: readonly (readonly [number, number])[];
}
