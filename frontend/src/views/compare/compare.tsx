import type { JSX } from "preact";
import type { Session } from "../../state";

export function CompareView({ session }: { session: Session }): JSX.Element {
  return <p>{session.choice.view.value}</p>;
}
