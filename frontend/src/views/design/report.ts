/** What Python said of a design: read from a record or an answer, and whether it still belongs to the numbers shown. */
import type { Lang } from "../../engine/record";
import { tableOf, type Sheet } from "../../engine/sheet";
import { layersOf } from "../../engine/chain";

type Texts = Readonly<Record<Lang, string>>;

export interface Reason {
  readonly text: Texts;
  /** What would lift it. */
  readonly lifts: readonly Texts[];
}

/** Of `Design.to_json()` (src/jumok/sources/design/report.py) what is shown. */
export interface Report {
  readonly exact: boolean;
  readonly finished: boolean;
  /** Of all heads together, nats: how far the rows are off, and how far from the best possible that is at most. */
  readonly loss: number;
  readonly gap: number;
  /** Whether W was kept finite: then more is proven of that alone. */
  readonly ridge: boolean;
  readonly reasons: readonly Reason[];
}

/** null where it is none: a file may say anything. */
export function reportIn(said: unknown): Report | null {
  const { exact, finished, gap, heads, errors, reasons } = mapIn(said);
  if (typeof exact !== "boolean" || typeof gap !== "number") return null;
  const losses = listIn(errors).flatMap(listIn).flatMap(listIn).map(Number); // of a free row null, which is 0
  return {
    exact,
    finished: finished !== false,
    loss: losses.reduce((sum, loss) => sum + loss, 0),
    gap,
    ridge: listIn(heads).some((head) => Number(mapIn(head).ridge) > 0),
    reasons: listIn(reasons).map((reason) => {
      const { text, lifts } = mapIn(reason);
      return { text: textsIn(text), lifts: listIn(lifts).map((lift) => textsIn(mapIn(lift).text)) };
    }),
  };
}

function textsIn(said: unknown): Texts {
  const { en, ko } = mapIn(said);
  return { en: String(en ?? ko ?? ""), ko: String(ko ?? en ?? "") };
}

function mapIn(said: unknown): Readonly<Record<string, unknown>> {
  return typeof said === "object" && said !== null ? (said as Readonly<Record<string, unknown>>) : {};
}

function listIn(said: unknown): readonly unknown[] {
  return Array.isArray(said) ? said : [];
}

/** Whether two sheets ask and answer the same in their last layer: then what was said of the one is so of the other. */
export function isSameDesign(one: Sheet, other: Sheet): boolean {
  return one === other || signOf(one) === signOf(other);
}

function signOf(sheet: Sheet): string {
  const { q, k, x, rule } = layersOf(sheet)[sheet.layers.length - 1];
  const texts = sheet.tokens.map((token) => token.text);
  const bias = rule.bias === null ? null : sheet.layers[sheet.layers.length - 1].bias;
  const tables = [x, q, k].map((table) => [...(table?.values ?? [])]);
  return JSON.stringify([texts, tables, rule.scale, [...tableOf(rule.allowed, texts.length)], bias, sheet.wanted]);
}
