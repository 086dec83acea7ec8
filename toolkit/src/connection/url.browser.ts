/** Servers are reached over sockets, which browsers do not have. */
import { UnsupportedError } from "../base/errors.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";

export function openUrl(url: string, _options: OpenOptions): Promise<Driver> {
  const scheme = url.slice(0, url.indexOf("://"));
  throw new UnsupportedError(
    `a browser cannot connect to a ${scheme}:// server: open() or open("./folder") keeps the store in the browser; for a server, call an API of your own that uses cinnabar in Node.js`,
  );
}
