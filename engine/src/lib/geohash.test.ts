/** Positions to numbers and back, and that the cells cover what they must. What Redis computes is in the transcripts. */
import { describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import {
  cellsCovering,
  decodePosition,
  distance,
  distanceWithin,
  encodePosition,
  geohashText,
  type Shape,
} from "./geohash.ts";

describe("positions", () => {
  it("become the score that Redis stores", () => {
    expect(encodePosition({ longitude: 13.361389, latitude: 38.115556 })).toBe(3479099956230698);
    expect(geohashText(3479099956230698)).toBe("sqc8b49rny0");
  });

  it("come back within a metre", () => {
    const clock = new ManualClock(0, 9);
    for (let i = 0; i < 2_000; i++) {
      const position = { longitude: clock.random() * 360 - 180, latitude: clock.random() * 170 - 85 };
      expect(distance(position, decodePosition(encodePosition(position)))).toBeLessThan(1);
    }
  });
});

describe("cells around a shape", () => {
  it("hold everything within it", () => {
    const clock = new ManualClock(0, 4);
    for (let i = 0; i < 300; i++) {
      const center = { longitude: clock.random() * 300 - 150, latitude: clock.random() * 120 - 60 };
      const radius = 10 ** (clock.random() * 3);
      const shape: Shape = { kind: "circle", center, unit: 1000, radius };
      const cells = cellsCovering(shape);
      for (let j = 0; j < 50; j++) {
        const near = {
          longitude: center.longitude + (clock.random() - 0.5) * (radius / 40),
          latitude: center.latitude + (clock.random() - 0.5) * (radius / 60),
        };
        const score = encodePosition(near);
        if (distanceWithin(shape, decodePosition(score)) === undefined) continue;
        expect(cells.some(({ min, max }) => score >= min && score < max)).toBe(true);
      }
    }
  });
});
