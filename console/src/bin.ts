/** `cinnabar`: its subcommands are in commands/, one file or folder for each. */
import { main } from "./commands/index.ts";

const code = await main(process.argv.slice(2), process);
if (code !== undefined) process.exitCode = code;
