/** The scale and the temperature: two numbers that stand in no table. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { number } from "../../explanation/words";
import { Refused, type Edit } from "../../engine/sheet";
import { parsed, steppedText } from "./editing";
import type { Looking } from "./looking";
import { refusal } from "./refusals";
import { told } from "./words";

export function Scaling({ looking }: { looking: Looking }): JSX.Element | null {
  const { desk, choice } = looking.session;
  const lang = choice.lang.value;
  const layer = choice.layer.value;
  const made = desk.value.sheet.value?.layers[layer];
  const width = looking.session.layer.value!.q.width;
  if (!made) return null;
  const usual = 1 / Math.sqrt(width);
  const set = (value: number | null): Refused | null => desk.value.apply({ set: "scale", layer, value });
  return (
    <div class="fields">
      <label class="field">
        <span>{told("scale", lang)}</span>
        <select
          value={made.scale === null ? "usual" : "own"}
          onChange={(event) => set(event.currentTarget.value === "own" ? usual : null)}
        >
          <option value="usual">{`1/√${width} = ${number(usual)}`}</option>
          <option value="own">{told("scale.own", lang)}</option>
        </select>
      </label>
      {made.scale !== null && (
        <NumberField
          looking={looking}
          label={told("scale.value", lang)}
          isLabelHidden
          value={made.scale}
          edit={(value) => ({ set: "scale", layer, value })}
        />
      )}
      <NumberField
        looking={looking}
        label={told("temperature", lang)}
        value={made.temperature}
        edit={(value) => ({ set: "temperature", layer, value })}
      />
    </div>
  );
}

interface NumberProps {
  readonly looking: Looking;
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly value: number;
  readonly edit: (value: number) => Edit;
}

/** A number to be typed or stepped with the arrows; what cannot be is refused in place. */
function NumberField({ looking, label, isLabelHidden, value, edit }: NumberProps): JSX.Element {
  const { desk, choice } = looking.session;
  const typed = useSignal<string | null>(null);
  const wrong = useSignal<Refused | null>(null);
  const commit = (text: string): void => {
    const to = parsed(text);
    wrong.value = to instanceof Refused ? to : to === value ? null : desk.value.apply(edit(to));
    if (wrong.value === null) typed.value = null;
  };
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLInputElement }): void => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    event.stopPropagation();
    if (by !== undefined) {
      event.preventDefault();
      commit(steppedText(event.currentTarget.value, by, event.shiftKey));
    } else if (event.key === "Enter") commit(event.currentTarget.value);
    else if (event.key === "Escape") typed.value = wrong.value = null;
  };
  return (
    <label class="field">
      <span class={isLabelHidden ? "visually-hidden" : undefined}>{label}</span>
      <input
        type="text"
        inputMode="decimal"
        autocomplete="off"
        aria-invalid={wrong.value !== null}
        value={typed.value ?? number(value)}
        onInput={(event) => (typed.value = event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={(event) => typed.value !== null && commit(event.currentTarget.value)}
      />
      {wrong.value && <span class="refused" role="alert">{refusal(wrong.value, choice.lang.value)}</span>}
    </label>
  );
}
