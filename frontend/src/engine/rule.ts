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

/** What is added to the scaled score, rounded to single precision where Python adds it in that. */
export function biasAt(bias: Bias, head: number, query: number, key: number): number {
  switch (bias.kind) {
    case "alibi": {
      const cost = -ofHead(bias.slopes.length, head, (at) => bias.slopes[at]) * Math.abs(query + bias.offset - key);
      return isSingle(bias) ? Math.fround(cost) : cost;
    }
    case "relative": {
      const reach = (bias.vector.columns - 1) / 2;
      const ahead = Math.min(reach, Math.max(-reach, key - query - bias.offset));
      return bias.vector.values[headOf(bias.vector.rows, head) * bias.vector.columns + ahead + reach];
    }
    case "t5":
      return bias.buckets.values[t5Bucket(bias, key - query - bias.offset) * bias.buckets.columns + headOf(bias.buckets.columns, head)];
    case "bias_table": {
      const { heads, rows, width, values } = bias.array;
      return values[(headOf(heads, head) * rows + query) * width + key];
    }
    case "sum": {
      const sum = biasAt(bias.first, head, query, key) + biasAt(bias.second, head, query, key);
      return isSingle(bias) ? Math.fround(sum) : sum;
    }
  }
}
