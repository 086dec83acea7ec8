/** The tls-* directives at run time: the same words to a real Redis and to us, and the same answers. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort, yardstickMissing } from "../conformance/redis-server.ts";
import { makeAuthority, TestCertificates } from "../kit/certificates.ts";
import { openTls, pingOver } from "../kit/tls-wire.ts";
import { PATIENCE_MS, Server, stopAll } from "../replication/servers.ts";
import { startTls, type TlsServer } from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const certificates = new TestCertificates();
const { folder, authority, trust } = certificates;
const encrypted = authority.issue({ name: "encrypted", hosts: ["127.0.0.1"], passphrase: "sesame" });
const encryptedCert = folder.write("encrypted.pem", encrypted.cert);
const encryptedKey = folder.write("encrypted.key", encrypted.key);
folder.write(authority.fileName, authority.cert);

const missing = yardstickMissing();
if (missing !== undefined) console.warn(`without a comparison: ${missing}`);
const kinds = missing === undefined ? (["redis", "ours"] as const) : (["ours"] as const);

let ours: TlsServer;
let servers: TlsServer[];
beforeAll(async () => {
  servers = await Promise.all(kinds.map((kind) => startTls(kind, certificates)));
  ours = servers.at(-1)!;
});
afterAll(async () => {
  await stopAll();
  certificates.remove();
});

const REFUSED = (name: string) =>
  `ERR CONFIG SET failed (possibly related to argument '${name}') - Unable to update TLS configuration. Check server logs.`;

/** What all of them answer, which must be the same. */
async function ask(...words: string[]): Promise<string> {
  const answers = await Promise.all(servers.map(({ server }) => server.call(...words)));
  const texts = answers.map(({ text, items }) =>
    items.length === 0 ? text : items.map((each) => each.text).join(" "),
  );
  for (const text of texts) expect(text).toBe(texts[0]);
  return texts[0]!;
}

describe("CONFIG SET", () => {
  const files = { cert: certificates.cert, key: certificates.key, ca: certificates.ca };

  test.each<[string, ...string[]]>([
    ["tls-cert-file", "/nowhere"],
    ["tls-cert-file", certificates.clientCert],
    ["tls-key-file", certificates.clientKey],
    ["tls-cert-file", encryptedCert, "tls-key-file", encryptedKey],
    ["tls-ca-cert-file", ""],
    ["tls-protocols", "SSLv3"],
    ["tls-ciphers", "nonsense"],
    ["tls-ciphersuites", "nonsense"],
    ["tls-dh-params-file", "/nowhere"],
  ])("of what does not work is refused and changes nothing: %s %s", async (...words) => {
    const before = await ask("CONFIG", "GET", words[0]!);
    expect(await ask("CONFIG", "SET", ...words)).toBe(REFUSED(words[0]!));
    expect(await ask("CONFIG", "GET", words[0]!)).toBe(before);
    for (const { tlsPort } of servers) expect(await pingOver(tlsPort, trust)).toBe("+PONG");
  });

  test.each<[string, ...string[]]>([
    ["tls-cert-file", encryptedCert, "tls-key-file", encryptedKey, "tls-key-file-pass", "sesame"],
    ["tls-cert-file", files.cert, "tls-key-file", files.key, "tls-key-file-pass", ""],
    ["tls-ca-cert-dir", folder.path, "tls-ca-cert-file", ""],
    ["tls-ca-cert-dir", "", "tls-ca-cert-file", files.ca],
    ["tls-client-cert-file", certificates.clientCert, "tls-client-key-file", certificates.clientKey],
    ["tls-client-cert-file", "", "tls-client-key-file", ""],
    ["tls-protocols", "TLSv1.2"],
    ["tls-protocols", ""],
    ["tls-ciphers", "ECDHE-ECDSA-AES256-GCM-SHA384"],
    ["tls-ciphers", ""],
    ["tls-ciphersuites", "TLS_AES_128_GCM_SHA256"],
    ["tls-ciphersuites", ""],
    ["tls-prefer-server-ciphers", "yes"],
    ["tls-session-caching", "no"],
    ["tls-session-caching", "yes", "tls-session-cache-size", "100", "tls-session-cache-timeout", "60"],
  ])("of what works is in force at once: %s %s", async (...words) => {
    expect(await ask("CONFIG", "SET", ...words)).toBe("OK");
    await ask("CONFIG", "GET", words[0]!);
    for (const { tlsPort } of servers) expect(await pingOver(tlsPort, trust)).toBe("+PONG");
  });

  test("shows the password of a key as Redis does", async () => {
    expect(await ask("CONFIG", "SET", "tls-key-file-pass", "secret")).toBe("OK");
    expect(await ask("CONFIG", "GET", "tls-key-file-pass")).toBe("tls-key-file-pass secret");
    expect(await ask("CONFIG", "SET", "tls-key-file-pass", "")).toBe("OK");
  });

  test("of the protocols and ciphers decides what is spoken", async () => {
    const spoken = async ({ tlsPort }: TlsServer, options: object) => {
      const socket = await openTls(tlsPort, { ...trust, ...options });
      const { name } = socket.getCipher();
      const protocol = socket.getProtocol();
      socket.destroy();
      return `${protocol} ${name}`;
    };
    await ask("CONFIG", "SET", "tls-protocols", "TLSv1.2", "tls-ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256");
    for (const each of servers) expect(await spoken(each, {})).toBe("TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256");
    await ask("CONFIG", "SET", "tls-protocols", "TLSv1.3", "tls-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256");
    for (const each of servers) {
      expect(await spoken(each, {})).toBe("TLSv1.3 TLS_CHACHA20_POLY1305_SHA256");
      expect(await pingOver(each.tlsPort, { ...trust, maxVersion: "TLSv1.2" })).toContain("ALERT_PROTOCOL_VERSION");
    }
    await ask("CONFIG", "SET", "tls-protocols", "", "tls-ciphers", "", "tls-ciphersuites", "");
  });

  test("of tls-auth-clients decides who has to show a certificate", async () => {
    const { ca } = trust;
    expect(await ask("CONFIG", "SET", "tls-auth-clients", "no")).toBe("OK");
    for (const { tlsPort } of servers) expect(await pingOver(tlsPort, { ca })).toBe("+PONG");
    expect(await ask("CONFIG", "SET", "tls-auth-clients", "yes")).toBe("OK");
    for (const { tlsPort } of servers) expect(await pingOver(tlsPort, { ca })).not.toBe("+PONG");
  });

  test("of tls-port moves, switches off and on, and answers when the port is taken", async () => {
    for (const each of servers) {
      const { server, tlsPort } = each;
      const other = await freePort();
      expect(await server.ask("CONFIG", "SET", "tls-port", String(other))).toBe("OK");
      expect(await pingOver(other, trust)).toBe("+PONG");
      expect(await pingOver(tlsPort, trust)).toBe("ECONNREFUSED");
      const taken = await server.call("CONFIG", "SET", "tls-port", String(server.port));
      expect(taken.text).toContain("Unable to listen on this port. Check server logs.");
      expect(await pingOver(other, trust)).toBe("+PONG");
      expect(await server.ask("CONFIG", "SET", "tls-port", "0")).toBe("OK");
      expect(await pingOver(other, trust)).toBe("ECONNREFUSED");
      expect(await server.ask("CONFIG", "SET", "tls-port", String(tlsPort))).toBe("OK");
      expect(await pingOver(tlsPort, trust)).toBe("+PONG");
    }
  });
});

