/** One cell of a table. It is drawn again only when something in it is another: a table has hundreds. */
import { Component, type JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface CellProps {
  readonly row: number;
  readonly column: number;
  readonly text: string;
  /** What it is called, with its number. */
  readonly name: string;
  readonly title: string | undefined;
  readonly look: string;
  readonly colour: string | undefined;
  readonly isStop: boolean;
  readonly isReadOnly: boolean;
  /** Which column it is, where not all are shown. */
  readonly index: number | undefined;
  /** The field in which a new number is typed, where one is. */
  readonly typing: JSX.Element | null;
}

export class CellView extends Component<CellProps> {
  shouldComponentUpdate(next: CellProps): boolean {
    return (Object.keys(next) as (keyof CellProps)[]).some((name) => next[name] !== this.props[name]);
  }

  render({ row, column, text, name, title, look, colour, isStop, isReadOnly, index, typing }: CellProps): JSX.Element {
    return (
      <td
        role="gridcell"
        class={look}
        style={colour}
        title={title}
        tabIndex={isStop ? 0 : -1}
        aria-label={name}
        aria-readonly={isReadOnly}
        aria-colindex={index}
        data-row={row}
        data-column={column}
      >
        {text}
        {typing}
      </td>
    );
  }
}

export interface Typing {
  readonly row: number;
  readonly column: number;
  readonly text: string;
  /** Begun by typing a digit: what was there is gone. Else all of it is marked, to be typed over. */
  readonly isFresh: boolean;
  /** Why it cannot be. */
  readonly wrong: string | null;
}

interface FieldProps {
  readonly typing: Typing;
  readonly label: string;
  readonly wrongId: string;
  readonly change: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onBlur: () => void;
}

/** The field that stands in a cell while a number is typed. */
export function TypingField({ typing, label, wrongId, change, onKeyDown, onBlur }: FieldProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  // Not after the next picture: the next key may come before it.
  useLayoutEffect(() => {
    field.current!.focus({ preventScroll: true });
    if (!typing.isFresh) field.current!.select();
  }, []);
  return (
    <input
      ref={field}
      type="text"
      inputMode="decimal"
      autocomplete="off"
      aria-label={label}
      aria-invalid={typing.wrong !== null}
      aria-describedby={typing.wrong === null ? undefined : wrongId}
      value={typing.text}
      onInput={(event) => change(event.currentTarget.value)}
      onKeyDown={onKeyDown}
      onBlur={onBlur}
    />
  );
}
