/** A real terminal for tests: a program in tmux, keys that are typed, and the screen as a person sees it. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";

export class Terminal {
  readonly #socket = `cinnabar-${randomBytes(6).toString("hex")}`;

  constructor(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    this.#tmux("-f", "/dev/null", "new-session", "-d", "-x", "180", "-y", "400", ...variables, quoted);
  }

  #tmux(...args: string[]): string {
    const run = spawnSync("tmux", ["-L", this.#socket, ...args], { encoding: "utf8" });
    if (run.status !== 0) throw new Error(`tmux ${args[0]}: ${run.stderr}`);
    return run.stdout;
  }

  type(text: string): void {
    this.#tmux("send-keys", "-l", "--", text);
  }

  press(key: string): void {
    this.#tmux("send-keys", key);
  }

  /** Lines down to the last that has something. */
  get screen(): string {
    return this.#tmux("capture-pane", "-p").trimEnd();
  }

  /** Ends the terminal and what runs in it. */
  close(): void {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"]);
  }
}
