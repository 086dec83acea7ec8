/**
 * Makes sure of the programs that the tests compare with: Redis's, Snowball's stemmer, and a terminal. Quick and silent when they are there; installs Debian's
 * packages where it may; otherwise says in one line what is missing and what is skipped, and lets the tests go on.
 */
import { spawnSync } from "node:child_process";
import { createConnection } from "node:net";
import { asRoot, install, onPath } from "./debian.js";

const PACKAGE_OF = {
  "redis-server": "redis-server",
  "redis-sentinel": "redis-sentinel",
  "redis-cli": "redis-tools",
  "redis-benchmark": "redis-tools",
  stemwords: "libstemmer-tools",
  tmux: "tmux",
};

const SKIPPED_WITHOUT = {
  "redis-server": "engine/tests/conformance and every suite that needs a real server",
  "redis-sentinel": "failover suites",
  "redis-cli": "redis-cli suites",
  "redis-benchmark": "redis-benchmark suites and npm run bench",
  stemwords: "the comparison of stems with Snowball's own program",
  tmux: "`cinnabar cli` in a terminal",
};

const missing = () => Object.keys(PACKAGE_OF).filter((program) => !onPath(program));

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

/** Installs what is missing, and ends the servers that the packages have started: the tests start their own. */
async function installPrograms(programs) {
  const ports = [6379, 26379];
  const before = await Promise.all(ports.map(somebodyOn));
  install([...new Set(programs.map((program) => PACKAGE_OF[program]))]);
  const after = await Promise.all(ports.map(somebodyOn));
  for (const [i, service] of ["redis-server", "redis-sentinel"].entries()) {
    if (!after[i] || before[i]) continue;
    const [stop, ...stopArgs] = [...(asRoot() ?? []), "service", service, "stop"];
    spawnSync(stop, stopArgs, { stdio: "ignore" });
  }
}

if (missing().length > 0) {
  await installPrograms(missing());
  const still = missing();
  if (still.length > 0) {
    const skipped = [...new Set(still.map((program) => SKIPPED_WITHOUT[program]))];
    console.log(
      `Missing: ${still.join(", ")} (Debian: ${[...new Set(still.map((p) => PACKAGE_OF[p]))].join(" ")}). Skipped: ${skipped.join("; ")}.`,
    );
  }
}
