/** Values that are known to more digits than a double holds, and identities that only hold when rounding is right. */
import { describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { exactMath } from "./exact-math.ts";

describe("exactMath", () => {
  it("knows the values at special angles", () => {
    expect(exactMath.sin(0)).toBe(0);
    expect(exactMath.cos(0)).toBe(1);
    expect(exactMath.sin(Math.PI / 2)).toBe(1);
    // The double nearest to π is 1.2246…e-16 below it, and the sine of that difference is the difference.
    expect(exactMath.sin(Math.PI)).toBe(1.2246467991473532e-16);
    expect(exactMath.cos(Math.PI / 2)).toBe(6.123233995736766e-17);
    expect(exactMath.cos(Math.PI)).toBe(-1);
    expect(exactMath.sin(1)).toBe(0.8414709848078965);
    expect(exactMath.cos(1)).toBe(0.5403023058681398);
    expect(exactMath.asin(0.5)).toBe(0.5235987755982989);
    expect(exactMath.asin(1)).toBe(Math.PI / 2);
  });

  it("stays within a unit in the last place of V8's own", () => {
    const clock = new ManualClock(0, 5);
    for (let i = 0; i < 5_000; i++) {
      const x = (clock.random() * 2 - 1) * Math.PI;
      expect(Math.abs(exactMath.sin(x) - Math.sin(x))).toBeLessThanOrEqual(2 ** -52 * Math.abs(Math.sin(x)));
      expect(Math.abs(exactMath.cos(x) - Math.cos(x))).toBeLessThanOrEqual(2 ** -52 * Math.abs(Math.cos(x)));
      const y = clock.random();
      expect(Math.abs(exactMath.asin(y) - Math.asin(y))).toBeLessThanOrEqual(2 ** -51 * Math.asin(y));
    }
  });
});
