/** Curves as paths: what is drawn of a number at every step, or at every snapshot. */
import { snapshotAt } from "../../engine/history";
import type { Numbers } from "../../engine/record";

/** The drawing is this wide and this high, whatever the screen makes of it. */
export const WIDTH = 1000;
export const HEIGHT = 100;

/** Where a step stands, 0 to 1. */
export type Axis = (step: number) => number;

export function axisOf(last: number, isLog: boolean): Axis {
  const most = Math.max(1, last);
  return isLog ? (step) => Math.log1p(step) / Math.log1p(most) : (step) => step / most;
}

/** The step at a place of the axis. */
export function stepAt(share: number, last: number, isLog: boolean): number {
  const within = Math.max(0, Math.min(1, share));
  return isLog ? Math.expm1(within * Math.log1p(Math.max(1, last))) : within * last;
}

export interface Curve {
  readonly values: ArrayLike<number>;
  /** The step of each value; null: value i was made at step i. */
  readonly steps: readonly number[] | null;
}

/** SVG path data. Of values that fall on one pixel the lowest and the highest are drawn; those that are missing are gaps. */
export function pathOf({ values, steps }: Curve, axis: Axis, low: number, high: number): string {
  const parts: string[] = [];
  let column = -1;
  let [least, most] = [Infinity, -Infinity];
  let isGap = true;
  const put = (x: number, value: number): void => {
    const y = HEIGHT * (1 - (value - low) / (high - low || 1));
    parts.push(`${isGap ? "M" : "L"}${x} ${y.toFixed(2)}`);
    isGap = false;
  };
  const flush = (): void => {
    if (column < 0 || least > most) return;
    put(column, least);
    if (most > least) put(column, most);
    [least, most] = [Infinity, -Infinity];
  };
  for (let at = 0; at < values.length; at += 1) {
    const share = axis(steps === null ? at : steps[at]);
    if (share > 1) break; // a run that was stopped has losses beyond its last snapshot
    const x = Math.round(WIDTH * share);
    if (x !== column || Number.isNaN(values[at])) flush();
    column = x;
    if (Number.isNaN(values[at])) isGap = true;
    else [least, most] = [Math.min(least, values[at]), Math.max(most, values[at])];
  }
  flush();
  return parts.join("");
}

/** A value, and the step that it is of: of a curve of snapshots the last one not after it, of a curve of steps its own or the last. */
export function valueAt({ values, steps }: Curve, step: number): { readonly value: number; readonly step: number } {
  if (values.length === 0) return { value: NaN, step };
  if (steps === null) return { value: values[Math.min(step, values.length - 1)], step: Math.min(step, values.length - 1) };
  return { value: values[snapshotAt(steps, step)], step };
}

/** The largest of some numbers, 0 where there are none. */
export function largest(...curves: readonly ArrayLike<number>[]): number {
  let most = 0;
  for (const curve of curves) for (let at = 0; at < curve.length; at += 1) if (curve[at] > most) most = curve[at];
  return most;
}

/** One head's share through the snapshots. */
export function headCurve(values: Numbers, layer: number, head: number, nLayers: number, nHeads: number): Float64Array {
  const size = nLayers * nHeads;
  return Float64Array.from({ length: values.length / size }, (_, at) => values[at * size + layer * nHeads + head]);
}
