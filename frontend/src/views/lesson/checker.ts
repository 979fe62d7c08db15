/** Python behind the page that runs and judges code: a server which was told that it may. */
import type { Model } from "../../hosts/model";
import { Asker } from "../../hosts/solver";

/** What `jumok check` is given; what `jumok check --json` prints. */
export type Checker = Asker<
  { readonly code: string; readonly checks: string },
  { readonly verdict: Readonly<Record<string, unknown>> }
>;

/** null where no Python is behind the page, or it runs nobody's code. */
export function checkerOf(model: Model): Checker | null {
  return model.get("checker") === true ? new Asker(model, "check") : null;
}
