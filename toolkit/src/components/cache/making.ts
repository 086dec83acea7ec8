import { integer } from "../../base/checks.ts";
import { checkTags, listed } from "./options.ts";
import type { EntryOptions, Loading } from "./types.ts";

/** What a loader may say of its value while it makes it. Most say nothing: the functions are made when they are asked for. */
export class Making implements Loading {
  /** How the value is to be kept; null if it is not. */
  kept: EntryOptions | null;

  constructor(options: EntryOptions) {
    this.kept = options;
  }

  get skip(): () => void {
    return () => {
      this.kept = null;
    };
  }

  get tag(): (tags: string | readonly string[]) => void {
    return (tags) => {
      if (this.kept !== null) this.kept = { ...this.kept, tags: [...(this.kept.tags ?? []), ...listed(tags)] };
      checkTags(this.kept?.tags);
    };
  }

  get freshFor(): (freshMs: number) => void {
    return (freshMs) => {
      if (this.kept !== null) this.kept = { ...this.kept, freshMs: integer("freshFor", freshMs, 1) };
    };
  }
}
