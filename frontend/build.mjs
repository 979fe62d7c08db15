// One file for every host, and second ones for training runs, lessons and flash attention, which only they carry: `node build.mjs`.
// --tests: the tests, into .tests/, for node's own runner. --same: compare.
import { build, transform } from "esbuild";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync, inflateRawSync } from "node:zlib";

const here = fileURLToPath(new URL(".", import.meta.url));
const css = {
  name: "css as text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const target = ["chrome120", "firefox121", "safari17.5"];
      const made = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true, target, charset: "utf8" });
      return { contents: made.code, loader: "text" };
    });
  },
};
const shared = {
  absWorkingDir: here,
  bundle: true,
  charset: "utf8",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
  plugins: [css],
  target: "es2022",
};

const COMMITTED = resolve(here, "../src/jumok/picture/static/jumok.js");
const LARGEST = 150_000; // bytes: a notebook keeps one copy for every widget in it
const SECOND = ["folding", "learning", "lesson"]; // src/views/NAME/extend.tsx → static/NAME.js
const LARGEST_SECOND = 45_000;
// FOLDER/program.tsx → static/NAME.js: measured heads, which need no other program, and what `jumok serve` puts around every page
const ALONE = { measured: ["src/views/measured", 60_000], served: ["src/served", 80_000] };
const BANNER = "/* jumok, Apache-2.0; with Preact and Preact Signals, MIT: see jumok.js.LICENSES.txt. Built from frontend/. */";

/** The program of the page: one minified module. */
async function minified() {
  const { outputFiles } = await build({ ...shared, entryPoints: ["src/render.tsx"], minify: true, legalComments: "none", write: false });
  return outputFiles[0].text;
}

/** Which module gives which name, as src/kit.ts says it: what the first program shares with the second. */
function sharedNames() {
  const lines = readFileSync(join(here, "src/kit.ts"), "utf8").matchAll(/^export \{ (.+) \} from "(.+)";$/gm);
  const place = (from) => (from.startsWith(".") ? join(here, "src", from) : from);
  return new Map(Array.from(lines, ([, names, from]) => [place(from), names]));
}

/** In the second program an import of a shared module takes it from the first; a name that is not shared stops the build. */
const kit = {
  name: "shared with the first program",
  setup({ onResolve, onLoad }) {
    const shared = sharedNames();
    onResolve({ filter: /./ }, ({ path, resolveDir }) => {
      const place = path.startsWith(".") ? resolve(resolveDir, path) : path;
      return shared.has(place) ? { path: place, namespace: "kit" } : undefined;
    });
    onLoad({ filter: /./, namespace: "kit" }, ({ path }) => ({ contents: `export const { ${shared.get(path)} } = kit;` }));
  },
};

/** The file of a second program. */
function fileOf(name) {
  return resolve(here, `../src/jumok/picture/static/${name}.js`);
}

/** A second program: a module whose default export takes the kit. It is small, and not packed. */
async function second(name) {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: [`src/views/${name}/extend.tsx`],
    format: "iife",
    globalName: "program",
    minify: true,
    legalComments: "none",
    plugins: [css, kit],
    write: false,
  });
  return `/* jumok, Apache-2.0. Built from frontend/; needs jumok.js. */\nexport default (kit) => {${outputFiles[0].text}return program;};\n`;
}

/** The program of a page that needs no other one. */
async function alone(name) {
  const entryPoints = [`${ALONE[name][0]}/program.tsx`];
  const { outputFiles } = await build({ ...shared, entryPoints, minify: true, legalComments: "none", write: false });
  return `${BANNER}\n${outputFiles[0].text}`;
}

/** The programs beside the first: name → [text, bytes at most]. */
async function programs() {
  const made = [...SECOND.map((name) => [name, second, LARGEST_SECOND]), ...Object.keys(ALONE).map((name) => [name, alone, ALONE[name][1]])];
  return Promise.all(made.map(async ([name, how, most]) => [name, await how(name), most]));
}

/** Four bytes in five letters (base64 takes a third more, this a quarter); none of them ends a string or an element. */
const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!*?&>[]{}@%#_~|,;";

