/** The layer as it is looked at: as the model has it, or without its first key. */
import type { Layer } from "../../engine/record";

const without = new WeakMap<Layer, Layer>();

/**
 * The same layer where no query may read key 0, so that softmax shares each row out anew over the others. The sums
 * that travelled do not hold any more.
 */
export function withoutFirst(layer: Layer): Layer {
  let made = without.get(layer);
  if (made === undefined) {
    const keys = new Uint8Array(layer.k.rows).fill(1);
    keys[0] = 0;
    const allowed = { kind: "both", first: layer.rule.allowed, second: { kind: "padding", keys } } as const;
    made = { ...layer, lse: null, rule: { ...layer.rule, allowed } };
    without.set(layer, made);
  }
  return made;
}
