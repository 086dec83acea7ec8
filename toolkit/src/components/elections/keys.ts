/**
 * The keys of an election are those of a lease (leases/keys.ts): `election:{name}`, `…:held`, `…:queue`. Here is the channel on which
 * leaders tell that they begin and end.
 */
import { tagged } from "../../base/keys.ts";

export function newsChannel(prefix: string, name: string): string {
  return `${tagged(prefix, name, "election")}:news`;
}
