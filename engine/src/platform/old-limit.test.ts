import { describe, expect, test } from "vitest";
import { oldLimitOf } from "./old-limit.ts";

const MB = 1024 * 1024;
const NODE_20 = "11.3.244.8-node.38";
const NODE_24 = "13.6.233.17-node.53";

/** The limits are what V8 said when it was started like this. */
describe("what of the heap's limit is for objects that stay", () => {
  test.each([
    ["", 4144, NODE_20, undefined, 4096],
    ["", 4288, NODE_24, undefined, 4096],
    // In containers of 1, 2 and 8 GB.
    ["", 524, NODE_20, undefined, 512],
    ["", 560, NODE_24, undefined, 512],
    ["", 1048, NODE_20, undefined, 1024],
    ["", 1120, NODE_24, undefined, 1024],
    ["", 2096, NODE_20, undefined, 2048],
    ["", 2240, NODE_24, undefined, 2048],
    ["--max-old-space-size=300", 348, NODE_20, undefined, 300],
    ["--max-old-space-size=300", 492, NODE_24, undefined, 300],
    ["--max_old_space_size=150", 342, NODE_24, undefined, 150],
    ["--max-old-space-size=100 --max-old-space-size=300", 492, NODE_24, undefined, 300],
    ["--max-semi-space-size=4 --max-old-space-size=300", 312, NODE_24, undefined, 300],
    ["--max-semi-space-size=4", 4108, NODE_24, undefined, 4096],
    ["--max_semi_space_size=16", 4144, NODE_24, undefined, 4096],
    // A worker thread's limits, where no flag says otherwise.
    ["", 392, NODE_24, 192, 200],
    ["", 212, NODE_24, 12, 200],
    // Made up: flags that V8 does not go by, or that only begin like ours.
    ["--max-old-space-size=0", 4288, NODE_24, undefined, 4096],
    ["--max-old-space-size=9000", 4144, NODE_20, undefined, 4096],
    ["--max-old-space-size-percentage=50", 4288, NODE_24, undefined, 4096],
  ])("%s of %d MB in V8 %s", (flags, limitMb, v8, youngMb, oldMb) => {
    expect(oldLimitOf({ flags, limit: limitMb * MB, v8, youngMb })).toBeCloseTo(oldMb * MB, 3);
  });
});
