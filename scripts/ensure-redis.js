/**
 * Makes sure of the Redis programs that the tests compare with. Quick and silent when they are there; installs Debian's
 * packages where it may; otherwise says in one line what is missing and what is skipped, and lets the tests go on.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { createConnection } from "node:net";
import { delimiter, join } from "node:path";

const PACKAGE_OF = {
  "redis-server": "redis-server",
  "redis-sentinel": "redis-sentinel",
  "redis-cli": "redis-tools",
  "redis-benchmark": "redis-tools",
};

const SKIPPED_WITHOUT = {
  "redis-server": "engine/conformance and every suite that needs a real server",
  "redis-sentinel": "failover suites",
  "redis-cli": "redis-cli suites",
  "redis-benchmark": "redis-benchmark suites and npm run bench",
};

function onPath(program) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      // Not in this folder.
    }
  }
  return false;
}

const missing = () => Object.keys(PACKAGE_OF).filter((program) => !onPath(program));

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

/** The words to put before a command so that it runs as root, or undefined where that is not possible. */
function asRoot() {
  if (process.getuid?.() === 0) return [];
  return onPath("sudo") && succeeds("sudo", ["-n", "true"]) ? ["sudo", "-n"] : undefined;
}

function somebodyOn(port) {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port });
    const answer = (yes) => {
      socket.destroy();
      resolve(yes);
    };
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}

/**
 * Debian starts a freshly installed server. `policy-rc.d` is Debian's own way to forbid it; one that is already there is
 * somebody else's decision and stays.
 */
const INSTALL = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\\nexit 101\\n' > "$policy" && chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q && apt-get install -q -y --no-install-recommends "$@"
`;

async function install(programs) {
  const root = asRoot();
  if (root === undefined || !onPath("apt-get")) return;
  const packages = [...new Set(programs.map((program) => PACKAGE_OF[program]))];
  console.log(`Installing ${packages.join(", ")} for the tests …`);
  const ports = [6379, 26379];
  const before = await Promise.all(ports.map(somebodyOn));
  const [command, ...args] = [...root, "sh", "-c", INSTALL, "ensure-redis", ...packages];
  const run = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (run.status !== 0) console.log(`${(run.stderr || run.stdout || String(run.error)).trim().split("\n").at(-1)}`);
  const after = await Promise.all(ports.map(somebodyOn));
  for (const [i, service] of ["redis-server", "redis-sentinel"].entries()) {
    if (!after[i] || before[i]) continue;
    const [stop, ...stopArgs] = [...root, "service", service, "stop"];
    spawnSync(stop, stopArgs, { stdio: "ignore" });
  }
}

if (missing().length > 0) {
  await install(missing());
  const still = missing();
  if (still.length > 0) {
    const skipped = [...new Set(still.map((program) => SKIPPED_WITHOUT[program]))];
    console.log(
      `Missing: ${still.join(", ")} (Debian: ${[...new Set(still.map((p) => PACKAGE_OF[p]))].join(" ")}). Skipped: ${skipped.join("; ")}.`,
    );
  }
}
