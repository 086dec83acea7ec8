import { expect, test } from "vitest";
import { Together } from "./together.ts";

test("calls of one turn are one question, and each gets its own answer or error", async () => {
  const asked: number[][] = [];
  const together = new Together<number, string>(async (items) => {
    asked.push([...items]);
    return items.map((item) => (item === 2 ? new Error("two") : `${item}`));
  });
  const calls = Promise.allSettled([1, 2, 3].map((item) => together.ask(item)));
  // Also those that come from what is settled in this turn.
  const later = Promise.resolve().then(() => together.ask(4));
  expect(await calls).toMatchObject([{ value: "1" }, { reason: new Error("two") }, { value: "3" }]);
  expect(await later).toBe("4");
  expect(asked).toEqual([[1, 2, 3, 4]]);
  expect(await together.ask(5)).toBe("5");
  expect(asked).toEqual([[1, 2, 3, 4], [5]]);
});

test("a question that fails, fails for all who asked it, and only for them", async () => {
  let isDown = true;
  const together = new Together<number, number>(async (items) => {
    if (isDown) throw new Error("down");
    return items;
  });
  const settled = await Promise.allSettled([together.ask(1), together.ask(2)]);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isDown = false;
  expect(await together.ask(3)).toBe(3);
});

test("no question holds more than a server can answer in a moment", async () => {
  const sizes: number[] = [];
  const together = new Together<number, number>(async (items) => {
    sizes.push(items.length);
    return items;
  });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, nth) => together.ask(nth)));
  expect(answers).toEqual(Array.from({ length: 200 }, (_, nth) => nth));
  expect(sizes).toEqual([64, 64, 64, 8]);
});
