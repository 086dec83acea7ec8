/**
 * Makes sure of Chromium, in which the console's page is tested. Quick and silent when it is there; installs Debian's package where
 * it may; otherwise says in one line what is missing and what is skipped, and lets the tests go on.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

function onPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const found = () => ["chromium", "chromium-browser", "google-chrome"].some(onPath);

/** The words to put before a command so that it runs as root, or undefined where that is not possible. */
function asRoot() {
  if (process.getuid?.() === 0) return [];
  const mayBecome = onPath("sudo") && spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0;
  return mayBecome ? ["sudo", "-n"] : undefined;
}

if (!found()) {
  const root = asRoot();
  if (root !== undefined && onPath("apt-get")) {
    console.log("Installing chromium for the tests …");
    const script =
      "export DEBIAN_FRONTEND=noninteractive; apt-get update -q && apt-get install -q -y --no-install-recommends chromium";
    const [command, ...args] = [...root, "sh", "-c", script];
    const run = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26 });
    if (run.status !== 0) console.log((run.stderr || run.stdout || String(run.error)).trim().split("\n").at(-1));
  }
  if (!found()) console.log("Missing: chromium. Skipped: the console's browser tests.");
}
