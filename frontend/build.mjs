// One file for every host: `node build.mjs`. With --tests: the tests, into .tests/, for node's own runner.
import { build } from "esbuild";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const shared = { absWorkingDir: here, bundle: true, format: "esm", target: "es2022", charset: "utf8", logLevel: "warning" };
const jsx = { jsx: "automatic", jsxImportSource: "preact" };

if (process.argv.includes("--tests")) {
  rmSync(join(here, ".tests"), { recursive: true, force: true });
  const entryPoints = readdirSync(join(here, "test"), { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join("test", name));
  await build({ ...shared, ...jsx, entryPoints, outdir: ".tests", platform: "node", outExtension: { ".js": ".mjs" } });
} else {
  const outfile = process.env.JUMOK_BUNDLE ?? "../src/jumok/picture/static/jumok.js";
  await build({
    ...shared,
    ...jsx,
    entryPoints: ["src/render.tsx"],
    outfile,
    minify: true,
    legalComments: "none",
    loader: { ".css": "text" },
    banner: { js: "/* jumok, Apache-2.0; with Preact and @preact/signals, MIT (jumok.js.LICENSES.txt). Built from frontend/. */" },
  });
}
