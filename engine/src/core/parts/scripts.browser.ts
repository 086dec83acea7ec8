/** Scripts and functions, which may call every command; and what speaks of all commands: COMMAND, ACL, CONFIG, DEBUG. */
import { scripting } from "../../commands/scripting/scripting.ts";
import { users } from "../../commands/server/acl.ts";
import { command } from "../../commands/server/command.ts";
import { settings } from "../../commands/server/config.ts";
import { debugging } from "../../commands/server/debug.ts";

export { Functions } from "../../scripting/functions.ts";
export { Scripts } from "../../scripting/scripts.ts";
export { AccessControl, UsersError } from "../acl/index.ts";
export { TEXTS } from "./texts.browser.ts";

export const groups = [command, debugging, scripting, settings, users];
