/** All that mouse, finger and keyboard do to a table. */
import { signal, type Signal } from "@preact/signals";
import type { RefObject, TableHTMLAttributes } from "preact";
import type { Edit } from "../../engine/sheet";
import { Refused } from "../../engine/sheet";
import type { Typing } from "./cell";
import { Drag, editOf, parsed, stepped, steppedText, toggled } from "./editing";
import type { Looking } from "./looking";
import type { MenuOf } from "./menu";
import { refusal } from "./refusals";
import { cellAt, type Axis, type Grid, type Place } from "./road";

/** What can be done to the cells of a table. */
export type Editable = "number" | "flag" | null;

/** Which names at the edges of a table have a menu. */
export type Menus = "none" | "tokens" | "all";

export function hasMenu({ token }: Place, menus: Menus): boolean {
  return menus === "all" || (menus === "tokens" && token !== null);
}

export interface GridProps {
  readonly looking: Looking;
  readonly grid: Grid;
  readonly editable: Editable;
  readonly menus: Menus;
  readonly label: string;
}

/** Row or column −1: the names at the edge. */
export interface At {
  readonly row: number;
  readonly column: number;
}

export function find(box: ParentNode, { row, column }: At): HTMLElement | null {
  return box.querySelector(`[data-row="${row}"][data-column="${column}"]`);
}

/** Digits and signs begin a new number. */
const BEGINS = /^[-+.\d\u2212]$/;

export class Hands {
  /** The one place that the tab key comes to, where somebody was here; null: the chosen one. */
  readonly stop: Signal<At | null> = signal(null);
  readonly typing = signal<Typing | null>(null);
  readonly menu = signal<MenuOf | null>(null);
  /** Why something that was not typed could not be done. */
  readonly wrong = signal<{ readonly at: At; readonly text: string } | null>(null);
  declare props: GridProps;
  #drag: Drag | null = null;
  #wasFocused = false;

  constructor(readonly table: RefObject<HTMLTableElement | null>) {}

  readonly handlers: TableHTMLAttributes<HTMLTableElement> = {
    onFocusIn: (event) => this.#focused(event),
    onFocusOut: () => (this.wrong.value = null),
    onKeyDown: (event) => this.#pressed(event),
    onCopy: (event) => this.#copied(event),
    onClick: (event) => this.#clicked(event),
    onPointerDown: (event) => this.#held(event),
    onPointerMove: (event) => this.#moved(event),
    onPointerUp: () => this.#released(),
    onPointerCancel: () => this.#released(),
    onPointerOver: (event) => this.#over(event),
    onPointerLeave: () => (this.props.looking.hovered.value = null),
  };

  readonly field = {
    change: (text: string): void => {
      const typing = this.typing.peek();
      if (typing) this.typing.value = { ...typing, text, wrong: null };
    },
    onKeyDown: (event: KeyboardEvent): void => this.#typed(event),
    onBlur: (): void => void this.#commit(),
  };

  closeMenu(): void {
    const menu = this.menu.peek();
    this.menu.value = null;
    if (menu && this.stop.peek()) this.#focus(this.stop.peek()!);
  }

  // looking ----------------------------------------------------------------------------------------

