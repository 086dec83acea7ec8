/** The browser, and the build of the page, for tests and for screenshots. */
import { existsSync, readlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, chromium } from "playwright-core";

export type { Browser, BrowserContext, Page, Request } from "playwright-core";

import { build as viteBuild } from "vite";

/** Where the browser is; undefined where there is none. */
const PROGRAM = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)))
  .find(existsSync);

export const hasBrowser = PROGRAM !== undefined;

const ARGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];

/** At `npm run test:times` Chromium has the system's clock: on libfaketime its threads never rest, and the machine is busy with them. */
function options() {
  const { FAKETIME, LD_PRELOAD, ...rest } = process.env;
  const env = rest as Record<string, string>;
  return { executablePath: PROGRAM!, args: ARGS, ...(FAKETIME !== undefined && { env }) };
}

const { FAKETIME } = process.env;

/** A script that moves a page's or a worker's dates as those of all other processes are moved; empty where they are not. */
export const MOVED_DATES =
  FAKETIME === undefined
    ? ""
    : `{
    const System = Date;
    const now = () => System.now() + ${Number.parseInt(FAKETIME, 10) * 1_000};
    globalThis.Date = new Proxy(System, {
      construct: (_, args, target) => Reflect.construct(System, args.length === 0 ? [now()] : args, target),
      apply: () => new System(now()).toString(),
      get: (_, name) => (name === "now" ? now : System[name]),
    });
  }`;

export function launch(): Promise<Browser> {
  return chromium.launch(options());
}

/** A browser that keeps what it has in a folder, as somebody's own does. `kill` ends its process without a warning. */
export async function launchFrom(
  profile: string,
): Promise<{ readonly context: BrowserContext; readonly kill: () => Promise<void> }> {
  const context = await chromium.launchPersistentContext(profile, options());
  const gone = new Promise<void>((resolve) => context.once("close", () => resolve()));
  const kill = (): Promise<void> => {
    // Chromium's lock on the folder is a link to "<host>-<pid>".
    const pid = Number(readlinkSync(join(profile, "SingletonLock")).split("-").at(-1));
    process.kill(pid, "SIGKILL");
    return gone;
  };
  return { context, kill };
}

/** Builds the page as it is published: tests have another NODE_ENV, which would build React's form for developers. */
export async function build(outDir: string): Promise<void> {
  const configFile = fileURLToPath(new URL("../vite.config.js", import.meta.url));
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = "production";
  try {
    await viteBuild({ configFile, logLevel: "error", build: { outDir, emptyOutDir: true } });
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };
