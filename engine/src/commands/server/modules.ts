/** MODULE: native modules cannot be loaded, so none is ever listed. Who may call it is checked as in Redis. */
import type { Client } from "../../core/client.ts";
import type { ReplyError } from "../../core/errors.ts";
import { MODULE_NOT_ALLOWED, MODULE_NOT_LOADED, NO_SUCH_MODULE } from "../../core/rare-errors.ts";
import { type Flag, group, type Row } from "../../table/command.ts";
import { withHelp } from "../shared/help.ts";
import { isAllowed } from "../shared/permission.ts";

const ADMIN: readonly Flag[] = ["admin", "noscript"];

const refusing = (
  name: string,
  arity: number,
  since: string,
  summary: string,
  syntax: string,
  error: ReplyError,
): Row => ({
  name,
  arity,
  flags: [...ADMIN, "no_async_loading"],
  since,
  summary,
  syntax,
  reply: '"OK"',
  complexity: "O(1)",
  run(client: Client) {
    throw isAllowed(client, client.engine.config.values["enable-module-command"]) ? error : MODULE_NOT_ALLOWED;
  },
});

export const modules = group("server", [
  {
    name: "module",
    arity: -2,
    flags: [],
    since: "4.0.0",
    summary: "Manages native modules, of which there are none here.",
    syntax: "",
    complexity: "depends on the subcommand",
    subcommands: withHelp("module", "5.0.0", [
      {
        name: "list",
        arity: 2,
        flags: ADMIN,
        tips: ["nondeterministic_output_order"],
        since: "4.0.0",
        summary: "Lists the modules: none.",
        syntax: "",
        reply: "Reply[]",
        complexity: "O(1)",
        run: () => [],
      },
      refusing("load", -3, "4.0.0", "Fails: modules cannot be loaded.", "path [arg [arg ...]]", MODULE_NOT_LOADED),
      refusing(
        "loadex",
        -3,
        "7.0.0",
        "Fails: modules cannot be loaded.",
        "path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]",
        MODULE_NOT_LOADED,
      ),
      refusing("unload", 3, "4.0.0", "Fails: there is no module.", "name", NO_SUCH_MODULE),
    ]),
  },
]);
