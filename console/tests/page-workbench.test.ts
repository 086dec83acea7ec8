/** The workbench: completion, documentation, costs, answers in three forms, pipelines, Lua, saved scripts; and its routes. */
import { expect, test } from "vitest";
import { shoot } from "./browser.ts";
import { describePages, EVIL, eventually } from "./pages.ts";

describePages(
  "the workbench",
  (_name, label, opened) => {
    const openIt = async () => {
      const { page, served } = opened();
      await page.goto(`${served.url}/#/workbench`);
      await page.reload();
      const editor = page.getByLabel("Script", { exact: true });
      await editor.click();
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      return { page, editor, type: (text: string) => page.keyboard.insertText(text) };
    };

    test("tells what commands would cost", async () => {
      const { served } = opened();
      const commands = [
        ["KEYS", "*"],
        ["LRANGE", "long", "0", "-1"],
        ["LRANGE", "long", "0", "9"],
        ["SMEMBERS", "none"],
        ["GET", "user:1"],
        ["ZRANGE", "long", "0", "-1"],
      ];
      const { body } = await served.send("POST", "/api/workbench/cost", { commands });
      const levels = body.costs.map(({ level }: { level: string }) => level);
      expect(levels).toEqual(["notable", "notable", "cheap", "cheap", "cheap", "cheap"]);
      expect(body.costs[0].text).toContain("SCAN");
    });

    test("runs many commands in one round trip, in their order, and says which one failed", async () => {
      const { served, backend } = opened();
      const run = (commands: string[][], confirm?: boolean) =>
        served.send("POST", "/api/workbench/pipeline", { commands, ...(confirm && { confirm }) });
      const { body } = await run([
        ["SET", "p", "1"],
        ["INCR", "p"],
        ["LPUSH", "p", "x"],
        ["GET", "p"],
      ]);
      expect(body.outcomes).toEqual([
        { value: "OK" },
        { value: 2 },
        { error: expect.stringContaining("WRONGTYPE") },
        { value: "2" },
      ]);
      expect((await run([["PING"], ["FLUSHALL"]])).body.code).toBe("CONFIRM");
      expect((await run([["PING"], ["SUBSCRIBE", "c"]], true)).body.code).toBe("NOT_HERE");
      expect(await backend.store.call("GET", "p")).toBe("2");
    });

    test("completes commands, options and keys, and shows their documentation", async () => {
      const { page } = await openIt();
      await page.keyboard.type("hgeta", { delay: 30 });
      await page.locator(".cm-tooltip-autocomplete li", { hasText: "HGETALL" }).waitFor();
      await page.locator(".cm-completionInfo", { hasText: "HGETALL key" }).waitFor();
      await page.waitForTimeout(100);
      await page.keyboard.press("Enter");
      await page.keyboard.type("use", { delay: 30 });
      await page.locator(".cm-tooltip-autocomplete li", { hasText: "user:1" }).waitFor();
      await page.getByLabel("Documentation").getByText("HGETALL key").waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("End");
      await page.keyboard.type("\nSET k v E", { delay: 30 });
      await page.locator(".cm-tooltip-autocomplete li", { hasText: "EX" }).first().waitFor();
      await shoot(page, `${label}-workbench-completion`);
      await page.keyboard.press("Escape");
    });

    test("runs several lines and shows answers as table, text and JSON", async () => {
      const { page, type } = await openIt();
      await type(`# a comment\nHGETALL user:1\nSET evil '${EVIL}'\nGET evil\nINCR evil\nLRANGE long 0 -1`);
      await page.getByLabel("Costs").getByText("looks at 20,000 elements").waitFor();
      await page.keyboard.press("Control+Enter");
      const table = page.getByRole("table", { name: "Answer to HGETALL user:1" });
      await table.getByText("Ann", { exact: true }).waitFor();
      await page.getByText("value is not an integer").waitFor();
      await shoot(page, `${label}-workbench`);
      await page.getByText("Text", { exact: true }).click();
      await page.locator(".answer", { hasText: '1) "name"' }).waitFor();
      await page.getByText("JSON", { exact: true }).click();
      await page.locator(".answer", { hasText: '"name": "Ann"' }).waitFor();
      expect(await page.evaluate("window.ran")).toBeUndefined();
      await page.getByText("Table", { exact: true }).click();
      await page.getByRole("button", { name: "Clear answers" }).click();
      await page.getByText("No answers yet.").waitFor();
    });

    test("asks before what is dangerous, and runs a pipeline in one round trip", async () => {
      const { page, type } = await openIt();
      await type("CONFIG RESETSTAT");
      await page.getByRole("button", { name: "Run script" }).click();
      await page.getByText("forgets the statistics").waitFor();
      await page.getByRole("button", { name: "Run it" }).click();
      await page.locator(".result", { hasText: "OK" }).waitFor();
      await page.getByLabel("One round trip").check();
      await page.getByLabel("Script", { exact: true }).click();
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      await type("PING\nPING");
      await page.keyboard.press("Control+Enter");
      await page.getByText("2 commands in one round trip").waitFor();
    });

    test("runs Lua, saves scripts, and remembers what was run but no passwords", async () => {
      const { page, type } = await openIt();
      await page.getByText("Lua", { exact: true }).click();
      await page.getByLabel("Script", { exact: true }).click();
      await type("local n = tonumber(ARGV[1]) -- doubled\nreturn n * 2");
      await page.getByLabel("Arguments").fill("21");
      await page.getByRole("button", { name: "Run script" }).click();
      await page.locator(".result .int", { hasText: "42" }).waitFor();
      await shoot(page, `${label}-workbench-lua`);
      await page.getByRole("button", { name: "Save script" }).click();
      await page.getByLabel("Name").fill("double");
      await page.getByRole("dialog").getByRole("button", { name: "Save script" }).click();
      await page.getByRole("group", { name: "Language" }).getByText("Commands").click();
      await page.getByLabel("Script", { exact: true }).click();
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      await type("CONFIG SET no-such-pass hunter2x");
      await page.keyboard.press("Control+Enter");
      await page.getByText("Run it?").waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      expect(await page.evaluate("localStorage['cinnabar.workbench.history']")).not.toContain("hunter2x");
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      await page.reload();
      await page.getByRole("button", { name: "double", exact: true }).click();
      await eventually(() => page.getByLabel("Script", { exact: true }).textContent()).toContain("return n * 2");
      await page.getByRole("button", { name: "Delete script double" }).click();
      await eventually(() => page.getByRole("button", { name: "double", exact: true }).count()).toBe(0);
    });

    test("keys of the page do nothing while somebody types", async () => {
      const { page } = await openIt();
      await page.keyboard.type("gk");
      expect(new URL(page.url()).hash).toBe("#/workbench");
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
    });
  },
  {
    fill: async ({ store }) => {
      await store.call("HSET", "user:1", "name", "Ann", "mail", "ann@example.com");
      await store.pipeline(Array.from({ length: 20_000 }, (_, nth) => ["SET", `filler:${nth}`, "x"]));
      await store.call("RPUSH", "long", ...Array.from({ length: 20_000 }, (_, nth) => nth));
    },
  },
);
