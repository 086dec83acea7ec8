/** Servers with TLS for these suites: ours and real ones, each with a plain port for the test and a TLS port. */
import { freePort } from "../conformance/redis-server.ts";
import type { Wire } from "../conformance/wire.ts";
import type { TestCertificates } from "../kit/certificates.ts";
import { openTlsWire } from "../kit/tls-wire.ts";
import { type Directives, type Kind, Server } from "../replication/servers.ts";

export interface TlsServer {
  readonly server: Server;
  readonly tlsPort: number;
  /** A connection over TLS, with the client's certificate. */
  wire(): Promise<Wire>;
}

export async function startTls(
  kind: Kind,
  certificates: TestCertificates,
  directives: Directives = {},
): Promise<TlsServer> {
  const tlsPort = await freePort();
  const tls = { ...certificates.directives, "tls-port": String(tlsPort) };
  const server = await Server.start(kind, { ...tls, ...directives });
  return { server, tlsPort, wire: () => openTlsWire(tlsPort, certificates.trust) };
}
