/** redis-benchmark over TLS 1.3 against both servers: commands on connections that stay, and a handshake for each command. */
import { createServer } from "node:net";
import { TestCertificates } from "../engine/tests/kit/certificates.ts";
import { compareServers, type Row } from "./redis-benchmark.ts";
import { type BenchServer, startServer } from "./servers.ts";

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** The server, with the port that takes TLS in place of the other. */
async function startSecured(name: BenchServer["name"], flags: string[]): Promise<BenchServer> {
  const port = await freePort();
  return { ...(await startServer(name, [...flags, "--tls-port", String(port)])), port };
}

const TESTS = "get,set,incr,lpush,lrange_100";

export async function compareTls(quick: boolean): Promise<Row[]> {
  const certificates = new TestCertificates();
  const flags = Object.entries(certificates.directives).flatMap(([name, value]) => [`--${name}`, value]);
  const client = ["--cert", certificates.clientCert, "--key", certificates.clientKey];
  const tls = ["--tls", "--cacert", certificates.ca, ...client];
  const [ours, redis] = [await startSecured("cinnabar", flags), await startSecured("redis", flags)];
  const scale = quick ? 0.05 : 1;
  const compare = (pipeline: number, requests: number, extra: string[]) =>
    compareServers(ours, redis, {
      pipeline,
      requests: Math.round(requests * scale),
      rounds: quick ? 1 : 3,
      extra: [...tls, ...extra],
    });
  try {
    const named = (rows: Row[], how: string) => rows.map((row) => ({ ...row, test: `${row.test}, ${how}` }));
    return [
      ...named(compare(1, 100_000, ["-t", TESTS]), "no pipelining"),
      ...named(compare(16, 300_000, ["-t", TESTS]), "pipeline of 16"),
      ...named(compare(1, 5_000, ["-t", "get", "-k", "0"]), "a handshake each"),
    ];
  } finally {
    await Promise.all([ours.stop(), redis.stop()]);
    certificates.remove();
  }
}
