/** A link shows what its maker saw: what is chosen, typed, zoomed and asked for stands in the address. */
import { Counters } from "cinnabar/counters";
import { Logs } from "cinnabar/logs";
import { Sessions } from "cinnabar/sessions";
import { expect, test } from "vitest";
import { describePages, eventually } from "./pages.ts";

describePages(
  "the address",
  (_name, _label, opened) => {
    const visit = async (path: string) => {
      const { page, served } = opened();
      await page.goto(`${served.url}/?${Math.random()}#/${path}`);
      await page.locator("main h1").waitFor({ state: "attached" });
    };
    const button = (name: string) => opened().page.getByRole("button", { name, exact: true });
    const hash = () => decodeURIComponent(new URL(opened().page.url()).hash);

    test("has the time range and the zoom of the charts", async () => {
      const { page } = opened();
      await visit("");
      await button("1 hour").click();
      await eventually(hash).toBe("#/?range=1h");
      await button("10 min").click();
      const plot = (await page.locator(".chart .u-over").first().boundingBox())!;
      const drag = async () => {
        await page.mouse.move(plot.x + plot.width * 0.4, plot.y + 40);
        await page.mouse.down();
        await page.mouse.move(plot.x + plot.width * 0.7, plot.y + 40, { steps: 5 });
        await page.mouse.up();
      };
      // Until the first points are there, a frame around nothing changes nothing.
      const framed = async () => {
        await drag();
        return hash();
      };
      await expect
        .poll(async () => (hash().includes("zoom") ? hash() : framed()), { interval: 500 })
        .toMatch(/^#\/\?zoom=\d+-\d+$/);
      const zoomed = hash();
      await page.reload();
      await button("Reset zoom").click();
      await eventually(hash).toBe("#/");
      await page.goBack();
      await eventually(hash).toBe(zoomed);
      await visit("?range=1h");
      expect(await button("1 hour").getAttribute("aria-pressed")).toBe("true");
    });

    test("has what lists are filtered by", async () => {
      const { page } = opened();
      await visit("config");
      await page.getByLabel("Filter").pressSequentially("maxmemory-p");
      await eventually(hash).toBe("#/config?filter=maxmemory-p");
      await page.reload();
      await button("Change maxmemory-policy: noeviction").waitFor();
      expect(await page.locator("tbody tr").count()).toBe(1);
      await visit("sessions?user=ann");
      await page.locator("tbody tr", { hasText: "ann" }).waitFor();
      expect(await page.locator("tbody tr").count()).toBe(1);
      expect(await page.getByRole("searchbox").inputValue()).toBe("ann");
    });

    test("has the precision of counters and the log that is shown", async () => {
      const { page } = opened();
      await visit("measures");
      await button("hours").click();
      await eventually(hash).toBe("#/measures?precision=hours");
      await button("web · info").click();
      await page.reload();
      await page.getByRole("cell", { name: "all is well", exact: true }).first().waitFor();
      expect(await button("hours").getAttribute("aria-pressed")).toBe("true");
    });

    test("has the switches of the workbench", async () => {
      const { page } = opened();
      await visit("workbench");
      await page.getByLabel("One round trip").check();
      await page.getByLabel("JSON").check();
      await eventually(hash).toBe("#/workbench?trip=one&form=json");
      await page.reload();
      expect(await page.getByLabel("One round trip").isChecked()).toBe(true);
      expect(await page.getByLabel("JSON").isChecked()).toBe(true);
      await visit("workbench?language=lua");
      await page.getByLabel("Arguments").waitFor();
    });

    test("has the dialogs of a key", async () => {
      const { page } = opened();
      const dialogs: [string, string][] = [
        ["key=text&do=edit", "Value"],
        ["key=text&do=ttl", "Set time to live"],
        ["key=text&do=rename", "Rename key"],
        ["key=text&do=delete", "Delete this key?"],
        ["key=hash&do=add", "Set a field"],
        ["key=hash&do=edit:field:colour", "Field colour"],
        ["key=list&do=edit:index:1", "Item 1"],
        ["key=list&do=insert:index:1", "Insert before item 1"],
        ["key=zset&do=edit:field:ann", "Score of ann"],
      ];
      for (const [query, title] of dialogs) {
        await visit(`keys?${query}`);
        const dialog = page.getByRole("dialog", { name: title });
        await dialog.waitFor();
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        expect(hash()).toBe(`#/keys?${query.split("&")[0]}`);
      }
      await button("Edit").click();
      await eventually(hash).toBe("#/keys?key=zset&do=edit:field:ann");
      await page.goBack();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    });
  },
  {
    fill: async ({ store }) => {
      await store.call("SET", "text", "hello");
      await store.call("HSET", "hash", "colour", "red");
      await store.call("RPUSH", "list", "a", "b");
      await store.call("ZADD", "zset", 1, "ann");
      const sessions = new Sessions(store);
      for (const user of ["ann", "ben"]) await sessions.create({ user });
      await new Counters(store).add("hits", 5);
      const logs = new Logs(store);
      logs.write("api", "error", "upstream timed out");
      logs.write("web", "info", "all is well");
      await logs.flush();
    },
  },
);
