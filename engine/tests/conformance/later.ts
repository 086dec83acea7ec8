/** Commands that are newer than the Redis whose answers ours are: no real server can be asked about them. */
import { REDIS_VERSION } from "../../src/core/version.ts";
import type { Row } from "../../src/table/command.ts";

const parts = (version: string): number[] => version.split(".").map(Number);

/** Whether a command came with a later version than the one we compare with. */
export function isLater({ since }: Pick<Row, "since">): boolean {
  const [own, theirs] = [parts(since), parts(REDIS_VERSION)];
  const at = own.findIndex((part, i) => part !== theirs[i]);
  return at >= 0 && own[at]! > theirs[at]!;
}
