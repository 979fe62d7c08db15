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

export type Pair = readonly [a: number, b: number];

/** `model.get("comparison")`: which token of document 0 stands for which of document 1, and what else was found. */
export interface Pairing {
  readonly pairs: readonly Pair[];
  readonly heads?: readonly HeadChange[];
}

/** What one head does differently in document 1, as `HeadChange` in measurement/comparison.py. */
export interface HeadChange {
  readonly layer: number;
  readonly head: number;
  /** Mean Jensen–Shannon distance of its matched rows, 0 to 1; null where none can be compared. */
  readonly distance: number | null;
  readonly largest: number;
  readonly query: Pair | null;
  readonly key: Pair | null;
  /** Mean weight on keys that only one text has. */
  readonly unmatched: readonly [number, number];
}
