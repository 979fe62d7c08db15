/** The line to the server, events, documents by ranges, and what is drawn of a training, against a server made here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Declined } from "../src/served/answers";
import { follow, happeningsOf, type Happening } from "../src/served/events";
import { wholeOf, type Wrong } from "../src/served/form";
import { Jobs } from "../src/served/jobs";
import { Line, type Fetch } from "../src/served/line";
import { columnsOf, curveOf, tableOf, withStep, type Step } from "../src/served/live";
import { ServedModel } from "../src/served/model";
import { stateOf } from "../src/served/progress";
import { openRemote } from "../src/served/remote";

interface Asked {
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

type Answering = (asked: Asked) => Response | Promise<Response>;

/** A server that can be taken away. Time passes as soon as somebody waits. */
class Server {
  isThere = true;
  started = "1";
  readonly asked: Asked[] = [];
  readonly pauses: number[] = [];
  /** Called at every pause: what happens meanwhile. */
  meanwhile = (): void => undefined;
  readonly line: Line;

  constructor(readonly answering: Answering) {
    const fetch: Fetch = async (path, init = {}) => {
      if (!this.isThere) throw new TypeError("Failed to fetch");
      if (path === "/api/session") return json({ started: this.started });
      const asked = { path, headers: new Headers(init.headers), body: init.body ? JSON.parse(String(init.body)) : null };
      this.asked.push(asked);
      return this.answering(asked);
    };
    const pause = (milliseconds: number): Promise<void> => {
      this.pauses.push(milliseconds);
      this.meanwhile();
      return new Promise((resolve) => setImmediate(resolve));
    };
    this.line = new Line({ fetch, pause });
  }
}

function json(plain: unknown, status = 200): Response {
  return new Response(JSON.stringify(plain), { status, headers: { "Content-Type": "application/json" } });
}

function stream(...parts: string[]): Response {
  return new Response(parts.join(""));
}

// the line -----------------------------------------------------------------------------------------

test("a question that broke off is asked again once the server is back, and the page says how it stands", async () => {
  const server = new Server(() => json({ answer: 42 }));
  await server.line.returned();
  server.isThere = false;
  const seen: string[] = [];
  server.line.standing.subscribe((standing) => void seen.push(standing));
  server.meanwhile = () => {
    if (server.pauses.length === 5) [server.isThere, server.started] = [true, "2"];
  };
  assert.deepEqual(await server.line.question({ kind: "design" }), { answer: 42 });
  assert.deepEqual(seen, ["here", "lost", "back"]);
  assert.equal(server.line.isRestarted.value, true);
  assert.equal(server.line.about.value!.started, "2");
});

test("the same server that comes back was not started anew", async () => {
  const server = new Server(() => json({}));
  await server.line.returned();
  server.isThere = false;
  server.meanwhile = () => void (server.isThere = server.pauses.length >= 3);
  await server.line.question({ kind: "design" });
  assert.equal(server.line.standing.value, "back");
  assert.equal(server.line.isRestarted.value, false);
});

test("one answer that did not come is not yet a lost connection: a page that is being left sees that, too", async () => {
  const server = new Server(() => json({}));
  await server.line.returned();
  server.isThere = false;
  server.meanwhile = () => void (server.isThere = true);
  const seen: string[] = [];
  server.line.standing.subscribe((standing) => void seen.push(standing));
  await server.line.question({ kind: "design" });
  assert.deepEqual(seen, ["here"]);
});

test("pauses grow up to ten seconds and a quarter", async () => {
  const server = new Server(() => json({}));
  server.isThere = false;
  server.meanwhile = () => void (server.isThere = server.pauses.length >= 12);
  await server.line.returned();
  assert.ok(server.pauses[0] < 400 && server.pauses.every((pause) => pause <= 12_500));
  assert.ok(server.pauses.slice(-3).every((pause) => pause >= 7_500));
});

