/** What the server is as a process: its title, its lines in the log, its place in the kernel's list. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Config } from "../config/config.ts";
import { Engine } from "../core/engine.ts";
import { type Level, Logger } from "./logger.ts";
import { OomScore } from "./oom-score.ts";
import { processTitle } from "./title.ts";

const folder = mkdtempSync(join(tmpdir(), "cinnabar-process-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("the title is the template with its variables", () => {
  const title = (template: string, more: Record<string, string> = {}) =>
    processTitle(
      "/bin/server",
      new Config({ port: "7000", bind: "127.0.0.1 ::1", "proc-title-template": template, ...more }).values,
      "/etc/c.conf",
    );
  expect(title("{title} {listen-addr} {server-mode}")).toBe("/bin/server 127.0.0.1:7000");
  expect(title("T {port} {tls-port} {unixsocket} {config-file}", { unixsocket: "/s" })).toBe("T 7000 0 /s /etc/c.conf");
  expect(title("{listen-addr}", { port: "0", unixsocket: "/s" })).toBe("/s");
  expect(title("{listen-addr}", { bind: "" })).toBe("*:7000");
});

it("lines of the log are Redis's, and the level changes while it runs", () => {
  const settings: { loglevel: Level; logfile: string } = { loglevel: "notice", logfile: join(folder, "log") };
  const logger = new Logger(settings, () => "S");
  logger.log("verbose", "too little");
  logger.log("warning", "enough");
  settings.loglevel = "verbose";
  logger.log("verbose", "enough now");
  const lines = readFileSync(settings.logfile, "utf8").trimEnd().split("\n");
  const moment = "\\d\\d [A-Z][a-z][a-z] \\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{3}";
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(new RegExp(`^${process.pid}:S ${moment} # enough$`));
  expect(lines[1]).toMatch(new RegExp(`^${process.pid}:S ${moment} - enough now$`));
});

const SCORE = "/proc/self/oom_score_adj";

it.skipIf(!existsSync(SCORE))("the kernel's score follows role and directives, and is restored", () => {
  const score = () => Number(readFileSync(SCORE, "latin1"));
  const own = score();
  const engine = new Engine();
  const { config, replication } = engine;
  new OomScore(engine);
  const set = (...pairs: [string, string][]) => config.set(pairs, () => true);
  expect(set(["oom-score-adj-values", "7 9 0"])).toBeUndefined();
  expect(score()).toBe(own);
  expect(set(["oom-score-adj", "relative"])).toBeUndefined();
  expect(score()).toBe(Math.min(1000, own + 7));
  replication.follow("127.0.0.1", 1);
  expect(score()).toBe(Math.min(1000, own + 9));
  replication.promote();
  // A change that fails as a whole is taken back here too.
  expect(set(["oom-score-adj", "no"], ["activedefrag", "yes"])?.name).toBe("activedefrag");
  expect(score()).toBe(Math.min(1000, own + 7));
  expect(set(["oom-score-adj", "no"])).toBeUndefined();
  expect(score()).toBe(own);
  engine.stop();
});
