/** The browser, and the build of the page, for tests and for screenshots. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";

export type { Browser, BrowserContext, Page, Request } from "playwright-core";

import { build as viteBuild } from "vite";

/** Where the browser is; undefined where there is none. */
const PROGRAM = ["chromium", "chromium-browser", "google-chrome"]
  .flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)))
  .find(existsSync);

export const hasBrowser = PROGRAM !== undefined;

export function launch(env?: Record<string, string>): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
  return chromium.launch({ executablePath: PROGRAM!, args, ...(env && { env }) });
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