test("what the server declines is an answer, and is not asked again", async () => {
  const server = new Server(() => json({ error: { en: "too many tokens", ko: "토큰이 너무 많습니다" } }, 400));
  await assert.rejects(server.line.question({ kind: "design" }), (error) => error instanceof Declined && error.texts.ko === "토큰이 너무 많습니다");
  assert.equal(server.asked.length, 1);
});

test("a refusal without words says at least its status, in both languages", async () => {
  const server = new Server(() => new Response("<html>Bad gateway</html>", { status: 502 }));
  await assert.rejects(server.line.write("/api/jobs", {}), (error) => error instanceof Declined && /502/.test(error.texts.en) && /502/.test(error.texts.ko));
});

test("a job is sent once: whether it arrived is not known", async () => {
  const server = new Server(() => {
    throw new TypeError("Failed to fetch");
  });
  await assert.rejects(server.line.write("/api/jobs", { kind: "cost" }), TypeError);
  assert.equal(server.asked.length, 1);
  assert.equal(server.asked[0].headers.get("X-Jumok"), "1");
  assert.equal(server.asked[0].headers.get("Content-Type"), "application/json");
});

test("what waits is broken off when the connection is lost, so that nothing hangs on a dead socket", async () => {
  let waiting = 0;
  const server = new Server(() => json({}));
  const hanging: Fetch = (path, init) => {
    if (path !== "/hangs" || (waiting += 1) > 1) return server.line.around.fetch(path, init);
    return new Promise((_, reject) => init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason)));
  };
  const line = new Line({ ...server.line.around, fetch: hanging });
  const asked = line.again(() => line.ask("/hangs"));
  server.isThere = false;
  server.meanwhile = () => void (server.isThere = server.pauses.length >= 3);
  await line.returned();
  assert.equal((await asked).status, 200);
  assert.equal(waiting, 2);
});

test("a server that asks for its token is told apart from one that is gone", async () => {
  const server = new Server(() => json({}));
  let isOpen = false;
  const closed: Fetch = (path, init) =>
    isOpen ? server.line.around.fetch(path, init) : Promise.resolve(json({ error: { en: "a token is needed", ko: "토큰이 필요합니다" } }, 403));
  const seen: (string | null)[] = [];
  const line = new Line({ fetch: closed, pause: async () => void (seen.push(line.refusal.value?.en ?? null), isOpen = seen.length >= 3) });
  await line.returned();
  assert.deepEqual(seen, ["a token is needed", "a token is needed", "a token is needed"]);
  assert.equal(line.refusal.value, null);
});

// events -------------------------------------------------------------------------------------------

async function all(response: Response): Promise<Happening[]> {
  const happenings: Happening[] = [];
  for await (const one of happeningsOf(response.body!)) happenings.push(one);
  return happenings;
}

test("events are read as they are written: comments, several lines, carriage returns, a torn end", async () => {
  const text = ': here\n\nid: 1\nevent: step\ndata: {"a":\ndata: 1}\r\n\r\nid:2\ndata:"말"\n\nid: 3\nevent: step\ndata: {"torn"';
  assert.deepEqual(await all(stream(text)), [
    { id: "1", event: "step", data: { a: 1 } },
    { id: "2", event: "message", data: "말" },
  ]);
});

test("a letter that is cut in two by the network is whole again", async () => {
  const bytes = new TextEncoder().encode('data: "토큰"\n\n');
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      bytes.forEach((byte) => controller.enqueue(Uint8Array.of(byte)));
      controller.close();
    },
  });
  assert.deepEqual((await all(new Response(pieces))).map(({ data }) => data), ["토큰"]);
});

test("silence is an end: a dead connection says nothing", async () => {
  const silent = new ReadableStream<Uint8Array>({ start: () => undefined });
  await assert.rejects(async () => {
    for await (const _ of happeningsOf(silent, 5)) assert.fail("nothing was said");
  }, /nothing came/);
});

test("events go on after the last one that came", async () => {
  const answers = [
    stream('id: 7\nevent: step\ndata: {"step": 1}\n\n', "id: 8\nevent: st"),
    stream('id: 8\nevent: step\ndata: {"step": 2}\n\nid: 9\nevent: job\ndata: {"state": "done"}\n\n'),
  ];
  const server = new Server(() => answers.shift()!);
  const heard: string[] = [];
  const take = ({ event, id }: Happening): boolean => heard.push(`${event} ${id}`) > 0 && event === "job";
  await follow(server.line, "/api/jobs/a/events", take, new AbortController().signal);
  assert.deepEqual(heard, ["step 7", "step 8", "job 9"]);
  assert.deepEqual(server.asked.map(({ headers }) => headers.get("Last-Event-ID")), [null, "7"]);
});

test("who no longer looks asks no more", async () => {
  const leaving = new AbortController();
  const server = new Server(() => stream("data: 1\n\n"));
  await follow(server.line, "/events", () => (leaving.abort(), false), leaving.signal);
  assert.equal(server.asked.length, 1);
});

// documents ----------------------------------------------------------------------------------------

/** A safetensors file of layers whose bytes are their own number, wide enough that they come one by one. */
function fileOf(nLayers: number, width: number, atlas: unknown): Uint8Array<ArrayBuffer> {
  const tensors = Object.fromEntries(
    Array.from({ length: nLayers }, (_, at) => ["q", "k"].map((name, of) => {
      const from = (2 * at + of) * width;
      return [`layers.${at}.${name}`, { dtype: "U8", shape: [width], data_offsets: [from, from + width] }];
    })).flat(),
  );
  const header = new TextEncoder().encode(JSON.stringify({ __metadata__: { page: JSON.stringify({ atlas }) }, ...tensors }));
  const bytes = new Uint8Array(8 + header.length + 2 * nLayers * width);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(header.length), true);
  bytes.set(header, 8);
  for (let at = 0; at < nLayers; at += 1) bytes.fill(at, 8 + header.length + 2 * at * width, 8 + header.length + 2 * (at + 1) * width);
  return bytes;
}

function ranging(file: Uint8Array<ArrayBuffer>, tag: () => string = () => '"a"'): Answering {
  return ({ headers }) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(headers.get("Range")!)!.map(Number);
    const end = Math.min(file.length, to + 1);
    const isSame = [null, tag()].includes(headers.get("If-Range"));
    const about: Record<string, string> = { ETag: tag() };
    if (isSame) about["Content-Range"] = `bytes ${from}-${end - 1}/${file.length}`;
    return new Response(isSame ? file.slice(from, end) : file, { status: isSame ? 206 : 200, headers: about });
  };
}

const WIDE = 700_000;

test("of a large document the header comes first, and a layer by one range of its own", async () => {
  const server = new Server(ranging(fileOf(4, WIDE, { png: null })));
  const remote = await openRemote(server.line, "/data/a");
  assert.equal(remote.bytes, null);
  assert.equal(server.asked.length, 1);
  const layer = await remote.layer(2);
  assert.equal(layer.byteLength, 2 * WIDE);
  assert.deepEqual([layer.getUint8(0), layer.getUint8(2 * WIDE - 1)], [2, 2]);
  assert.equal(server.asked.length, 2);
  assert.equal(server.asked[1].headers.get("If-Range"), '"a"');
});

test("a small document comes whole, and one without thumbnails whatever its size", async () => {
  for (const file of [fileOf(2, 10, { png: null }), fileOf(4, WIDE, null)]) {
    const server = new Server(ranging(file));
    const { header, bytes } = await openRemote(server.line, "/data/a");
    assert.equal(bytes!.byteLength, file.length - 8 - new TextEncoder().encode(header).length);
    assert.equal(bytes!.getUint8(bytes!.byteLength - 1), file.at(-1));
  }
});

