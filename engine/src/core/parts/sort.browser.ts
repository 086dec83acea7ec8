/** SORT and LCS, which few programs call. */
import { sorting } from "../../commands/keys/sort.ts";
import { lcs } from "../../commands/strings/lcs.ts";

export const groups = [sorting, lcs];
