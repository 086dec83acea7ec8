/** Places on the earth. */
import { geo } from "../../commands/geo/geo.ts";

export const groups = [geo];
