/** The server as a program with TLS and nothing else, as redis-cli and a client in need find it. */
import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, test, vi } from "vitest";
import { freePort } from "../conformance/redis-server.ts";
import { makeAuthority, TestCertificates } from "../kit/certificates.ts";
import { openTlsWire } from "../kit/tls-wire.ts";
import { type Kind, PATIENCE_MS, stopAll } from "../replication/servers.ts";
import { startTls } from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const certificates = new TestCertificates();
const { trust } = certificates;
const stranger = makeAuthority("another").issue();
const strangerCert = certificates.folder.write("stranger.pem", stranger.cert);
const strangerKey = certificates.folder.write("stranger.key", stranger.key);
afterAll(async () => {
  await stopAll();
  certificates.remove();
});

const hasCli = spawnSync("redis-cli", ["--version"]).error === undefined;
const isInstalled = spawnSync("redis-server", ["--version"]).error === undefined;

describe.each<Kind>(isInstalled ? ["ours", "redis"] : ["ours"])("%s", (kind) => {
  test("listens with TLS alone, and INFO and the log name that port", async () => {
    const { server, tlsPort, wire } = await startTls(kind, certificates, { port: "0" });
    const client = await wire();
    expect((await client.call("INFO", "server")).text).toContain(`tcp_port:${tlsPort}\r\n`);
    expect((await client.call("CONFIG", "GET", "port")).items.map(({ text }) => text)).toEqual(["port", "0"]);
    expect(server.log).toContain(`Running mode=standalone, port=${tlsPort}.`);
    await client.close();
    await server.stop();
  });
});

test.skipIf(!hasCli)("redis-cli gets in with a certificate, and hears why not without", async () => {
  const { server, tlsPort } = await startTls("ours", certificates);
  const cli = (...args: string[]) => {
    const run = spawnSync("redis-cli", ["-p", String(tlsPort), ...args, "PING"], { encoding: "utf8", timeout: 20_000 });
    return `${run.stdout}${run.stderr}`.trim();
  };
  const tls = ["--tls", "--cacert", certificates.ca];
  const own = ["--cert", certificates.clientCert, "--key", certificates.clientKey];
  expect(cli(...tls, ...own)).toBe("PONG");
  expect(cli(...tls)).toContain("asks clients for a certificate");
  expect(cli(...tls, "--cert", strangerCert, "--key", strangerKey)).toContain("not accepted");
  expect(cli()).toContain("This port takes TLS only");
  expect(cli("--tls", "--cacert", strangerCert)).toContain("certificate verify failed");
  const plain = spawnSync("redis-cli", ["-p", String(server.port), ...tls, "PING"], {
    encoding: "utf8",
    timeout: 20_000,
  });
  expect(plain.stderr).toMatch(/SSL_connect failed: (wrong version number|packet length too long)/);
  await server.stop();
});

test("a script that holds the thread can be ended over TLS", async () => {
  const { server, tlsPort } = await startTls("ours", certificates, { "busy-reply-threshold": "50" });
  const [caller, first, second] = await Promise.all([1, 2, 3].map(() => openTlsWire(tlsPort, trust)));
  for (const wire of [caller!, first!, second!]) expect((await wire.call("PING")).text).toBe("PONG");
  const running = caller!.call("EVAL", "while true do end", "0");
  // It may be asked before the script begins, and is then answered as usual.
  let answer = await first!.call("GET", "k");
  for (let i = 0; i < 1000 && answer.tag !== "-"; i++) answer = await first!.call("GET", "k");
  expect(answer.text).toMatch(/^BUSY/);
  expect((await second!.call("SCRIPT", "KILL")).text).toBe("OK");
  expect((await running).text).toMatch(/Script killed by user/);
  for (const wire of [caller!, first!, second!]) expect((await wire.call("PING")).text).toBe("PONG");
  await Promise.all([caller!, first!, second!].map((wire) => wire.close()));
  await server.stop();
});

test("a port that is taken is named", async () => {
  const port = await freePort();
  const { server } = await startTls("ours", certificates, { "tls-port": String(port) });
  await expect(startTls("ours", certificates, { "tls-port": String(port) })).rejects.toThrow(
    `Failed listening on port ${port} (TLS) of 127.0.0.1: the port is taken, choose another with --tls-port`,
  );
  await server.stop();
});
