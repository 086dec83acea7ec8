/** Copies the files that documents show (`// path` in the first line of a sample) into the documents. `npm run docs` runs it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

for (const document of readdirSync(".", { recursive: true, encoding: "utf8" })) {
  if (!document.endsWith(".md") || /(^|\/)(node_modules|dist|data|\.packages)\//.test(document)) continue;
  const text = readFileSync(document, "utf8");
  const updated = text.replace(
    /^(```(?:ts|mjs)\n\/\/ (\S+\.(?:ts|mjs|js))\n)[\s\S]*?^```$/gm,
    (_all, head, file) => `${head}${readFileSync(file, "utf8")}\`\`\``,
  );
  if (updated !== text) writeFileSync(document, updated);
}
