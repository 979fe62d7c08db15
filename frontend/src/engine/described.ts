/** Rules, biases and heads as Python describes them (path/described.py): scalars, arrays by name, nested kinds. */

import type { Allowed, Bias, Heads, Rotary, Rule } from "./record";
import { Damaged, type Tensors } from "./tensors";

export interface Described {
  readonly kind: string;
  readonly [field: string]: unknown;
}

function nameOf(field: unknown): string {
  return (field as { array: string }).array;
}

export function ruleOf(said: Described, tensors: Tensors): Rule {
  return {
    scale: (said.scale as number | undefined) ?? null,
    allowed: allowedOf(said.allowed as Described, tensors),
    softcap: (said.softcap as number | undefined) ?? null,
    bias: said.bias ? biasOf(said.bias as Described, tensors) : null,
    sink: said.sink ? tensors.floats(nameOf(said.sink)) : null,
  };
}

function known<T>(kinds: Readonly<Record<string, (said: Described, tensors: Tensors) => T>>, what: string) {
  return (said: Described, tensors: Tensors): T => {
    if (!Object.hasOwn(kinds, said.kind)) throw new Damaged(`${what} of kind ${said.kind} is not known here`);
    return kinds[said.kind](said, tensors);
  };
}

const pairOf = (kind: "both" | "either") => (said: Described, tensors: Tensors) => ({
  kind,
  first: allowedOf(said.first as Described, tensors),
  second: allowedOf(said.second as Described, tensors),
});

const allowedOf: (said: Described, tensors: Tensors) => Allowed = known<Allowed>(
  {
    everything: () => ({ kind: "everything" }),
    causal: (said) => ({ kind: "causal", offset: said.offset as number }),
    window: (said) => ({
      kind: "window",
      n_back: said.n_back as number,
      n_ahead: said.n_ahead as number,
      offset: said.offset as number,
    }),
    padding: (said, tensors) => ({ kind: "padding", keys: tensors.booleans(nameOf(said.keys)) }),
    document: (said, tensors) => ({
      kind: "document",
      ids: tensors.ids(nameOf(said.ids)),
      offset: said.offset as number,
    }),
    table: (said, tensors) => {
      const name = nameOf(said.array);
      return { kind: "table", columns: tensors.shape(name, 2)[1], cells: tensors.booleans(name) };
    },
    both: pairOf("both"),
    either: pairOf("either"),
  },
  "a rule",
);

const biasOf: (said: Described, tensors: Tensors) => Bias = known<Bias>(
  {
    alibi: (said, tensors) => ({
      kind: "alibi",
      slopes: tensors.floats(nameOf(said.slopes)),
      offset: said.offset as number,
    }),
    relative: (said, tensors) => ({
      kind: "relative",
      vector: tensors.table(nameOf(said.vector)),
      offset: said.offset as number,
    }),
    t5: (said, tensors) => ({
      kind: "t5",
      buckets: tensors.table(nameOf(said.buckets)),
      bidirectional: said.bidirectional as boolean,
      max_distance: said.max_distance as number,
      offset: said.offset as number,
    }),
    bias_table: (said, tensors) => ({ kind: "bias_table", array: tensors.perHead(nameOf(said.array)) }),
    sum: (said, tensors) => ({
      kind: "sum",
      first: biasOf(said.first as Described, tensors),
      second: biasOf(said.second as Described, tensors),
    }),
  },
  "a bias",
);

export function headsOf(said: Described, tensors: Tensors): Heads {
  const weights = (field: unknown) => (field ? tensors.table(nameOf(field)) : null);
  const bias = (field: unknown) => (field ? tensors.floats(nameOf(field)) : null);
  return {
    w_q: tensors.table(nameOf(said.w_q)),
    w_k: tensors.table(nameOf(said.w_k)),
    w_v: tensors.table(nameOf(said.w_v)),
    w_o: weights(said.w_o),
    b_q: bias(said.b_q),
    b_k: bias(said.b_k),
    b_v: bias(said.b_v),
    b_o: bias(said.b_o),
    rotation: (said.rotation as Rotary | undefined) ?? null,
  };
}
