/**
 * The server's clock is set forwards and backwards under every component, on the embedded store. docs/clocks.md says what each
 * promises; a component without a row there and here fails.
 */
import { describe, expect, test } from "vitest";
import { ClockedStore } from "../../kit/clocked-store.ts";
import { componentNames, documentedRows } from "../components.ts";
import { PROMISES } from "./promises.ts";

const STEPS = [
  ["10 s forwards", 10_000],
  ["10 s back", -10_000],
  ["a minute back", -60_000],
  ["an hour back", -3_600_000],
] as const;

/** Ten in the morning, so that no step leaves the day. */
const START_MS = Date.UTC(2026, 10, 16, 10);

test("every component has its promises, here and in docs/clocks.md", () => {
  expect(Object.keys(PROMISES).sort()).toEqual(componentNames());
  const documented = documentedRows("clocks.md", "What each component does").map(([name]) => name!.replaceAll("`", ""));
  expect(documented).toEqual(componentNames());
});

describe.each(Object.entries(PROMISES))("%s", (_component, promises) => {
  describe.each(Object.entries(promises))("%s", (_promise, { check, startMs }) => {
    test.each(STEPS)("when the server's clock is set %s", async (_step, stepMs) => {
      const world = await ClockedStore.open(startMs ?? START_MS);
      try {
        await check(world, stepMs);
      } finally {
        await world.close();
      }
    });
  });
});
