import type { JSX } from "preact";
import type { Session } from "../../state";

export function HeadsView({ session }: { session: Session }): JSX.Element {
  return <p>{session.choice.view.value}</p>;
}
