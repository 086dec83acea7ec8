/** Debian's packages that the tests need: are their programs there, and how are they installed where that is allowed. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export function onPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The words to put before a command so that it runs as root, or undefined where that is not possible. */
export function asRoot() {
  if (process.getuid?.() === 0) return [];
  const mayBecome = onPath("sudo") && spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0;
  return mayBecome ? ["sudo", "-n"] : undefined;
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

/** Installs packages; does nothing where there is no apt-get or no way to become root. Prints the last line of what failed. */
export function install(packages) {
  const root = asRoot();
  if (root === undefined || !onPath("apt-get")) return;
  console.log(`Installing ${packages.join(", ")} for the tests …`);
  const [command, ...args] = [...root, "sh", "-c", INSTALL, "install", ...packages];
  const run = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (run.status !== 0) console.log((run.stderr || run.stdout || String(run.error)).trim().split("\n").at(-1));
}
