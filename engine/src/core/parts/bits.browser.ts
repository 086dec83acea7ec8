/** Bitmaps and HyperLogLogs. */
import { bitmaps } from "../../commands/bitmaps/bitmaps.ts";
import { hyperloglog } from "../../commands/hyperloglog/hyperloglog.ts";

export const groups = [bitmaps, hyperloglog];