test("a server that knows no ranges is understood", async () => {
  const file = fileOf(3, WIDE, { png: null });
  const server = new Server(() => new Response(file, { headers: { ETag: '"a"' } }));
  const remote = await openRemote(server.line, "/data/a");
  assert.equal((await remote.layer(1)).getUint8(5), 1);
});

test("a header longer than the first request is fetched to its end", async () => {
  const server = new Server(ranging(fileOf(4, WIDE, { png: "x".repeat(400_000) })));
  assert.match((await openRemote(server.line, "/data/a")).header, /xxx/);
  assert.equal(server.asked.length, 2);
});

test("a file that was replaced meanwhile is no layer of the one that is shown", async () => {
  let tag = '"a"';
  const server = new Server(ranging(fileOf(4, WIDE, { png: null }), () => tag));
  const model = await ServedModel.open(server.line, {}, ["/data/a"]);
  tag = '"b"';
  model.send({ want: { document: 0, layer: 1 } });
  await new Promise<void>((resolve) => model.trouble.subscribe((texts) => texts && resolve()));
  assert.match(model.trouble.value!.en, /has changed/);
});

// the model ----------------------------------------------------------------------------------------

async function answered(server: Server, content: Readonly<Record<string, unknown>>): Promise<unknown> {
  const model = await ServedModel.open(server.line, {}, ["/data/abc"]);
  return new Promise((resolve) => {
    model.on("msg:custom", resolve);
    model.send(content);
  });
}

test("a question goes without its number and comes back with it; a cut says of which document", async () => {
  const range = ranging(fileOf(1, 8, null));
  const server = new Server((asked) => (asked.path === "/api/ask" ? json({ w_q: [[1]] }) : range(asked)));
  assert.deepEqual(await answered(server, { kind: "design", number: 3, example: "x", fixed: null }), { kind: "design", number: 3, w_q: [[1]] });
  assert.deepEqual(server.asked.at(-1)!.body, { kind: "design", example: "x", fixed: null });
  await answered(server, { kind: "cut", number: 4, layer: 0, head: 0, query: 1, key: 0, renormalise: false });
  assert.equal((server.asked.at(-1)!.body as { document: string }).document, "abc");
});

test("a verdict on code keeps its own kind", async () => {
  const range = ranging(fileOf(1, 8, null));
  const server = new Server((asked) => (asked.path === "/api/ask" ? json({ kind: "softmax", status: "right" }) : range(asked)));
  const said = await answered(server, { kind: "check", number: 1, code: "x", checks: "softmax" });
  assert.deepEqual(said, { kind: "check", number: 1, verdict: { kind: "softmax", status: "right" } });
});

test("a refusal reaches who asked, so that nobody waits for it", async () => {
  const range = ranging(fileOf(1, 8, null));
  const error = { en: "no", ko: "아닙니다" };
  const server = new Server((asked) => (asked.path === "/api/ask" ? json({ error }, 422) : range(asked)));
  assert.deepEqual(await answered(server, { kind: "design", number: 1 }), { kind: "design", number: 1, error });
});

// jobs ---------------------------------------------------------------------------------------------

const JOB = { id: "a", kind: "learn", title: { en: "t", ko: "제" }, state: "running", ahead: 0, progress: null, error: null, made: null, created: "" };

test("a job that ends while it is watched is news, once; one that had ended before is none", async () => {
  let listed: unknown[] = [{ ...JOB, id: "old", state: "done" }, JOB];
  const jobs = new Jobs(new Server(() => json(listed)).line);
  await jobs.look();
  assert.equal(jobs.news.value, null);
  assert.equal(jobs.open.value.length, 1);
  listed = [{ ...JOB, id: "old", state: "done" }, { ...JOB, state: "done" }];
  await jobs.look();
  assert.equal(jobs.news.value!.id, "a");
  jobs.news.value = null;
  await jobs.look();
  assert.equal(jobs.news.value, null);
});

