/**
 * Texts to search in: the descriptions of Debian's packages (some 60 000), as apt knows them on machines that have it, and a
 * small sample of our own elsewhere.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { CORPUS_SAMPLE } from "./corpus-sample.ts";

export interface PackageText {
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  /** What it needs and goes with: names of other packages. */
  readonly relations: string;
  readonly section: string;
  readonly tags: readonly string[];
  readonly installedKb: number;
}

export interface Corpus {
  readonly source: "apt" | "sample";
  readonly packages: readonly PackageText[];
}

/**
 * Reads apt's lists, whatever they are compressed with; the sample if there is no apt or nothing in its lists, or if
 * CINNABAR_CORPUS=sample says so.
 */
export async function readCorpus(limit = Number.POSITIVE_INFINITY): Promise<Corpus> {
  const found = process.env.CINNABAR_CORPUS === "sample" ? [] : await fromApt(limit).catch(() => []);
  if (found.length >= 1_000 || found.length >= limit) return { source: "apt", packages: found };
  return { source: "sample", packages: sample().slice(0, limit) };
}

async function fromApt(limit: number): Promise<PackageText[]> {
  const child = spawn("apt-cache", ["dumpavail"], { stdio: ["ignore", "pipe", "ignore"] });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  failed.catch(() => {});
  try {
    return await Promise.race([paragraphs(child.stdout, limit), failed]);
  } finally {
    child.kill();
  }
}

async function paragraphs(stream: NodeJS.ReadableStream, limit: number): Promise<PackageText[]> {
  // A package that is in several lists is taken from the first.
  const packages = new Map<string, PackageText>();
  let fields = new Map<string, string>();
  let last = "";
  const take = (): void => {
    const text = toPackage(fields);
    if (text !== null && !packages.has(text.id)) packages.set(text.id, text);
    fields = new Map();
  };
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === "") {
      take();
      if (packages.size >= limit) break;
    } else if (line.startsWith(" ")) {
      fields.set(last, `${fields.get(last) ?? ""} ${line.trim()}`);
    } else {
      const colon = line.indexOf(":");
      last = line.slice(0, colon);
      fields.set(last, line.slice(colon + 1).trim());
    }
  }
  take();
  return [...packages.values()].slice(0, limit);
}

function toPackage(fields: ReadonlyMap<string, string>): PackageText | null {
  const name = fields.get("Package");
  if (name === undefined) return null;
  const names = ["Depends", "Recommends", "Suggests", "Enhances", "Provides"].map((each) => fields.get(each) ?? "");
  return {
    id: name,
    name,
    summary: fields.get("Description") ?? "",
    relations: names
      .join(" ")
      .replace(/\([^)]*\)|[,|]/g, " ")
      .replace(/\s+/g, " ")
      .trim(),
    section: fields.get("Section") ?? "",
    tags: (fields.get("Tag") ?? "").split(/[,\s]+/).filter((tag) => tag !== ""),
    installedKb: Number(fields.get("Installed-Size") ?? 0),
  };
}

/** One line each: name, section, summary. */
function sample(): PackageText[] {
  return CORPUS_SAMPLE.trim()
    .split("\n")
    .map((line, at) => {
      const [name = "", section = "", summary = ""] = line.split("|").map((part) => part.trim());
      return {
        id: name,
        name,
        summary,
        relations: "",
        section,
        tags: [section],
        installedKb: 40 + ((at * 7919) % 5_000),
      };
    });
}
