/** An analysis as a document: Markdown, HTML that needs nothing else, or the figures as JSON. */
import { counted, type Text } from "../values.ts";
import { size } from "./advice.ts";
import type { Analysis } from "./survey.ts";

interface Section {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

const nameOf = (key: Text): string =>
  typeof key === "string" ? key : `0x${Buffer.from(key.bytes, "base64").toString("hex")}`;
const ttlOf = (ttlMs: number | null): string => (ttlMs === null ? "none" : `${Math.ceil(ttlMs / 1_000)} s`);

function sectionsOf(analysis: Analysis): Section[] {
  const sums = (title: string, first: string, rows: Analysis["types"]): Section => ({
    title,
    columns: [first, "Keys", "Memory"],
    rows: rows.map(({ name, count, bytes }) => [name, count, size(bytes)]),
  });
  const hot = analysis.hottest ?? [];
  return [
    sums("Memory by prefix", "Prefix", analysis.prefixes),
    sums("Memory by type", "Type", analysis.types),
    sums("Encodings", "Encoding", analysis.encodings),
    sums("Time to live", "Range", [...analysis.ttls, { name: "does not expire", ...analysis.lasting }]),
    {
      title: "Biggest keys",
      columns: ["Key", "Type", "Memory", "Time to live"],
      rows: analysis.biggest.map(({ key, type, bytes, ttlMs }) => [nameOf(key), type, size(bytes ?? 0), ttlOf(ttlMs)]),
    },
    {
      title: "Hot keys",
      columns: ["Key", "Type", "LFU counter"],
      rows: hot.map(({ key, type, frequency }) => [nameOf(key), type, frequency]),
    },
  ].filter(({ rows }) => rows.length > 0);
}

const headOf = ({ matched, bytes, done, state }: Analysis, backend: string): string =>
  `${counted(matched, "key")}, ${size(bytes)}, of ${done} scanned on ${backend}.${state === "done" ? "" : " The scan is not complete."}`;

/** Bars part columns, and backticks code: what is stored must not change the table. */
const cell = (text: string | number): string =>
  String(text)
    .replace(/[\\|`*_[\]<>]/g, "\\$&")
    .replace(/\s+/g, " ");

function markdown(analysis: Analysis, backend: string): string {
  const advice = analysis.advice.flatMap(({ title, text, command }) => [
    `- **${cell(title)}** ${cell(text)}`,
    ...(command === null ? [] : ["", ...fenced(command), ""]),
  ]);
  const sections = sectionsOf(analysis).flatMap(({ title, columns, rows }) => [
    `## ${title}`,
    "",
    `| ${columns.join(" | ")} |`,
    `| ${columns.map(() => "---").join(" | ")} |`,
    ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
    "",
  ]);
  const advised = advice.length === 0 ? [] : ["## Advice", "", ...advice, ""];
  return ["# Analysis of keys", "", cell(headOf(analysis, backend)), "", ...advised, ...sections].join("\n");
}

/** An indented block, which no text can end. */
const fenced = (command: string): string[] => command.split(/\r?\n/).map((line) => `      ${line}`);

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const safe = (text: string | number): string => String(text).replace(/[&<>"]/g, (char) => ENTITIES[char]!);

function html(analysis: Analysis, backend: string): string {
  const advice = analysis.advice.map(
    ({ title, text, command }) =>
      `<li><strong>${safe(title)}</strong> ${safe(text)}${command === null ? "" : `<pre>${safe(command)}</pre>`}</li>`,
  );
  const sections = sectionsOf(analysis).map(({ title, columns, rows }) => {
    const head = columns.map((column) => `<th>${safe(column)}</th>`).join("");
    const body = rows.map((row) => `<tr>${row.map((each) => `<td>${safe(each)}</td>`).join("")}</tr>`).join("\n");
    return `<h2>${safe(title)}</h2>\n<table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Analysis of keys</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; max-width: 960px; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 4px 10px; border-bottom: 1px solid #ddd; overflow-wrap: anywhere; }
pre { background: #f4f4f4; padding: 8px; white-space: pre-wrap; }
</style>
<h1>Analysis of keys</h1>
<p>${safe(headOf(analysis, backend))}</p>
${advice.length === 0 ? "" : `<h2>Advice</h2>\n<ul>\n${advice.join("\n")}\n</ul>`}
${sections.join("\n")}
</html>
`;
}

export function reportOf(analysis: Analysis, backend: string, format: "markdown" | "html" | "json"): string {
  if (format === "json") return `${JSON.stringify(analysis, null, 2)}\n`;
  return format === "html" ? html(analysis, backend) : markdown(analysis, backend);
}
