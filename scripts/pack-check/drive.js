/**
 * Starts a server and fetches a page of it, at the address that the server says, and the script that the page names: `node drive.js
 * <path> <program> <words …>`. Prints the page.
 */
import { spawn } from "node:child_process";

const LONGEST_WAIT_MS = 60_000;

const [path, program, ...words] = process.argv.slice(2);
// A group of its own: npx and Next start the server as a process of theirs.
const child = spawn(program, words, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
const deadline = setTimeout(() => process.kill(-child.pid, "SIGKILL"), LONGEST_WAIT_MS);
let said = "";
try {
  for await (const chunk of child.stdout) {
    said += chunk;
    const [, port] = /http:\/\/(?:localhost|127\.0\.0\.1):(\d+)\D/.exec(said) ?? [];
    if (port === undefined || port === "0") continue;
    const address = new URL(path, `http://127.0.0.1:${port}`);
    const text = await (await fetch(address)).text();
    const script = /<script[^>]* src="([^"]+)"/.exec(text)?.[1];
    if (script !== undefined && !(await fetch(new URL(script, address))).ok) throw new Error(`${script} is not there`);
    console.log(text);
    break;
  }
} finally {
  clearTimeout(deadline);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
