/** What a job tells while it runs, collected for what is drawn of it. */

/** One step of a training: curves, and the table of the head that is worth a look, on one probe. */
export interface Step {
  readonly step: number;
  readonly loss: number | null;
  readonly accuracy: number | null;
  readonly weights?: readonly (readonly number[])[] | null;
  readonly tokens?: readonly string[] | null;
  readonly keys?: readonly string[] | null;
  readonly layer?: number;
  readonly head?: number;
}

/** A row of a table that grows: whatever is in it. */
export type Row = Readonly<Record<string, unknown>>;

/** A server that began again somewhere before goes on from there: what stood beyond comes once more. */
export function withStep(steps: readonly Step[], step: Step): readonly Step[] {
  const last = steps.at(-1);
  const before = last === undefined || last.step < step.step ? steps : steps.filter((one) => one.step < step.step);
  return [...before, step];
}

export interface Curve {
  /** SVG path data in a box of WIDTH × HEIGHT. */
  readonly path: string;
  readonly high: number;
  readonly first: readonly [step: number, value: number];
  readonly last: readonly [step: number, value: number];
}

export const WIDTH = 1000;
export const HEIGHT = 100;

/** The curve of what was measured at some of the steps; null where nothing was. */
export function curveOf(steps: readonly Step[], of: "loss" | "accuracy", high: number | null = null): Curve | null {
  const points = steps.flatMap((one): [number, number][] => {
    const value = one[of];
    return typeof value === "number" && Number.isFinite(value) ? [[one.step, value]] : [];
  });
  if (points.length === 0) return null;
  const end = Math.max(1, steps.at(-1)!.step);
  const most = high ?? Math.max(...points.map(([, value]) => value));
  const path = points.map(([step, value], at) => {
    const [x, y] = [(WIDTH * step) / end, HEIGHT * (1 - value / (most || 1))];
    return `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(2)}`;
  }).join("");
  return { path, high: most, first: points[0], last: points[points.length - 1] };
}

/** The newest table, and the step that it is of. */
export function tableOf(steps: readonly Step[]): Step | null {
  return steps.findLast(({ weights }) => Array.isArray(weights) && weights.length > 0) ?? null;
}

/** The columns of rows that need not have the same ones, in the order in which they first appear. */
export function columnsOf(rows: readonly Row[]): readonly string[] {
  const names = rows.flatMap((row) => Object.entries(row).filter(([, value]) => isPlain(value)).map(([name]) => name));
  return [...new Set(names)];
}

function isPlain(value: unknown): boolean {
  return ["number", "string", "boolean"].includes(typeof value);
}
