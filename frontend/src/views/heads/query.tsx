/** Which query is looked at: all tokens of a short text, else a step, a position or a search. */
import type { JSX } from "preact";
import { weightAt } from "../../engine/path";
import type { Layer } from "../../engine/record";
import { number } from "../../explanation/words";
import type { Session } from "../../state";
import { FRAME, say } from "../../words";
import { Find } from "../map/find";
import { TokenPicker, TokenText } from "../tokens";
import { HEADS } from "./words";

const MOST_TOKENS = 40;

export function QueryPicker({ session, layer }: { session: Session; layer: Layer }): JSX.Element {
  const { query, key, head, lang } = session.choice;
  const keys = layer.keyTokens ?? layer.tokens;
  const isLong = layer.tokens.length > MOST_TOKENS || keys.length > MOST_TOKENS;
  if (isLong) return <LongPicker session={session} layer={layer} />;
  return (
    <div class="query-picker">
      <span class="quiet">{say(FRAME, "query", lang.value)}</span>
      <TokenPicker
        tokens={layer.tokens}
        chosen={query.value}
        label={say(FRAME, "query", lang.value)}
        choose={(at) => session.choose({ query: at })}
      />
      <span class="quiet">{say(FRAME, "key", lang.value)}</span>
      <TokenPicker
        tokens={keys}
        chosen={key.value}
        label={say(FRAME, "key", lang.value)}
        choose={(at) => session.choose({ key: at })}
        below={(at) => number(weightAt(layer, head.value, query.value, at))}
      />
    </div>
  );
}

function LongPicker({ session, layer }: { session: Session; layer: Layer }): JSX.Element {
  const { query, key, lang: said } = session.choice;
  const lang = said.value;
  const step = (by: number): void => session.choose({ query: Math.max(0, Math.min(layer.q.rows - 1, query.value + by)) });
  return (
    <div class="query-picker long">
      <span class="choices">
        <span class="quiet">{say(FRAME, "query", lang)}</span>
        <button type="button" aria-label={say(HEADS, "before", lang)} onClick={() => step(-1)}>
          ←
        </button>
        <span class="now">
          <span class="quiet">#{query.value}</span> <TokenText token={layer.tokens[query.value]} />
        </span>
        <button type="button" aria-label={say(HEADS, "after", lang)} onClick={() => step(1)}>
          →
        </button>
      </span>
      <Find
        tokens={layer.tokens}
        keyTokens={layer.keyTokens ?? layer.tokens}
        query={query.value}
        at={key.value}
        lang={lang}
        go={(to) => session.choose(to)}
      />
    </div>
  );
}
