/** Tokens as a reader sees them, and the strip in which one is chosen. */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { shown } from "../explanation/words";
import type { Token } from "../engine/record";

/** A token's name in a sentence or for a screen reader: which part of a character it is, where it is one. */
export function nameOf(token: Token): string {
  const { text, part, parts } = token.label;
  return parts > 1 ? `${shown(text)} (${part}/${parts})` : shown(text);
}

export function TokenText({ token }: { token: Token }): JSX.Element {
  const { text, part, parts, raw, special } = token.label;
  return (
    <span class={special ? "token special" : "token"} title={raw ?? undefined} dir="auto">
      <bdi>{shown(text)}</bdi>
      {parts > 1 && <sub class="part">{`${part}/${parts}`}</sub>}
    </span>
  );
}

interface Picker {
  readonly tokens: readonly Token[];
  readonly chosen: number;
  readonly label: string;
  readonly choose: (at: number) => void;
  /** What stands under a token, such as its weight. */
  readonly below?: (at: number) => string;
}

/** One tab stop; arrows, Home and End choose. What stands under a token is in its name for as long as it is seen. */
export function TokenPicker({ tokens, chosen, label, choose, below }: Picker): JSX.Element {
  const strip = useRef<HTMLDivElement>(null);
  const go = (at: number): void => {
    choose(at);
    (strip.current?.children[at] as HTMLElement | undefined)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = {
      ArrowRight: chosen + 1, ArrowDown: chosen + 1, ArrowLeft: chosen - 1, ArrowUp: chosen - 1,
      Home: 0, End: tokens.length - 1,
    };
    const to = moves[event.key];
    if (to === undefined || to < 0 || to >= tokens.length) return;
    event.preventDefault();
    go(to);
  };
  return (
    <div class="strip" role="radiogroup" aria-label={label} ref={strip} onKeyDown={onKeyDown}>
      {tokens.map((token, at) => (
        <button
          key={at}
          type="button"
          role="radio"
          aria-checked={at === chosen}
          aria-label={below ? undefined : nameOf(token)}
          tabIndex={at === chosen ? 0 : -1}
          onClick={() => choose(at)}
        >
          <TokenText token={token} />
          {below && <span class="below">{below(at)}</span>}
        </button>
      ))}
    </div>
  );
}
