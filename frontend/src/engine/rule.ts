/** How a score becomes a weight, by place: who may read whom, the position bias, the scale. As path/ in Python. */

import type { Allowed, Bias, Layer } from "./record";

/** Whether the query may read the key. */
export function allowedAt(allowed: Allowed, query: number, key: number): boolean {
  switch (allowed.kind) {
    case "everything":
      return true;
    case "causal":
      return key <= query + allowed.offset;
    case "window": {
      const back = query + allowed.offset - key;
      return back <= allowed.n_back && back >= -allowed.n_ahead;
    }
    case "padding":
      return allowed.keys[key] !== 0;
    case "document":
      return allowed.ids[query + allowed.offset] === allowed.ids[key];
    case "table":
      return allowed.cells[query * allowed.columns + key] !== 0;
    case "both":
      return allowedAt(allowed.first, query, key) && allowedAt(allowed.second, query, key);
    case "either":
      return allowedAt(allowed.first, query, key) || allowedAt(allowed.second, query, key);
  }
}

/** No key before this one may be read by the query. */
export function firstKey(allowed: Allowed, query: number): number {
  switch (allowed.kind) {
    case "window":
      return Math.max(0, query + allowed.offset - allowed.n_back);
    case "both":
      return Math.max(firstKey(allowed.first, query), firstKey(allowed.second, query));
    case "either":
      return Math.min(firstKey(allowed.first, query), firstKey(allowed.second, query));
    default:
      return 0;
  }
}

/** Neither this key nor any after it may be read by the query. */
export function endKey(allowed: Allowed, query: number, nKeys: number): number {
  switch (allowed.kind) {
    case "causal":
      return Math.min(nKeys, query + allowed.offset + 1);
    case "window":
      return Math.min(nKeys, query + allowed.offset + allowed.n_ahead + 1);
    case "both":
      return Math.min(endKey(allowed.first, query, nKeys), endKey(allowed.second, query, nKeys));
    case "either":
      return Math.max(endKey(allowed.first, query, nKeys), endKey(allowed.second, query, nKeys));
    default:
      return nKeys;
  }
}

/** True where every key from `firstKey` up to `endKey` may be read, so that no cell has to be asked. */
export function isRange(allowed: Allowed): boolean {
  switch (allowed.kind) {
    case "everything":
    case "causal":
    case "window":
      return true;
    case "both":
      return isRange(allowed.first) && isRange(allowed.second);
    default:
      return false;
  }
}

/** What is added to the scaled score; in single precision where Python adds it in that. */
export function biasAt(bias: Bias, head: number, query: number, key: number): number {
  switch (bias.kind) {
    case "alibi": {
      const cost = -bias.slopes[shared(bias.slopes.length, head)] * Math.abs(query + bias.offset - key);
      return isSingle(bias) ? Math.fround(cost) : cost;
    }
    case "relative": {
      const { rows, columns, values } = bias.vector;
      const reach = (columns - 1) / 2;
      const ahead = Math.min(reach, Math.max(-reach, key - query - bias.offset));
      return values[shared(rows, head) * columns + reach + ahead];
    }
    case "t5": {
      const { columns, values } = bias.buckets;
      return values[bucketOf(bias, key - query - bias.offset) * columns + shared(columns, head)];
    }
    case "bias_table": {
      const { heads, rows, width, values } = bias.array;
      return values[(shared(heads, head) * rows + query) * width + key];
    }
    case "sum": {
      const sum = biasAt(bias.first, head, query, key) + biasAt(bias.second, head, query, key);
      return isSingle(bias) ? Math.fround(sum) : sum;
    }
  }
}

/** A bias is for every head, or one for all. */
function shared(heads: number, head: number): number {
  return heads === 1 ? 0 : head;
}

function isSingle(bias: Bias): boolean {
  switch (bias.kind) {
    case "alibi":
      return bias.slopes instanceof Float32Array;
    case "relative":
      return bias.vector.values instanceof Float32Array;
    case "t5":
      return bias.buckets.values instanceof Float32Array;
    case "bias_table":
      return bias.array.values instanceof Float32Array;
    case "sum":
      return isSingle(bias.first) && isSingle(bias.second);
  }
}

type T5 = Extract<Bias, { kind: "t5" }>;
const bucketsOfDistance = new WeakMap<T5, Int32Array>();

/** The bucket of an offset key − query. */
function bucketOf(bias: T5, ahead: number): number {
  let buckets = bucketsOfDistance.get(bias);
  const n = bias.bidirectional ? bias.buckets.rows / 2 : bias.buckets.rows;
  if (!buckets) bucketsOfDistance.set(bias, (buckets = t5Buckets(n, bias.max_distance)));
  if (ahead <= 0) return buckets[Math.min(-ahead, bias.max_distance)];
  return bias.bidirectional ? n + buckets[Math.min(ahead, bias.max_distance)] : 0;
}

/** The bucket of each distance 0, 1, …, maxDistance: the first half exact, the rest ever wider. */
function t5Buckets(n: number, maxDistance: number): Int32Array {
  const exact = Math.floor(n / 2);
  const wider = n - exact;
  // 1 − 1e-12: where a bucket starts exactly at a whole distance, rounding must not move it
  const start = (at: number) => Math.ceil(exact * (maxDistance / exact) ** (at / wider) * (1 - 1e-12));
  const buckets = new Int32Array(maxDistance + 1);
  for (let distance = 0, begun = 0; distance <= maxDistance; distance++) {
    while (begun < wider && start(begun) <= distance) begun++;
    buckets[distance] = distance < exact ? distance : exact - 1 + begun;
  }
  return buckets;
}

/** The scale in force: as given, or 1/√d_head. */
export function scaleOf(layer: Layer): number {
  return layer.rule.scale ?? 1 / Math.sqrt(layer.q.width);
}
