/** Which layer and head is looked at, and, where there are several, in which sentence. */
import type { JSX } from "preact";
import type { Lang } from "../../engine/record";
import type { Session } from "../../state";
import { FRAME, say } from "../../words";
import { told } from "../stages/words";
import { titleOf } from "./titles";

export function HeadPicker({ session, document = true }: { session: Session; document?: boolean }): JSX.Element {
  const { choice, desks } = session;
  const lang = choice.lang.value;
  const desk = session.desk.value;
  const nHeads = desk.document.facts[choice.layer.value].n_heads;
  return (
    <div class="choices picker">
      {document && desks.length > 1 && (
        <Chosen
          name={say(FRAME, "document", lang)}
          value={choice.document.value}
          options={desks.map((one) => titleOf(one.document, lang))}
          choose={(at) => session.choose({ document: at })}
        />
      )}
      <Chosen
        name={say(FRAME, "layer", lang)}
        value={choice.layer.value}
        options={numbered("layer.n", desk.nLayers, lang, (at) => desk.number(at))}
        choose={(at) => session.choose({ layer: at })}
      />
      <Chosen
        name={say(FRAME, "head", lang)}
        value={choice.head.value}
        options={numbered("head.n", nHeads, lang)}
        choose={(at) => session.choose({ head: at })}
      />
    </div>
  );
}

interface Options {
  readonly name: string;
  readonly value: number;
  readonly options: readonly string[];
  readonly choose: (at: number) => void;
}

function Chosen({ name, value, options, choose }: Options): JSX.Element {
  return (
    <label>
      {name}{" "}
      <select value={value} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {options.map((text, at) => (
          <option key={at} value={at}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function numbered(name: "layer.n" | "head.n", n: number, lang: Lang, of = (at: number) => at): string[] {
  return Array.from({ length: n }, (_, at) => told(name, lang, { n: of(at) }));
}
