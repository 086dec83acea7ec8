/** CONFIG REWRITE, and DEBUG's form of it. */

import { rewriteConfigFile } from "../../config/rewrite.ts";
import type { Host } from "../../core/ports.ts";
import { configNotWritten, NO_CONFIG_FILE } from "../../core/rare-errors.ts";
import { OK, type Reply } from "../../core/reply.ts";
import { messageOf } from "../../lib/caught.ts";

/** Writes the configuration file; with `all`, directives that have their default too. */
export function rewriteConfig({ config, acl }: Pick<Host, "config" | "acl">, all = false): Reply {
  if (config.file === "") throw NO_CONFIG_FILE;
  try {
    rewriteConfigFile(config.file, config, { all, users: acl.configLines() });
  } catch (error) {
    throw configNotWritten(messageOf(error));
  }
  return OK;
}