test("a certificate that was renewed in place is taken by CONFIG SET with the same path, and connections stay", async () => {
  const shown = async (port: number) => {
    const socket = await openTls(port, trust);
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return String(subject.CN);
  };
  const [cert, key] = [readFileSync(certificates.cert), readFileSync(certificates.key)];
  const renewed = authority.issue({ name: "renewed", hosts: ["127.0.0.1"] });
  const open = await Promise.all(servers.map((each) => each.wire()));
  for (const { tlsPort } of servers) expect(await shown(tlsPort)).toBe("server");
  writeFileSync(certificates.cert, renewed.cert);
  // Only half of it is there: nothing changes.
  expect(await ask("CONFIG", "SET", "tls-cert-file", certificates.cert)).toBe(REFUSED("tls-cert-file"));
  for (const { tlsPort } of servers) expect(await shown(tlsPort)).toBe("server");
  writeFileSync(certificates.key, renewed.key);
  expect(await ask("CONFIG", "SET", "tls-cert-file", certificates.cert)).toBe("OK");
  for (const { tlsPort } of servers) expect(await shown(tlsPort)).toBe("renewed");
  for (const wire of open) expect((await wire.call("PING")).text).toBe("PONG");
  writeFileSync(certificates.cert, cert);
  writeFileSync(certificates.key, key);
  expect(await ask("CONFIG", "SET", "tls-key-file", certificates.key)).toBe("OK");
  for (const wire of open) await wire.close();
});

test("an authority that is not trusted any more shuts its clients out, sessions or not", async () => {
  const other = makeAuthority("another");
  const ca = folder.write("other-ca.pem", other.cert);
  let session: Buffer | undefined;
  const socket = await openTls(ours.tlsPort, trust);
  socket.on("session", (made: Buffer) => {
    session = made;
  });
  await new Promise<void>((resolve) => {
    socket.once("data", () => resolve());
    socket.write("PING\r\n");
  });
  await vi.waitUntil(() => session !== undefined);
  socket.destroy();
  expect(await ours.server.ask("CONFIG", "SET", "tls-ca-cert-file", ca)).toBe("OK");
  expect(await pingOver(ours.tlsPort, { ...trust, session: session! })).toContain("not accepted");
  expect(await ours.server.ask("CONFIG", "SET", "tls-ca-cert-file", certificates.ca)).toBe("OK");
  expect(await pingOver(ours.tlsPort, trust)).toBe("+PONG");
});

test.each(kinds)("TLS is switched on at run time, all settings in one call (%s)", async (kind) => {
  const server = await Server.start(kind);
  const port = await freePort();
  const before = await server.call("CONFIG", "SET", "tls-port", String(port));
  expect(before.text).toBe(REFUSED("tls-port"));
  expect(await pingOver(port, trust)).toBe("ECONNREFUSED");
  // Files are not looked at while nothing uses them.
  expect(await server.ask("CONFIG", "SET", "tls-cert-file", "/nowhere")).toBe("OK");
  const settings = Object.entries({ ...certificates.directives, "tls-port": String(port) }).flat();
  expect(await server.ask("CONFIG", "SET", ...settings)).toBe("OK");
  expect(await pingOver(port, trust)).toBe("+PONG");
  await server.stop();
});

test("the log names the file and the reason", async () => {
  await ours.server.call("CONFIG", "SET", "tls-cert-file", "/nowhere/cert.pem");
  expect(ours.server.log).toContain("Failed to load certificate: /nowhere/cert.pem: ENOENT");
});
