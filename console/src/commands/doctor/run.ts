/** Runs the checks on every primary of a store, and prints what they find. */
import { UsageError } from "../../options.ts";
import type { Streams } from "../command.ts";
import type { Arguments } from "../flags.ts";
import { onePlace } from "../link/place.ts";
import { reach } from "../link/reach.ts";
import { WholeStore } from "../link/stores.ts";
import { tlsFrom } from "../link/tls.ts";
import { examine, type Finding } from "./checks.ts";

const SIGNS = { ok: "ok      ", warning: "warning ", problem: "problem " } as const;

function linesOf({ level, what, affects, fix }: Finding): string {
  const more = [affects === undefined ? [] : [`for:  ${affects}`], fix === undefined ? [] : [`do:   ${fix}`]].flat();
  return [`${SIGNS[level]} ${what}`, ...more.map((line) => `          ${line}`)].join("\n");
}

export async function runDoctor(args: Arguments, streams: Streams): Promise<number> {
  const [target, ...more] = args.positionals;
  if (more.length > 0) throw new UsageError("name one store: cinnabar doctor URL");
  const place = onePlace(target, streams.env);
  const store = new WholeStore(await reach(place, { tls: tlsFrom(args, [place]), mustExist: true }));
  try {
    const found: Finding[] = [];
    for (const primary of await store.primaries()) found.push(...(await examine(primary)));
    if (args.has("json")) streams.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    else streams.stdout.write(`${found.map(linesOf).join("\n")}\n`);
    return found.some(({ level }) => level === "problem") ? 2 : 0;
  } finally {
    await store.close();
  }
}
