/** Documents as pages: every link and anchor leads somewhere, every page is in a sidebar, every command has a prompt that runs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { DIAGRAMS, FOLDER } from "../diagrams.ts";
import { wordsOf } from "../lab/words.ts";
import { anchorOf, commandGroups, promptsOf } from "../pages/commands.ts";
import { programOf } from "../pages/live.ts";
import { linksIn } from "../pages/navigation.ts";
import { ANSWERS_AN_ERROR, madePrompt, writtenPrompts } from "../pages/prompts.ts";
import { documents, fileOf, inOtherLanguage, ROOT, routeOf, routeOfFile } from "../pages/routes.ts";
import { partsOf } from "../pages/search.ts";
import { gather } from "../pages/stage.ts";
import { pageFrom, publishedAs } from "../pages/transform.ts";

const { pages, files, navigation } = gather();
const withoutCode = (text: string): string => text.replace(/^(```+)[\s\S]*?^\1 *$/gm, "").replace(/`[^`\n]+`/g, "");

function anchorsIn(text: string): Set<string> {
  const anchors = new Set<string>();
  const prose = text.replace(/^(```+)[\s\S]*?^\1 *$/gm, "");
  for (const [, heading] of prose.matchAll(/^#+ (.*)$/gm)) {
    const anchor = anchorOf(heading!);
    let name = anchor;
    for (let nth = 1; anchors.has(name); nth++) name = `${anchor}-${nth}`;
    anchors.add(name);
  }
  return anchors;
}

describe("a document becomes a page", () => {
  test("at one place, in which no other one is", () => {
    const routes = documents().map((document) => routeOf(document)!);
    expect(new Set(routes).size).toBe(routes.length);
    expect(routes.length).toBeGreaterThan(90);
    expect([routeOf("toolkit/src/components/locks/README.md"), fileOf("/migrating/")]).toEqual([
      "/components/locks",
      "migrating/index.md",
    ]);
    expect(routeOf("engine/src/index.ts")).toBeUndefined();
  });

  test("whose links lead to pages, and to files beside them", () => {
    const text =
      "[a](../ARCHITECTURE.md#the-map), [b `x`](engine.md), [c](../package.json), ![d](console.png), [e](../bench)";
    const page = pageFrom("docs/operating.md", text);
    expect(page.text).toContain("[a](/project/architecture#the-map), [b `x`](/guide/engine)");
    expect(page.text).toContain(`<a href="/docs${publishedAs("package.json")}" target="_blank">c</a>`);
    expect(page.text).toContain(`![d](${publishedAs("docs/console.png")}), e`);
    expect(page.files).toEqual(["package.json", "docs/console.png"]);
  });

  test("with programs that run, or say what they need", () => {
    const fence = (code: string): string => `\`\`\`ts\n${code}\n\`\`\``;
    const live = pageFrom(
      "docs/x.md",
      fence('// toolkit/tests/examples/locks.ts\nimport { open } from "cinnabar";'),
    ).text;
    expect(live).toContain('<LiveProgram file="toolkit/tests/examples/locks.ts">');
    expect(live).not.toContain("// toolkit/tests");
    expect(pageFrom("docs/x.md", fence("const a = 1;")).text).not.toContain("LiveProgram");
    const needs = (code: string) => programOf(`import { open } from "cinnabar";\n${code}`)?.needs;
    expect(needs('import { Redis } from "ioredis";')).toBe("the package ioredis");
    expect(needs('import { join } from "node:path";')).toBe("Node (node:path)");
    expect(needs('await open("redis://localhost");')).toBe("servers");
    expect(needs('await open(); // or open("redis://localhost")')).toBeUndefined();
  });

  test("where what Vue would take for its own is left alone", () => {
    expect(pageFrom("docs/x.md", "a {{ b }} `{{ c }}`").text).toBe("a &#123;&#123; b }} `{{ c }}`");
  });
});

test("every link of every page leads to a page, and to a heading of it", () => {
  const broken = [...pages].flatMap(([route, text]) =>
    [...withoutCode(text).matchAll(/\]\(((?:\/|#)[^)\s]*)\)|^\s+link: (\/\S*)$/gm)].flatMap(([, inText, inHead]) => {
      const [target = "", anchor] = (inText ?? inHead)!.split("#");
      if (target.startsWith("/files/")) return [];
      const page = pages.get(target === "" ? route : target);
      if (page === undefined) return [`${route} → ${target}`];
      return anchor === undefined || anchorsIn(page).has(anchor) ? [] : [`${route} → ${target}#${anchor}`];
    }),
  );
  // The home pages name the Chinese start page, which may not be translated yet.
  expect(broken.filter((link) => !link.endsWith("→ /zh/start"))).toEqual([]);
});

test("every file that a page leads to is one of the repository", () => {
  for (const file of files) expect(() => readFileSync(join(ROOT, file))).not.toThrow();
  expect(files.size).toBeGreaterThan(20);
});

test("every page is in a sidebar, and every item of a sidebar is a page", () => {
  const { guide, components, commands, zh } = navigation;
  const linked = new Set([guide, components, commands, zh].flatMap((items) => linksIn(items)));
  const own = new Set(["/", "/zh/", "/playground", "/zh/playground"]);
  expect([...pages.keys()].filter((route) => !linked.has(route) && !own.has(route))).toEqual([]);
  expect([...linked].filter((route) => !pages.has(route))).toEqual([]);
});

describe("the switch of languages", () => {
  const routes = [...pages.keys()];
  const other = (route: string): string => inOtherLanguage(route, (each) => pages.has(each));

  test("leads from every page to a page of the other language, and from there back where that is its counterpart", () => {
    expect(routes.filter((route) => !pages.has(other(route)))).toEqual([]);
    expect(routes.filter((route) => other(route).startsWith("/zh/") === route.startsWith("/zh/"))).toEqual([]);
    const starts = new Set(["/", "/zh/"]);
    expect(routes.filter((route) => !starts.has(other(route)) && other(other(route)) !== route)).toEqual([]);
    expect([other("/"), other("/zh/"), other("/components/locks"), other("/zh/components/locks")]).toEqual([
      "/zh/",
      "/",
      "/zh/components/locks",
      "/components/locks",
    ]);
  });

  test("leads to the start where nothing is translated; of the Chinese pages, these two have no original", () => {
    expect([other("/guide/operating"), other("/commands/strings")]).toEqual(["/zh/", "/zh/"]);
    const own = routes.filter((route) => route !== "/zh/" && route.startsWith("/zh/") && other(route) === "/");
    expect(own).toEqual(["/zh/guide/", "/zh/guide/terms"]);
  });

  test("finds the page of the file that the site is built from", () => {
    expect(routes.filter((route) => routeOfFile(fileOf(route)) !== route)).toEqual([]);
  });
});

describe("the prompt of a command", () => {
  const groups = commandGroups();
  const prompts = promptsOf(groups);
  const names = groups.flatMap(({ entries }) => entries.map(({ name }) => name));

  const written = writtenPrompts(names);

  test("is there for all but those that a page cannot show", () => {
    const cannot =
      /^CLUSTER|MIGRATE|SAVE|SYNC|REPLICAOF|SLAVEOF|REPLCONF|FAILOVER|SHUTDOWN|MODULE|BGREWRITE|ASKING|QUIT|MONITOR/;
    const without = names.filter((name) => !prompts.has(name) && !cannot.test(name));
    expect(without).toEqual(["FUNCTION RESTORE", "SCRIPT DEBUG", "ACL LOAD", "CONFIG REWRITE", "LATENCY GRAPH"]);
    expect([...written.keys()].filter((name) => !names.includes(name))).toEqual([]);
  });

  test("is made from the syntax where none is written, and every command takes what is made", async () => {
    expect(madePrompt("ZADD", "ZADD key [NX | XX] score member [score member ...]")).toEqual(["ZADD key 1.5 member"]);
    expect(madePrompt("CONFIG SET", "CONFIG SET parameter value [parameter value ...]")).toEqual([
      "CONFIG SET parameter value",
    ]);
    expect(madePrompt("MONITOR", "MONITOR")).toBeUndefined();
    // It waits for ever, or closes the connection.
    const skipped = /^(?:B[LRZ]\w+|X?READ|CLIENT (?:KILL|REPLY)|DEBUG .*|WAIT(?:AOF)?|P?SUBSCRIBE|SSUBSCRIBE)$/;
    const engine = await Engine.open();
    const refused: string[] = [];
    for (const { name, syntax } of groups.flatMap(({ entries }) => entries)) {
      const [line] = skipped.test(name) ? [] : (madePrompt(name, syntax) ?? []);
      if (line === undefined) continue;
      const words = wordsOf(line)!.map((word) => Buffer.from(word));
      const client = engine.connect();
      await client.callWords(words).catch(({ message }: Error) => {
        if (/syntax error|wrong number of arguments|unknown (?:sub)?command/i.test(message)) refused.push(name);
      });
      client.close();
    }
    await engine.close();
    // An operation, and a command with its own words: their syntax does not say which there are.
    expect(refused).toEqual(["BITOP", "COMMAND GETKEYS", "COMMAND GETKEYSANDFLAGS"]);
  });

  test("runs without an error", async () => {
    const failed: string[] = [];
    for (const [name, lines] of written) {
      if (ANSWERS_AN_ERROR.test(name)) continue;
      const engine = await Engine.open();
      const client = engine.connect();
      for (const line of lines) {
        const words = wordsOf(line)!.map((word) => Buffer.from(word));
        await client.callWords(words).catch((error: Error) => failed.push(`${name}: ${line}: ${error.message}`));
      }
      await engine.close();
    }
    expect(failed).toEqual([]);
  });
});

describe("what is searched", () => {
  test("is cut at headings, with the anchors that the page has", () => {
    const text =
      "# Locks\n\nFor [one](/x) holder.\n\n```ts\n# no heading\n```\n\n## Keys\n\n| a | b |\n| --- | --- |\n| `lock` | hash |\n\n## Keys\n\nmore\n";
    expect(partsOf("/components/locks", text)).toEqual([
      {
        route: "/components/locks.html",
        page: "Locks",
        heading: "Locks",
        text: "For one holder. # no heading".replace("# ", ""),
      },
      { route: "/components/locks.html#keys", page: "Locks", heading: "Keys", text: "a b lock hash" },
      { route: "/components/locks.html#keys-1", page: "Locks", heading: "Keys", text: "more" },
    ]);
  });

  test("has no marks of Markdown and no tags, and keeps code as it is", () => {
    const said = (text: string): string => partsOf("/x", `# X\n\n${text}\n`)[0]!.text;
    expect(said("- **one**\n- two\n\n> three<br>four")).toBe("one two three four");
    expect(said("`fleet:<component>`, string")).toBe("fleet:<component>, string");
    expect(said("<LiveProgram>\n\n```ts\nconst a: Promise<string>;\n```\n\n</LiveProgram>")).toBe(
      "const a: Promise<string>;",
    );
  });

  test("leads to anchors that exist", () => {
    const lost = [...pages].flatMap(([route, text]) => {
      const anchors = anchorsIn(text);
      return partsOf(route, text).filter(
        ({ route: place }) => place.includes("#") && !anchors.has(place.split("#")[1]!),
      );
    });
    expect(lost).toEqual([]);
  });
});

test("the drawings are as the script makes them: npm run diagrams", () => {
  for (const [name, text] of Object.entries(DIAGRAMS)) expect(readFileSync(join(FOLDER, name), "utf8")).toBe(text);
});
