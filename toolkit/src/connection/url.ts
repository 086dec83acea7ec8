/** The URLs that `open` takes. */
import { InputError } from "../errors.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";

export async function openUrl(url: string, _options: OpenOptions): Promise<Driver> {
  throw new InputError(`"${url}" is no URL that open() knows`);
}
