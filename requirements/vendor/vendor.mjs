// Bundles the console's libraries into src/windrow/apps/console/static/vendor; run by vendor.sh.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [target] = process.argv.slice(2);
rmSync(target, { recursive: true, force: true });
mkdirSync(join(target, "licences"), { recursive: true });

const { metafile } = await build({
  entryPoints: ["codemirror.js", "preact.js", "uplot.js"],
  bundle: true,
  format: "esm",
  minify: true,
  legalComments: "none",
  target: "es2022",
  charset: "utf8",
  outdir: target,
  metafile: true,
});
copyFileSync("node_modules/uplot/dist/uPlot.min.css", join(target, "uplot.css"));

// Only what is in a bundle is listed; each brings its licence.
const inside = Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
const packages = [...new Set(inside.filter(Boolean))].sort();
const libraries = packages.map((name) => {
  const { version, license } = JSON.parse(readFileSync(join("node_modules", name, "package.json")));
  copyFileSync(join("node_modules", name, "LICENSE"), join(target, "licences", `${name.replace("/", "-").replace("@", "")}.txt`));
  return { name, version, licence: license };
});

const files = readdirSync(target, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
const sha256 = Object.fromEntries(
  files.map((path) => [path.slice(target.length + 1), createHash("sha256").update(readFileSync(path)).digest("hex")]),
);
writeFileSync(join(target, "versions.json"), JSON.stringify({ libraries, sha256 }, null, 2) + "\n");
