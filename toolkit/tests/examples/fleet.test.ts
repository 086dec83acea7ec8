/** The example of the fleet: it runs on four servers, says what is written here, and the README shows it. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";
import { installed, startRedis } from "../kit/servers.ts";

const root = join(import.meta.dirname, "../../..");

test("the README shows the example", () => {
  const example = readFileSync(join(import.meta.dirname, "fleet.ts"), "utf8");
  expect(readFileSync(join(root, "toolkit/src/components/fleet/README.md"), "utf8")).toContain(example.trim());
});

test.skipIf(!installed("redis-server"))("the example runs", async () => {
  const servers = await Promise.all(Array.from({ length: 4 }, () => startRedis()));
  try {
    const [home, ...shards] = servers.map(({ url }) => url);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      nodeWordsOnPackages(join(import.meta.dirname, "fleet.ts")),
      { cwd: root, env: { ...process.env, STORE: home, SERVERS: shards.join(",") } },
    );
    expect(stdout.trim().split("\n")).toEqual(["a 8192, b 8192", "a 5462, b 5461, c 5461", "17", "b, c"]);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
});
