/** Access tokens, on every backend. */
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { AccessTokens } from "./tokens.ts";

describeBackends("access tokens", (backend) => {
  test("a token says whose it is and what for, until it is revoked", async () => {
    const tokens = new AccessTokens(backend.store);
    const made = await tokens.issue("ann", { scopes: ["stream", "firehose"], label: "laptop" });
    const { token, ...info } = made;
    expect(await tokens.verify(token)).toEqual(info);
    expect(await new AccessTokens(await backend.open()).verify(token)).toEqual(info);
    expect(await tokens.isGood(info)).toBe(true);
    expect(await tokens.revoke("ben", info.id)).toBe(false);
    expect(await tokens.revoke("ann", info.id)).toBe(true);
    expect(await tokens.revoke("ann", info.id)).toBe(false);
    expect(await tokens.verify(token)).toBeNull();
    expect(await tokens.isGood(info)).toBe(false);
  });

  test("a malformed token, or another's secret, is nobody's", async () => {
    const tokens = new AccessTokens(backend.store);
    const [one, two] = [await tokens.issue("ann"), await tokens.issue("ann")];
    const [tag, id] = one.token.split(".");
    for (const wrong of ["", "x", `${tag}.${id}.`, `${tag}.${id}.${two.token.split(".")[2]}`, `${one.token}x`]) {
      expect(await tokens.verify(wrong)).toBeNull();
    }
  });

  test("a secret is nowhere in the store", async () => {
    const tokens = new AccessTokens(backend.store);
    const { token } = await tokens.issue("ann");
    const [tag, , secret] = token.split(".") as [string, string, string];
    const stored = await backend.store.call("HGETALL", `stream-token:{${tag}}:tokens`);
    expect(stored).toHaveLength(2);
    expect(JSON.stringify(stored)).not.toContain(secret);
  });

  test("a token with a lifetime ends by the server's clock, and makes room", async () => {
    const tokens = new AccessTokens(backend.store, { maxPerUser: 2 });
    const short = await tokens.issue("ann", { ttlMs: 1 });
    const long = await tokens.issue("ann", { ttlMs: 3_600_000 });
    expect(short.endsAt).toEqual(new Date(short.createdAt.getTime() + 1));
    await expect.poll(() => tokens.verify(short.token), { timeout: 20_000 }).toBeNull();
    expect(await tokens.verify(long.token)).toMatchObject({ user: "ann", endsAt: long.endsAt });
    const third = await tokens.issue("ann");
    expect((await tokens.list("ann")).items.map(({ id }) => id).sort()).toEqual([long.id, third.id].sort());
    await expect(tokens.issue("ann")).rejects.toMatchObject({ code: "LIMIT" });
    await tokens.issue("ben");
  });

  test("all of a user's end at once, and nobody else's", async () => {
    const tokens = new AccessTokens(backend.store);
    const anns = await Promise.all([tokens.issue("ann"), tokens.issue("ann")]);
    const bens = await tokens.issue("ben");
    const heard: boolean[][] = [];
    let onHeard = (): void => {};
    const told = new Promise<void>((resolve) => {
      onHeard = resolve;
    });
    // In a Cluster, what others have revoked before may be told only now.
    const subscription = await tokens.subscribe((affects) => {
      const affected = [...anns, bens].map((each) => affects(each));
      if (!affected.includes(true)) return;
      heard.push(affected);
      onHeard();
    });
    expect(await tokens.revokeEverywhere("ann")).toBe(2);
    await told;
    expect(heard).toEqual([[true, true, false]]);
    for (const { token } of anns) expect(await tokens.verify(token)).toBeNull();
    expect(await tokens.verify(bens.token)).not.toBeNull();
    await subscription.close();
  });

  test("what cannot be is refused", async () => {
    const tokens = new AccessTokens(backend.store);
    await expect(tokens.issue("")).rejects.toThrow("user must be");
    await expect(tokens.issue("ann", { scopes: ["a b"] })).rejects.toThrow("a scope must be");
    await expect(tokens.issue("ann", { ttlMs: -1 })).rejects.toThrow("ttlMs");
  });
});