test("a job that is listed no longer is gone; what had never been listed is not", async () => {
  let listed: unknown[] = [JOB, { ...JOB, id: "b" }];
  const jobs = new Jobs(new Server(() => json(listed)).line);
  await jobs.look();
  assert.deepEqual([...jobs.gone.value], []);
  listed = [{ ...JOB, id: "b" }];
  await jobs.look();
  await jobs.look();
  assert.deepEqual([...jobs.gone.value], ["a"]);
});

test("a number that JavaScript would round is refused, not sent", () => {
  assert.equal(wholeOf("9007199254740991", "seed", 0), Number.MAX_SAFE_INTEGER);
  const ko = (error: Wrong): boolean => error.texts.ko.includes("너무 큰 수");
  for (const text of ["9007199254740993", "99999999999999999999", "9".repeat(400)]) assert.throws(() => wholeOf(text, "seed", 0), ko, text);
  assert.throws(() => wholeOf("-1", "seed", 0), (error: Wrong) => error.texts.ko.includes("0 이상"));
});

test("a server that asks for its token again is no trouble of a job: the line waits for it", async () => {
  const error = { en: "a token is needed", ko: "토큰이 필요합니다" };
  const troubles = await Promise.all([403, 500].map(async (status) => {
    const jobs = new Jobs(new Server(() => json({ error }, status)).line);
    await jobs.look();
    return jobs.trouble.value?.en ?? null;
  }));
  assert.deepEqual(troubles, [null, "a token is needed"]);
});

test("how far a job is stands in words of each language", () => {
  const progress = { done: 120, of: 1300, unit: "steps", left_s: 12.4 };
  const job = { ...JOB, state: "running", progress } as const;
  assert.equal(stateOf(job, "en"), "running · 120 of 1,300 steps · about 12 s left");
  assert.equal(stateOf(job, "ko"), "진행 중 · 1,300단계 중 120 · 약 12초 남음");
  assert.equal(stateOf({ ...job, state: "queued", ahead: 2 }, "ko"), "기다리는 중, 앞에 2개");
  assert.equal(stateOf({ ...job, progress: { ...progress, of: null, unit: "frobs", left_s: 600 } }, "en"), "running · 120 frobs so far · about 10 min left");
});

// a training ---------------------------------------------------------------------------------------

const steps = (...at: number[]): Step[] => at.map((step) => ({ step, loss: 1 / step, accuracy: null }));

test("a training that went back to its checkpoint goes on from there", () => {
  const before = steps(1, 2, 3, 4);
  assert.deepEqual(withStep(before, { step: 3, loss: 9, accuracy: null }).map(({ loss }) => loss), [1, 0.5, 9]);
  assert.deepEqual(withStep(before, steps(5)[0]).map(({ step }) => step), [1, 2, 3, 4, 5]);
});

test("a curve stands within its box; what was not measured is left out", () => {
  const curve = curveOf([...steps(1, 2), { step: 3, loss: NaN, accuracy: null }, ...steps(4)], "loss")!;
  assert.equal(curve.path, "M250.0 0.00L500.0 50.00L1000.0 75.00");
  assert.deepEqual([curve.high, curve.first, curve.last], [1, [1, 1], [4, 0.25]]);
  assert.equal(curveOf(steps(1), "accuracy"), null);
});

test("the table is the newest that was told", () => {
  const told = [{ ...steps(1)[0], weights: [[1]] }, { ...steps(2)[0], weights: [[0.5]] }, ...steps(3)];
  assert.equal(tableOf(told)!.step, 2);
  assert.equal(tableOf(steps(1)), null);
});

test("rows that differ share a table", () => {
  assert.deepEqual(columnsOf([{ variant: "full", n: 512 }, { variant: "flash", n: 512, time_ms: 3, more: {} }]), ["variant", "n", "time_ms"]);
});
