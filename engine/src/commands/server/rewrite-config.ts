/** CONFIG REWRITE, and DEBUG's form of it. */

import type { Config } from "../../config/config.ts";
import { rewriteConfigFile } from "../../config/rewrite.ts";
import { configNotWritten, NO_CONFIG_FILE } from "../../core/errors.ts";
import { OK, type Reply } from "../../core/reply.ts";
import { messageOf } from "../../lib/caught.ts";

/** Writes the configuration file; with `all`, directives that have their default too. */
export function rewriteConfig({ config }: { readonly config: Config }, all = false): Reply {
  if (config.file === "") throw NO_CONFIG_FILE;
  try {
    rewriteConfigFile(config.file, config, all);
  } catch (error) {
    throw configNotWritten(messageOf(error));
  }
  return OK;
}
