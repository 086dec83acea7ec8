/**
 * A selector's commands as rules, as ACL LIST and the files have them.
 *
 * Which rules were given is not kept: they are found again from the commands that are allowed, as Redis 7.0 does it. The
 * description begins with all commands or none. Then, again and again, it takes the category that has the fewest commands
 * which are the other way round, as long as more of its commands fit than do not; the rest are named one by one. As the
 * rules are found they are applied to a second selector, and the difference between the two is what is left to say.
 */
import { CATEGORIES } from "../../table/command-info.ts";
import type { Catalog } from "./catalog.ts";
import type { Selector } from "./selector.ts";

export function describeCommands(selector: Selector, catalog: Catalog): string {
  const adds = !selector.future;
  const rules = [adds ? "-@all" : "+@all"];
  const said = selector.copy();
  said.allowAll(!adds);
  addCategories(selector, catalog, { adds, rules, said });
  for (const command of catalog.commands) {
    const allowed = selector.allows(command);
    if (allowed !== said.allows(command)) {
      rules.push(`${allowed ? "+" : "-"}${command.name}`);
      said.allow(command, allowed);
    }
    if (allowed) continue;
    for (const word of selector.firstArguments(command)) rules.push(`+${command.name}|${word}`);
  }
  return rules.join(" ");
}

interface Description {
  /** Whether rules add to nothing, or take away from everything. */
  readonly adds: boolean;
  readonly rules: string[];
  /** What the rules so far allow. */
  readonly said: Selector;
}

function addCategories(selector: Selector, catalog: Catalog, { adds, rules, said }: Description): void {
  const left = selector.copy();
  const unused = new Set<string>(CATEGORIES);
  for (;;) {
    let best: { readonly name: string; readonly other: number; readonly same: number } | null = null;
    for (const name of unused) {
      let same = 0;
      let other = 0;
      for (const command of catalog.decisive(name)) {
        if (left.allows(command) === adds) same++;
        else other++;
      }
      if (same <= other) continue;
      if (best === null || other < best.other || (other === best.other && same > best.same))
        best = { name, other, same };
    }
    if (best === null) return;
    rules.push(`${adds ? "+" : "-"}@${best.name}`);
    said.allowCategory(best.name, adds);
    left.allowCategory(best.name, !adds);
    unused.delete(best.name);
  }
}
