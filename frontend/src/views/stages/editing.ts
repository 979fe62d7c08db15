/** Numbers as they are edited: by typing, by a step, by dragging. */
import { batch } from "@preact/signals";
import type { Desk } from "../../state";
import { numberOf, Refused, type Edit } from "../../engine/sheet";
import { cellAt, type Grid } from "./road";

const STEP = 0.1;
const SMALL_STEP = 0.01;
/** Every so many pixels one step. */
const PIXELS = 6;
/** A hand that only meant to click trembles as far as this. */
const TREMBLE = 4;

/** A number so many steps further, without the dust of binary fractions. */
export function stepped(value: number, steps: number, isSmall: boolean): number {
  return Number((value + steps * (isSmall ? SMALL_STEP : STEP)).toPrecision(12));
}

/** A typed text a step further; what is no number stays as it is. */
export function steppedText(text: string, steps: number, isSmall: boolean): string {
  const value = parsed(text);
  return value instanceof Refused ? text : String(stepped(value, steps, isSmall));
}

/** The number that a text says, or why it says none. */
export function parsed(text: string): number | Refused {
  try {
    return numberOf(text);
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** The edit that puts a number into a place of a table. */
export function editOf(grid: Grid, row: number, column: number, value: number): Edit {
  const { layer, stage, row: inRow, column: inColumn } = cellAt(grid, row, column);
  return { set: stage as "x", layer, row: inRow, column: inColumn, value };
}

/** The edit that hides what may be read, or shows what is hidden. */
export function toggled(grid: Grid, row: number, column: number): Edit {
  const { layer, row: inRow, column: inColumn } = cellAt(grid, row, column);
  const value = grid.values[row * grid.columns.places.length + column] === 0;
  return { set: "allowed", layer, row: inRow, column: inColumn, value };
}

/** A number under a pointer that is held: dragging sideways changes it, and all of it is one edit. */
export class Drag {
  #moved = false;
  #begun = false;
  #isOver = false;
  #value: number;
  readonly #back: () => void;

  constructor(
    readonly desk: Desk,
    readonly start: { readonly x: number; readonly value: number },
    readonly edit: (value: number) => Edit,
  ) {
    this.#value = start.value;
    this.#back = wayBack(desk);
  }

  get moved(): boolean {
    return this.#moved;
  }

  /** Follow the pointer. True where this is, or has become, a drag. */
  to(x: number, isSmall: boolean): boolean {
    if (this.#isOver) return true;
    const away = x - this.start.x;
    if (!this.#moved && Math.abs(away) < TREMBLE) return false;
    const value = stepped(this.start.value, Math.trunc(away / PIXELS), isSmall);
    if (value !== this.#value && this.desk.apply(this.edit(value), { join: this.#begun }) === null) {
      this.#begun = true;
      this.#value = value;
    }
    return (this.#moved = true);
  }

  /** All is as it was before the drag; moving on changes nothing more. */
  cancel(): void {
    this.#isOver = true;
    this.#back();
  }
}

/** A way back to what is on a desk now, with all that can be undone and redone. */
function wayBack({ sheet, past, future, before }: Desk): () => void {
  const was = [sheet.peek(), past.peek(), future.peek(), before.peek()] as const;
  return () => batch(() => ([sheet.value, past.value, future.value, before.value] = was));
}
