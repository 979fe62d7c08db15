// One file for every host: `node build.mjs`. --tests: the tests, into .tests/, for node's own runner. --same: compare.
// --program ENTRY OUTFILE: one file, for node.
import { build, transform } from "esbuild";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

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

async function page(outfile) {
  const banner = "/* jumok, Apache-2.0; with Preact and Preact Signals, MIT: see jumok.js.LICENSES.txt. Built from frontend/. */";
  await build({ ...shared, entryPoints: ["src/render.tsx"], outfile, minify: true, legalComments: "none", banner: { js: banner } });
  const inside = ["preact", "@preact/signals", "@preact/signals-core"];
  const licences = inside.map((name) => `${name}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`);
  writeFileSync(`${outfile}.LICENSES.txt`, licences.join("\n\n"));
  const { size } = statSync(outfile);
  console.log(`${size.toLocaleString("en")} bytes (at most ${LARGEST.toLocaleString("en")})`);
  if (size > LARGEST) throw new Error("the bundle is too large");
}

/** The committed bundle, byte for byte, is what the sources make. */
async function same() {
  const folder = mkdtempSync(join(tmpdir(), "jumok-"));
  await page(join(folder, "jumok.js"));
  for (const end of ["", ".LICENSES.txt"]) {
    const made = readFileSync(join(folder, `jumok.js${end}`));
    if (!made.equals(readFileSync(COMMITTED + end))) throw new Error(`jumok.js${end} is stale: npm run build, and commit it`);
  }
  rmSync(folder, { recursive: true });
}

async function tests() {
  const outdir = resolve(here, process.env.JUMOK_TESTS ?? ".tests");
  rmSync(outdir, { recursive: true, force: true });
  const names = readdirSync(join(here, "test"), { recursive: true }).filter((name) => name.endsWith(".test.ts"));
  const entryPoints = names.map((name) => join("test", name));
  await build({ ...shared, entryPoints, outdir, platform: "node", outExtension: { ".js": ".mjs" } });
}

/** One program that a test of Python's runs on node. */
async function program() {
  const [entry, outfile] = process.argv.slice(3);
  await build({ ...shared, entryPoints: [entry], outfile, platform: "node" });
}

const wanted = { "--tests": tests, "--same": same, "--program": program }[process.argv[2]] ?? (() => page(COMMITTED));
await wanted();
