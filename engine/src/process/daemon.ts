/**
 * daemonize: the program starts itself once more, detached from the terminal and without its streams, and ends. There is no
 * fork here; the second process reads the same configuration, so it gets the same words and the same standard input.
 */
import { spawn } from "node:child_process";

const MARK = "CINNABAR_DAEMON";

/** Whether this is the second process. Says so once only, so that programs which it starts do not inherit it. */
export function isDaemon(): boolean {
  const marked = process.env[MARK] !== undefined;
  delete process.env[MARK];
  return marked;
}

export function becomeDaemon(stdin: string): void {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { ...process.env, [MARK]: "1" },
  });
  child.stdin.end(stdin, "latin1");
  child.unref();
}
