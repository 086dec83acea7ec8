/** Who may call DEBUG and set protected directives: nobody, everybody, or clients on the same machine. */
import type { Client } from "../../core/client.ts";

export function isAllowed({ transport }: Client, guard: "no" | "yes" | "local"): boolean {
  if (guard !== "local") return guard === "yes";
  // An embedder and a unix socket have no address with a port of a network.
  return transport.fd < 0 || /^(?:127\.|\[?::1\]?:|\/|unix)/.test(transport.address);
}
