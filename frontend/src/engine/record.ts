/** The record as the page has it: one Layer is one Trace. Arrays are row-major; nothing here is n × n. */

export type Numbers = Float32Array | Float64Array;

/** (row, column) */
export interface Table {
  readonly rows: number;
  readonly columns: number;
  readonly values: Numbers;
}

/** (head, row, width) */
export interface PerHead {
  readonly heads: number;
  readonly rows: number;
  readonly width: number;
  readonly values: Numbers;
}

/** How a token is shown; pieces of one character share `text` and count `part` of `parts`. */
export interface Label {
  readonly text: string;
  readonly part: number;
  readonly parts: number;
  readonly raw: string | null;
  readonly special: boolean;
}

export interface Token {
  readonly text: string;
  readonly span: readonly [number, number] | null;
  readonly label: Label;
}

/** Who may read whom, as Python describes it (path/allowed.py). Arrays are already in place of their names. */
export type Allowed =
  | { readonly kind: "everything" }
  | { readonly kind: "causal"; readonly offset: number }
  | { readonly kind: "window"; readonly n_back: number; readonly n_ahead: number; readonly offset: number }
  | { readonly kind: "padding"; readonly keys: Uint8Array }
  | { readonly kind: "document"; readonly ids: Int32Array; readonly offset: number }
  | { readonly kind: "table"; readonly columns: number; readonly cells: Uint8Array }
  | { readonly kind: "both" | "either"; readonly first: Allowed; readonly second: Allowed };

/** What is added to a scaled score, by place (path/positions.py). */
export type Bias =
  | { readonly kind: "alibi"; readonly slopes: Numbers; readonly offset: number }
  | { readonly kind: "relative"; readonly vector: Table; readonly offset: number }
  | {
      readonly kind: "t5";
      readonly buckets: Table;
      readonly bidirectional: boolean;
      readonly max_distance: number;
      readonly offset: number;
    }
  | { readonly kind: "bias_table"; readonly array: PerHead }
  | { readonly kind: "sum"; readonly first: Bias; readonly second: Bias };

export interface Rule {
  /** null: 1/√d_head */
  readonly scale: number | null;
  readonly allowed: Allowed;
  readonly softcap: number | null;
  readonly bias: Bias | null;
  /** (head,) or null */
  readonly sink: Numbers | null;
}

export interface Rotary {
  readonly kind: "rotary";
  readonly base: number;
  readonly interleaved: boolean;
  readonly offset: number;
}

export interface Heads {
  readonly w_q: Table;
  readonly w_k: Table;
  readonly w_v: Table;
  readonly w_o: Table | null;
  readonly b_q: Numbers | null;
  readonly b_k: Numbers | null;
  readonly b_v: Numbers | null;
  readonly b_o: Numbers | null;
  readonly rotation: Rotary | null;
}

/** Where a record came from; `details` as in Python's Source. */
export interface Source {
  readonly kind: string;
  readonly name: string | null;
  readonly layer: number | null;
  readonly exact: boolean;
  readonly backend: string;
  readonly shared_heads: string | null;
  readonly special_tokens: boolean | null;
  readonly details: {
    readonly title?: Readonly<Record<string, string>>;
    readonly sentence?: string;
    readonly meaning?: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly focus?: number;
    readonly pair?: string;
    readonly positions?: string;
    readonly temperature?: number;
    readonly residual?: boolean;
    readonly n_layers?: number;
    readonly unreadable?: Readonly<Record<Lang, string>>;
    readonly refused?: readonly Readonly<Record<"module" | Lang, string>>[];
    readonly [name: string]: unknown;
  };
}

/** One attention layer over one sequence: Python's Trace. */
export interface Layer {
  readonly tokens: readonly Token[];
  /** What is read, where it is another sequence; null: `tokens`. */
  readonly keyTokens: readonly Token[] | null;
  readonly q: PerHead;
  readonly k: PerHead;
  /** null where the page does not carry the values of this layer. */
  readonly v: PerHead | null;
  readonly rule: Rule;
  readonly x: Table | null;
  readonly heads: Heads | null;
  readonly dimensions: readonly string[] | null;
  readonly source: Source;
  /** (head, query) logarithm of each row's sum of exp, where it travelled; else it is computed when needed. */
  readonly lse: Numbers | null;
  /** True where q, k and v are the record's own numbers, false where they were rounded to int16. */
  readonly exact: boolean;
}

export interface LayerFacts {
  readonly n_heads: number;
  readonly n_kv_heads: number;
  readonly n_queries: number;
  readonly n_keys: number;
  readonly d_head: number;
  readonly d_value: number;
  readonly values: boolean;
  readonly error: readonly number[];
  /** In how many rows of each head the error was looked for; fewer than n_queries: in some, evenly spaced. */
  readonly error_rows?: number;
  /** From how many rows of each head the next three, and its thumbnail, are; missing: from all. */
  readonly rows?: number;
  readonly entropy: readonly number[];
  readonly first: readonly number[];
  readonly previous: readonly number[];
}

export interface Atlas {
  readonly png: string | null;
  readonly size: number;
  readonly columns: number;
  readonly rows: number;
}

/** What is known of a document before any layer is brought. */
export interface Document {
  readonly kind: "trace" | "reading";
  readonly source: Source;
  readonly title: Readonly<Record<string, string>> | null;
  readonly storage: "exact" | "int16";
  readonly facts: readonly LayerFacts[];
  /** What the program calls each layer, where only some were kept (src/jumok/layer_numbers.py). */
  readonly numbers?: readonly number[] | null;
  readonly atlas: Atlas | null;
  readonly tokens: (layer: number) => readonly Token[];
  /** The layer itself: at once where its bytes are here, else when they come. Kept once brought. */
  readonly layer: (layer: number) => Layer | Promise<Layer>;
}

/** One number of one stage: what is pointed at, and what an arithmetic is made from. */
export interface Cell {
  readonly layer: number;
  readonly stage: Stage;
  /** 0 where there are no heads (x, w_*, output). */
  readonly head: number;
  readonly row: number;
  readonly column: number;
  /** For weighted_values, (row = key, column = dimension): the query that reads. */
  readonly query?: number;
}

export const STAGES = ["scores", "scaled", "allowed", "weights", "weighted_values", "mixed", "output"] as const;
export const SHOWN = ["x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v", ...STAGES] as const;
export type Stage = (typeof SHOWN)[number];

export type Lang = "en" | "ko";
