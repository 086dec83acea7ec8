/** The password is compared by a function whose time tells nothing, over values of one length whatever was sent. */
import { timingSafeEqual } from "node:crypto";
import { open } from "cinnabar";
import { expect, test, vi } from "vitest";
import { serve } from "./support.ts";

vi.mock("node:crypto", async (original) => {
  const real = await original<typeof import("node:crypto")>();
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) };
});

test("guesses of any length are compared in constant time", async () => {
  const store = await open();
  const served = await serve(store, { password: "correct horse" });
  const guesses = ["", "c", "correct hors", "x".repeat(1_000)];
  for (const password of guesses) expect((await served.send("POST", "/api/login", { password })).status).toBe(401);
  const { calls } = vi.mocked(timingSafeEqual).mock;
  expect(calls).toHaveLength(guesses.length);
  for (const [one, other] of calls) expect([one.byteLength, other.byteLength]).toEqual([32, 32]);
  await served.console.close();
  await store.close();
});
