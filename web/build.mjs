// Bundles the page into one HTML file, or the unit tests into files that node's test runner takes.

import { readFile, readdir, mkdir, writeFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const MARKS = ["<!--title-->", "<!--boot-->"];

// Inside an HTML script element these two sequences would end the script or change how it is read; both can only stand in
// strings and regular expressions, where the backslash changes nothing.
const safeInHtml = (script) => script.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");

// The licenses of what is bundled ask to go with every copy.
async function licenses() {
  const texts = await Promise.all(
    ["three", "uplot"].map(async (name) => `${name}\n\n${await readFile(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8")}`),
  );
  return `This page contains code of the following projects.\n\n${texts.join("\n\n")}`.replaceAll("--", "- -");
}

async function page() {
  const common = { absWorkingDir: here, bundle: true, minify: true, write: false, target: "es2022", legalComments: "none" };
  const [script, style, frame, notices] = await Promise.all([
    build({ ...common, entryPoints: ["src/main.ts"], format: "iife", charset: "utf8" }),
    build({ ...common, entryPoints: ["src/theme.css"] }),
    readFile(new URL("src/index.html", import.meta.url), "utf8"),
    licenses(),
  ]);
  // replacements as functions: a "$" in the script must not be taken for a pattern
  const html = frame
    .replace("licenses", () => notices.trim())
    .replace("/*style*/", () => style.outputFiles[0].text.trim())
    .replace("/*script*/", () => safeInHtml(script.outputFiles[0].text.trim()));
  for (const mark of MARKS) {
    const count = html.split(mark).length - 1;
    if (count !== 1) throw new Error(`${mark} must occur once in the page, found ${count}`);
  }
  await mkdir(new URL("dist/", import.meta.url), { recursive: true });
  await writeFile(new URL("dist/viewer.html", import.meta.url), html);
  console.log(`dist/viewer.html: ${(Buffer.byteLength(html) / 1024).toFixed(0)} KiB`);
}

async function tests() {
  const names = (await readdir(new URL("tests/", import.meta.url))).filter((name) => name.endsWith(".test.ts"));
  await rm(new URL("dist/tests/", import.meta.url), { recursive: true, force: true });
  await build({
    absWorkingDir: here,
    entryPoints: names.map((name) => `tests/${name}`),
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: "dist/tests",
    outExtension: { ".js": ".mjs" },
    sourcemap: "inline",
  });
}

await (process.argv.includes("--tests") ? tests() : page());
