/** A formula of letters: what follows an underscore stands below. */
import type { JSX } from "preact";

export function Mathy({ text }: { text: string }): JSX.Element {
  const parts = text.split(/_(\w)/);
  return <span class="symbol">{parts.map((part, at) => (at % 2 ? <sub key={at}>{part}</sub> : part))}</span>;
}