function inLetters(data) {
  const padded = Buffer.concat([data, Buffer.alloc(-data.length & 3)]);
  const words = Array.from({ length: padded.length / 4 }, (_, at) => padded.readUInt32BE(4 * at));
  return words.map((word) => [4, 3, 2, 1, 0].map((power) => LETTERS[Math.floor(word / 85 ** power) % 85]).join("")).join("");
}

function fromLetters(text, length) {
  const data = Buffer.alloc((text.length / 5) * 4);
  for (let at = 0; at < text.length; at += 5) {
    data.writeUInt32BE([...text.slice(at, at + 5)].reduce((word, letter) => word * 85 + LETTERS.indexOf(letter), 0), (at / 5) * 4);
  }
  return data.subarray(0, length);
}

/** The program as it is committed: a module that unpacks it. Half of it are texts in two languages, which pack well. */
function packed(text) {
  const data = deflateRawSync(text, { level: 9, memLevel: 9 });
  return `${BANNER}
const letters = "${LETTERS}";
const digits = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, letters.indexOf(String.fromCharCode(code))));
const text = "${inLetters(data)}";
const words = new DataView(new ArrayBuffer((text.length / 5) * 4));
for (let at = 0; at < text.length; at += 5) {
  let word = 0;
  for (let of = at; of < at + 5; of += 1) word = word * 85 + digits[text.charCodeAt(of)];
  words.setUint32((at / 5) * 4, word);
}
const packed = new Uint8Array(words.buffer, 0, ${data.length});
const program = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).blob();
const address = URL.createObjectURL(program.slice(0, program.size, "text/javascript"));
const { render } = await import(address);
URL.revokeObjectURL(address);
export { render };
export default { render };
`;
}

/** The program inside of what is committed. The packing itself may differ between versions of zlib; the program may not. */
function unpacked(module) {
  const [, text, length] = module.match(/const text = "([^"]*)"[^]*?buffer, 0, (\d+)\)/);
  return inflateRawSync(fromLetters(text, Number(length))).toString("utf8");
}

/** What unpacks it, without what is packed. */
function unpacker(module) {
  return module.replace(/const text = .*/, "").replace(/buffer, 0, \d+/, "");
}

function licences() {
  const inside = ["preact", "@preact/signals", "@preact/signals-core"];
  return inside.map((name) => `${name}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`).join("\n\n");
}

async function page() {
  const text = await minified();
  const module = packed(text);
  const sizes = [Buffer.byteLength(text), Buffer.byteLength(module)].map((size) => size.toLocaleString("en"));
  console.log(`${sizes[0]} bytes minified, ${sizes[1]} as committed (at most ${LARGEST.toLocaleString("en")})`);
  if (module.length > LARGEST) throw new Error("the bundle is too large");
  writeFileSync(COMMITTED, module);
  for (const [name, program, most] of await programs()) {
    const size = Buffer.byteLength(program);
    console.log(`${size.toLocaleString("en")} bytes: ${name}.js (at most ${most.toLocaleString("en")})`);
    if (size > most) throw new Error(`${name}.js is too large`);
    writeFileSync(fileOf(name), program);
  }
  writeFileSync(`${COMMITTED}.LICENSES.txt`, licences());
}

/** What is committed is what the sources make. */
async function same() {
  const module = readFileSync(COMMITTED, "utf8");
  const text = unpacked(module);
  const stale = text !== (await minified()) || unpacker(packed(text)) !== unpacker(module);
  const beside = (await programs()).map(([name, program]) => readFileSync(fileOf(name), "utf8") === program);
  if (stale || beside.includes(false) || readFileSync(`${COMMITTED}.LICENSES.txt`, "utf8") !== licences()) throw new Error("stale: npm run build, and commit it");
  if (module.length > LARGEST) throw new Error("the bundle is too large");
}

async function tests() {
  const outdir = resolve(here, process.env.JUMOK_TESTS ?? ".tests");
  rmSync(outdir, { recursive: true, force: true });
  const names = readdirSync(join(here, "test"), { recursive: true }).filter((name) => name.endsWith(".test.ts"));
  const entryPoints = names.map((name) => join("test", name));
  await build({ ...shared, entryPoints, outdir, platform: "node", outExtension: { ".js": ".mjs" } });
}

const wanted = { "--tests": tests, "--same": same }[process.argv[2]] ?? page;
await wanted();
