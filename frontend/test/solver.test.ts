import assert from "node:assert/strict";
import { test } from "node:test";
import type { Listener, Model } from "../src/hosts/model";
import { Asker, solverOf, type Answer, type Question } from "../src/hosts/solver";

interface Sent extends Question {
  readonly kind: string;
  readonly number: number;
}

/** A host that remembers what it was asked, and answers when told to. */
class Host implements Model {
  readonly sent: Sent[] = [];
  readonly #listeners = new Set<Listener>();

  get = (name: string): unknown => name === "solver";
  set = (): void => undefined;
  save_changes = (): void => undefined;
  on = (_: string, listener: Listener): void => void this.#listeners.add(listener);
  off = (_: string, listener: Listener): void => void this.#listeners.delete(listener);
  send = (content: unknown): void => void this.sent.push(content as Sent);

  say(content: unknown): void {
    for (const listener of [...this.#listeners]) listener(content, []);
  }

  answer(number: number): void {
    this.say({ kind: "design", number, w_q: [[number]], w_k: [[1]], report: null });
  }
}

function question(example: string): Question {
  return { example, fixed: null };
}

const first = (answer: Answer | null): number | null => (answer !== null && "w_q" in answer ? answer.w_q[0][0] : null);

test("there is a solver only where the host says so", () => {
  assert.ok(solverOf(new Host()) instanceof Asker);
  assert.equal(solverOf({ ...new Host(), get: () => null } as Model), null);
});

test("a question is answered by its own number, and by nothing else", async () => {
  const host = new Host();
  const asked = solverOf(host)!.ask(question("a"));
  host.say({ document: 0, layer: 0 });
  host.answer(7);
  host.answer(1);
  assert.equal(first(await asked), 1);
  assert.deepEqual(host.sent, [{ kind: "design", number: 1, example: "a", fixed: null }]);
});

test("of many questions one is under way, and only the last is answered", async () => {
  const host = new Host();
  const solver = solverOf(host)!;
  const asked = ["a", "b", "c"].map((text) => solver.ask(question(text)));
  assert.deepEqual(host.sent.map(({ example }) => example), ["a"]);
  host.answer(1);
  assert.deepEqual(host.sent.map(({ example }) => example), ["a", "c"]);
  host.answer(1); // late, and known already
  host.answer(2);
  assert.deepEqual((await Promise.all(asked)).map(first), [null, null, 2]);
  const again = solver.ask(question("d"));
  host.say({ kind: "design", number: 3, error: { en: "no", ko: "아니요" } });
  assert.deepEqual(await again, { kind: "design", number: 3, error: { en: "no", ko: "아니요" } });
});
