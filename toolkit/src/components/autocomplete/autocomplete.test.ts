import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { InputError } from "../../base/errors.ts";
import { fold } from "./fold.ts";
import { PrefixIndex, RecentContacts } from "./index.ts";

describe("names are the same", () => {
  test.each([
    ["Straße", "STRASSE"],
    ["Ångström", "Ångström"],
    ["ΟΔΟΣ", "οδοσ"],
    ["ﬁsh", "FISH"],
    ["Zoë", "ZOË"],
  ])("%s and %s", (one, other) => {
    expect(fold(one)).toBe(fold(other));
  });
});

describeBackends("recent contacts", (backend) => {
  test("the most recent come first, once each, and the oldest go", async () => {
    const contacts = new RecentContacts(backend.store, { maxContacts: 3 });
    for (const name of ["ann", "ben", "Ann", "cat", "dan"]) await contacts.touch("me", name);
    expect(await contacts.complete("me", "")).toEqual(["dan", "cat", "Ann"]);
    expect(await contacts.complete("you", "")).toEqual([]);
  });

  test("match by their beginning, without regard to case", async () => {
    const contacts = new RecentContacts(backend.store);
    for (const name of ["Jean", "jeannie", "Jeff", "ÅSA", "李雷"]) await contacts.touch("me", name);
    expect(await contacts.complete("me", "JE")).toEqual(["Jeff", "jeannie", "Jean"]);
    expect(await contacts.complete("me", "jean", { limit: 1 })).toEqual(["jeannie"]);
    expect(await contacts.complete("me", "å")).toEqual(["ÅSA"]);
    expect(await contacts.complete("me", "李")).toEqual(["李雷"]);
    expect(await contacts.complete("me", "x")).toEqual([]);
  });

  test("can be removed, one or all", async () => {
    const contacts = new RecentContacts(backend.store);
    await contacts.touch("me", "Ann");
    await contacts.touch("me", "Ben");
    expect(await contacts.delete("me", "ANN")).toBe(true);
    expect(await contacts.delete("me", "ANN")).toBe(false);
    expect(await contacts.complete("me", "")).toEqual(["Ben"]);
    await contacts.clear("me");
    expect(await contacts.complete("me", "")).toEqual([]);
  });

  test("stay within their bound under concurrent use", async () => {
    const stores = await Promise.all([backend.open(), backend.open()]);
    const contacts = stores.map((store) => new RecentContacts(store, { maxContacts: 10 }));
    await Promise.all(Array.from({ length: 200 }, (_, nth) => contacts[nth % 2]!.touch("me", `name ${nth % 40}`)));
    const left = await contacts[0]!.complete("me", "", { limit: 100 });
    expect(left.length).toBe(10);
    expect(new Set(left).size).toBe(10);
    expect(await backend.store.call("HLEN", "contacts:{me}:names")).toBe(10);
  });

  test("wrong names are refused", async () => {
    const contacts = new RecentContacts(backend.store);
    await expect(contacts.touch("me", "")).rejects.toThrow(InputError);
    await expect(contacts.touch("", "ann")).rejects.toThrow(InputError);
    await expect(contacts.touch("me", "a\0b")).rejects.toThrow(InputError);
    await expect(contacts.touch("me", "x".repeat(2000))).rejects.toThrow(InputError);
    expect(() => new RecentContacts(backend.store, { maxContacts: 0 })).toThrow(InputError);
  });
});

describeBackends("names by prefix", { audit: "tags" }, (backend) => {
  test("equal what filtering all names gives, at random", async () => {
    const letters = ["a", "b", "ä", "Z", "z", "é", "中", "文", "𝒳", "-", " ", "ß"];
    let seed = 11;
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    const word = (): string => Array.from({ length: 1 + random(4) }, () => letters[random(letters.length)]).join("");
    const members = new PrefixIndex(backend.store, "guild");
    const names = new Map<string, string>();
    const added = Array.from({ length: 300 }, word);
    for (const name of added) names.set(fold(name), name);
    await members.addMany(added);
    for (const name of added.slice(0, 60)) {
      expect(await members.delete(name)).toBe(names.delete(fold(name)));
    }
    expect(await members.count()).toBe(names.size);
    for (let nth = 0; nth < 60; nth++) {
      const beginning = [...word()].slice(0, 2).join("");
      const expected = [...names].filter(([folded]) => folded.startsWith(fold(beginning))).map(([, name]) => name);
      const found = await members.complete(beginning, { limit: 1_000 });
      expect([...found].sort()).toEqual(expected.sort());
    }
  });

  test("are listed in order, within the limit", async () => {
    const members = new PrefixIndex(backend.store, "guild");
    expect(await members.addMany(["carl", "Anna", "bo", "anton", "ANNA"])).toBe(4);
    expect(await members.complete("")).toEqual(["ANNA", "anton", "bo", "carl"]);
    expect(await members.complete("an", { limit: 1 })).toEqual(["ANNA"]);
  });

  test("reading writes nothing", async () => {
    const members = new PrefixIndex(backend.store, "guild", { rankedBeginnings: 2 });
    await members.addMany(["anna"]);
    const before = await backend.store.call("DEBUG", "DIGEST-VALUE", "complete:{guild}:lex").catch(() => null);
    await members.complete("an");
    await members.suggest("an");
    await members.suggest("anna");
    expect(await members.count()).toBe(1);
    expect(await backend.store.call("DEBUG", "DIGEST-VALUE", "complete:{guild}:lex").catch(() => null)).toEqual(before);
  });

  test("by weight: exact for short beginnings, and for long ones as far as they are looked at", async () => {
    const members = new PrefixIndex(backend.store, "guild", { rankedBeginnings: 2, maxScan: 3 });
    await members.addMany(["anna", "anne", "annika", "annual", "anton"].map((name, weight) => ({ name, weight })));
    expect(await members.suggest("A", { limit: 2 })).toEqual({ names: ["anton", "annual"], exact: true });
    expect(await members.suggest("ant")).toEqual({ names: ["anton"], exact: true });
    expect(await members.suggest("ann")).toEqual({ names: ["annika", "anne", "anna"], exact: false });
    await members.bump("Anna", 10);
    expect((await members.suggest("an", { limit: 1 })).names).toEqual(["Anna"]);
    await members.delete("anna");
    expect((await members.suggest("an", { limit: 1 })).names).toEqual(["anton"]);
  });

  test("weights add up when many choose at once", async () => {
    const members = new PrefixIndex(backend.store, "guild", { rankedBeginnings: 1 });
    const others = new PrefixIndex(await backend.open(), "guild", { rankedBeginnings: 1 });
    await Promise.all(Array.from({ length: 100 }, (_, nth) => (nth % 2 ? members : others).bump("anna")));
    expect(await backend.store.call("ZSCORE", "complete:{guild}:top:a", "anna\0anna")).toBe("100");
  });

  test("a removed name leaves nothing", async () => {
    const members = new PrefixIndex(backend.store, "guild", { rankedBeginnings: 3 });
    await members.addMany([{ name: "Ünïcødé", weight: 2 }]);
    expect(await members.delete("ÜNÏCØDÉ")).toBe(true);
    const left = (await keysIn(backend.store)).length;
    expect(left).toBe(0);
  });
});