  #focused(event: FocusEvent): void {
    const at = placeUnder(event.target);
    if (at === null) return;
    this.stop.value = at;
    if (isCell(at)) this.props.looking.keep(cellAt(this.props.grid, at.row, at.column));
  }

  #over(event: PointerEvent): void {
    if (event.pointerType !== "mouse" || this.#drag?.moved) return;
    const at = placeUnder(event.target);
    this.props.looking.hovered.value = at && isCell(at) ? cellAt(this.props.grid, at.row, at.column) : null;
  }

  #clicked(event: MouseEvent): void {
    const at = placeUnder(event.target);
    if (at === null || this.typing.peek()) return;
    if (this.#drag?.moved) return void (this.#drag = null);
    this.#drag = null;
    if (this.props.editable === "number" && isCell(at)) {
      if (this.#wasFocused) this.#begin(at);
    } else this.#choose(at);
  }

  /** Choose the query and the key of a place; open a name's menu; turn a mask's cell. */
  #choose(at: At): void {
    const { grid, looking, editable, menus } = this.props;
    const { rows, columns } = grid;
    const place = at.column === -1 ? rows.places[at.row] : at.row === -1 ? columns.places[at.column] : null;
    if (place && hasMenu(place, menus)) {
      this.menu.value = { kind: place.token ? "token" : "dimension", at: place.at };
    } else if (editable === "flag" && isCell(at)) this.#apply(at, toggled(grid, at.row, at.column));
    else looking.session.choose({ ...chosenOn(rows, at.row), ...chosenOn(columns, at.column) });
  }

  // keys -------------------------------------------------------------------------------------------

  #pressed(event: KeyboardEvent): void {
    const at = placeUnder(event.target);
    if (at === null || event.target instanceof HTMLInputElement || event.isComposing) return;
    if (this.#act(event, at)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** True where the key meant something here. */
  #act(event: KeyboardEvent, at: At): boolean {
    const { editable } = this.props;
    const isNumber = editable === "number" && isCell(at);
    if (event.key === "Escape" && this.#drag?.moved) return this.#drag.cancel(), true;
    if (event.altKey && isNumber && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      this.#nudge(at, event.key === "ArrowUp" ? 1 : -1, event);
      return true;
    }
    if (event.altKey) return false;
    const to = this.#reached(event, at);
    if (to !== null) return this.#focus(to), true;
    if (event.ctrlKey || event.metaKey) return false;
    if (isNumber && (event.key === "Enter" || event.key === "F2")) return this.#begin(at), true;
    if (isNumber && BEGINS.test(event.key)) return this.#begin(at, event.key), true;
    const chooses = event.key === "Enter" || (event.key === " " && (editable === "flag" || !isCell(at)));
    if (chooses) this.#choose(at);
    return chooses;
  }

  /** With all its digits, where no text is marked. */
  #copied(event: ClipboardEvent): void {
    const at = placeUnder(event.target);
    const isMarked = this.table.current!.ownerDocument.getSelection()?.isCollapsed === false;
    if (at === null || !isCell(at) || isMarked || event.target instanceof HTMLInputElement) return;
    event.clipboardData!.setData("text/plain", String(this.#valueAt(at)));
    event.preventDefault();
  }

  /** Where a key leads, inside the table; null where it leads nowhere. */
  #reached({ key, ctrlKey, metaKey }: KeyboardEvent, { row, column }: At): At | null {
    const { rows, columns } = this.props.grid;
    const [lastRow, lastColumn] = [rows.places.length - 1, columns.places.length - 1];
    const far = ctrlKey || metaKey;
    const moves: Record<string, At> = {
      ArrowUp: { row: row - 1, column }, ArrowDown: { row: row + 1, column },
      ArrowLeft: { row, column: column - 1 }, ArrowRight: { row, column: column + 1 },
      Home: far ? { row: 0, column: 0 } : { row, column: row === -1 ? 0 : -1 },
      End: far ? { row: lastRow, column: lastColumn } : { row, column: lastColumn },
    };
    const to = moves[key];
    if (!to) return null;
    const isInside = to.row >= -1 && to.row <= lastRow && to.column >= -1 && to.column <= lastColumn;
    return isInside && (to.row >= 0 || to.column >= 0) ? to : { row, column };
  }

  /** `isSeen`: no need to look where the page must scroll to, which takes a while in the middle of an edit. */
  #focus(at: At, isSeen = false): void {
    if (this.table.current) find(this.table.current, at)?.focus({ preventScroll: isSeen });
  }

  // typing -----------------------------------------------------------------------------------------

  #begin(at: At, text = String(this.#valueAt(at))): void {
    const isFresh = BEGINS.test(text) && text !== String(this.#valueAt(at));
    this.wrong.value = null;
    this.typing.value = { ...at, text, isFresh, wrong: null };
  }

  #typed(event: KeyboardEvent): void {
    const typing = this.typing.peek();
    if (!typing || event.isComposing) return;
    const { row, column, text } = typing;
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by !== undefined) this.field.change(steppedText(text, by, event.shiftKey));
    else if (event.key === "Escape") this.#close({ row, column });
    else if (event.key === "Enter" || event.key === "Tab") {
      const side = event.key === "Enter" ? 0 : event.shiftKey ? -1 : 1;
      const last = this.props.grid.columns.places.length - 1;
      if (this.#commit()) this.#focus({ row, column: Math.max(0, Math.min(last, column + side)) }, side === 0);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #close(at: At): void {
    this.typing.value = null;
    this.#focus(at, true);
  }

  /** Keep what was typed. False where it cannot be: then it stays to be corrected, and nothing has changed. */
  #commit(): boolean {
    const typing = this.typing.peek();
    if (!typing) return true;
    const value = parsed(typing.text);
    const { desk, choice } = this.props.looking.session;
    const isNew = value !== this.#valueAt(typing);
    const edit = value instanceof Refused ? null : editOf(this.props.grid, typing.row, typing.column, value);
    const refused = edit === null ? (value as Refused) : isNew ? desk.peek().apply(edit) : null;
    this.typing.value = refused ? { ...typing, wrong: refusal(refused, choice.lang.peek()) } : null;
    return refused === null;
  }

  #nudge(at: At, by: 1 | -1, { shiftKey, repeat }: KeyboardEvent): void {
    this.#apply(at, editOf(this.props.grid, at.row, at.column, stepped(this.#valueAt(at), by, shiftKey)), repeat);
  }

  #apply(at: At, edit: Edit, join = false): void {
    const { desk, choice } = this.props.looking.session;
    const refused = desk.peek().apply(edit, { join });
    this.wrong.value = refused && { at, text: refusal(refused, choice.lang.peek()) };
  }

  #valueAt({ row, column }: At): number {
    return this.props.grid.values[row * this.props.grid.columns.places.length + column];
  }

  // dragging ---------------------------------------------------------------------------------------

  #held(event: PointerEvent): void {
    const at = placeUnder(event.target);
    const cell = at && this.table.current && find(this.table.current, at);
    this.#wasFocused = cell !== null && cell.ownerDocument.activeElement === cell;
    const canDrag = at && isCell(at) && this.props.editable === "number" && event.button === 0;
    if (!canDrag || event.target instanceof HTMLInputElement) return;
    if (event.pointerType !== "mouse" && !this.#wasFocused) return;
    const { grid, looking } = this.props;
    const start = { x: event.clientX, value: this.#valueAt(at) };
    this.#drag = new Drag(looking.session.desk.peek(), start, (value) => editOf(grid, at.row, at.column, value));
  }

  #moved(event: PointerEvent): void {
    if (!this.#drag || event.buttons === 0) return;
    if (!this.#drag.to(event.clientX, event.shiftKey)) return;
    this.table.current!.setPointerCapture(event.pointerId);
    event.preventDefault();
  }

  /** A click follows where the pointer did not leave the cell, and forgets the drag; else it is forgotten here. */
  #released(): void {
    if (!this.#drag?.moved) return;
    setTimeout(() => (this.#drag = null));
  }
}

function placeUnder(target: EventTarget | null): At | null {
  const element = target instanceof Element ? target.closest<HTMLElement>("[data-row]") : null;
  return element ? { row: Number(element.dataset.row), column: Number(element.dataset.column) } : null;
}

function isCell({ row, column }: At): boolean {
  return row >= 0 && column >= 0;
}

function chosenOn({ kind, places }: Axis, at: number): { query?: number; key?: number } {
  return kind === "dimension" || at < 0 ? {} : { [kind]: places[at].at };
}
