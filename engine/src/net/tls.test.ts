/** Clients over TLS: who gets in, what the others are told, and that nobody can hold a place without finishing a handshake. */
import { connect as connectPlain, createServer } from "node:net";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { Prng } from "../../tests/conformance/prng.ts";
import { makeAuthority, TestCertificates } from "../../tests/kit/certificates.ts";
import { eventually, Peer } from "../../tests/kit/test-peer.ts";
import { openTls, openTlsWire, pingOver } from "../../tests/kit/tls-wire.ts";
import { EmbeddedEngine } from "../embed/embedded.ts";
import { fromOptions } from "../tls/settings.ts";
import { TlsAcceptor } from "./tls-acceptor.ts";

const certificates = new TestCertificates();
const { authority, server, trust } = certificates;
const stranger = makeAuthority("another authority").issue({ name: "stranger" });
const expired = authority.issue({ name: "expired", days: [-10, -1] });
afterAll(() => certificates.remove());

let engine: EmbeddedEngine;
let port: number;
let logged: string[];

beforeEach(async () => {
  engine = await EmbeddedEngine.open();
  logged = [];
  engine.core.log = (_, message) => void logged.push(message);
  ({ port } = await engine.listen({ port: 0, tls: { ...server, ca: authority.cert } }));
});
afterEach(() => engine.close());

const isLogged = (text: string) => eventually(() => logged.some((line) => line.includes(text)));

test.each(["TLSv1.2", "TLSv1.3"] as const)("commands, large replies and subscriptions over %s", async (maxVersion) => {
  const wire = await openTlsWire(port, { ...trust, maxVersion });
  const large = "x".repeat(5_000_000);
  expect((await wire.call("SET", "large", large)).text).toBe("OK");
  expect((await wire.call("GET", "large")).text).toBe(large);
  const many = await wire.pipeline(Array.from({ length: 5000 }, (_, i) => ["ECHO", String(i)]));
  expect(many.map(({ text }) => Number(text))).toEqual(many.map((_, i) => i));
  expect((await wire.call("CLIENT", "LIST")).text).toMatch(new RegExp(`laddr=127.0.0.1:${port} fd=\\d+ .*db=0`));
  await wire.close();
  expect(await eventually(() => engine.core.clients.size === 0)).toBe(true);
});

describe("a client is told why it is refused, and so is the log", () => {
  test("without a certificate", async () => {
    const { ca } = trust;
    expect(await pingOver(port, { ca })).toBe("-ERR This server asks clients for a certificate, and none was sent.");
    expect(await isLogged("Error accepting a client connection: ERR This server asks clients for a cert")).toBe(true);
  });

  test("with the certificate of another authority", async () => {
    const answer = await pingOver(port, { ...trust, ...stranger });
    expect(answer).toBe("-ERR The certificate of this client is not accepted: UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    expect(await isLogged("not accepted: UNABLE_TO_VERIFY")).toBe(true);
  });

  test("with a certificate that has expired", async () => {
    expect(await pingOver(port, { ...trust, ...expired })).toContain("not accepted: CERT_HAS_EXPIRED");
  });

  test("with TLS 1.1", async () => {
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    expect(await pingOver(port, { ...trust, ...old })).toBe("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
    expect(await isLogged("Error accepting a client connection: unsupported protocol (addr=")).toBe(true);
  });

  test("without TLS", async () => {
    const peer = new Peer(port).write("PING\r\n");
    expect(await peer.rest()).toBe("-ERR This port takes TLS only. Connect with rediss:// or redis-cli --tls.\r\n");
    expect(await isLogged("it does not use TLS")).toBe(true);
  });

  test("with TLS on a port without", async () => {
    const plain = await engine.listen({ port: 0 });
    expect(await pingOver(plain.port, trust)).toMatch(/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/);
    expect(await isLogged("it uses TLS on a port without")).toBe(true);
  });

  test("that trusts somebody else", async () => {
    expect(await pingOver(port, { ...trust, ca: makeAuthority("another").cert })).toMatch(
      /SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY/,
    );
    expect(await isLogged("Error accepting a client connection: ")).toBe(true);
  });

  test("that expects another name", async () => {
    expect(await pingOver(port, { ...trust, servername: "elsewhere.example" })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });
});

test("an optional certificate may be missing, but not wrong", async () => {
  const { port: other } = await engine.listen({
    port: 0,
    tls: { ...server, ca: authority.cert, authClients: "optional" },
  });
  expect(await pingOver(other, { ca: trust.ca })).toBe("+PONG");
  expect(await pingOver(other, trust)).toBe("+PONG");
  expect(await pingOver(other, { ...trust, ...stranger })).toContain("not accepted");
});

describe("a session", () => {
  /** Connects, and comes back with the session; how both end. */
  async function twice(options: object): Promise<string[]> {
    let session: Buffer | undefined;
    const answers: string[] = [];
    for (let i = 0; i < 2; i++) {
      const socket = connect({ host: "127.0.0.1", port, ...options, ...(session === undefined ? {} : { session }) });
      socket.on("session", (made: Buffer) => {
        session = made;
      });
      socket.on("error", () => {});
      socket.write("PING\r\n");
      const said = await new Promise<string>((resolve) => {
        socket.once("data", (data: Buffer) => resolve(data.toString().trim()));
        socket.once("close", () => resolve("closed"));
      });
      answers.push(`${said}${socket.isSessionReused() ? " again" : ""}`);
      socket.destroy();
    }
    return answers;
  }

  test.each(["TLSv1.2", "TLSv1.3"] as const)(
    "of %s is resumed with the certificate that made it",
    async (maxVersion) => {
      expect(await twice({ ...trust, maxVersion })).toEqual(["+PONG", "+PONG again"]);
    },
  );

  test.each(["TLSv1.2", "TLSv1.3"] as const)("of %s lets nobody in who was refused", async (maxVersion) => {
    for (const refused of [{ ca: trust.ca }, { ...trust, ...stranger }, { ...trust, ...expired }]) {
      const [first, second] = await twice({ ...refused, maxVersion });
      expect(first).toMatch(/^-ERR /);
      expect(second).toMatch(/^-ERR /);
    }
  });
});

test("a connection that comes before there are settings is ended", async () => {
  const said: string[] = [];
  const acceptor = new TlsAcceptor({
    settings: () => {
      throw new Error("No tls-cert-file configured!");
    },
    log: (_, message) => void said.push(message),
    secured: () => said.push("secured"),
  });
  const listening = createServer((socket) => acceptor.accept(socket));
  await new Promise<void>((resolve) => void listening.listen(0, "127.0.0.1", resolve));
  const { port: at } = listening.address() as { port: number };
  expect(await pingOver(at, trust)).toMatch(/ECONNRESET|closed/);
  expect(await eventually(() => said[0]?.includes("No tls-cert-file configured!") === true)).toBe(true);
  await new Promise((resolve) => listening.close(resolve));
});

describe("half-open handshakes", () => {
  test("end when their time is over, whatever trickles in", async () => {
    const settings = fromOptions(server);
    const said: string[] = [];
    const acceptor = new TlsAcceptor({
      settings: () => settings,
      log: (_, message) => void said.push(message),
      secured: () => said.push("secured"),
      handshakeMs: 150,
    });
    const listening = createServer((socket) => acceptor.accept(socket));
    await new Promise<void>((resolve) => void listening.listen(0, "127.0.0.1", resolve));
    const { port: at } = listening.address() as { port: number };
    const silent = new Peer(at);
    const trickling = new Peer(at).write(Buffer.from([0x16, 0x03, 0x01, 0x02]));
    const drip = setInterval(() => trickling.write(Buffer.from([0])), 20);
    await Promise.all([silent.until(() => false), trickling.until(() => false)]);
    clearInterval(drip);
    expect(await eventually(() => acceptor.pending === 0 && said.length === 2)).toBe(true);
    for (const line of said) expect(line).toContain("no handshake within 150 ms");
    await new Promise((resolve) => listening.close(resolve));
  });

  test("count as clients while they last", async () => {
    await engine.connect().call("CONFIG", "SET", "maxclients", "3");
    const silent = [new Peer(port), new Peer(port)];
    await eventually(() => silent.every(({ socket }) => socket.readyState === "open"));
    expect(await pingOver(port, trust)).toMatch(/ECONNRESET|closed/);
    expect(engine.core.stats.rejectedConnections).toBe(1);
    for (const { socket } of silent) socket.destroy();
    await eventually(() => false, 50);
    expect(await pingOver(port, trust)).toBe("+PONG");
  });

  test("do not outlive the engine", async () => {
    const silent = new Peer(port);
    await eventually(() => silent.socket.readyState === "open");
    await engine.close();
    expect(await eventually(() => silent.ended)).toBe(true);
  });
});

test("a client that leaves in the middle of a handshake harms nobody", async () => {
  for (let i = 0; i < 50; i++) {
    const socket = connectPlain({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x00, 0xff, 1, 2, 3]), () => {
      if (i % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    });
  }
  expect(await pingOver(port, trust)).toBe("+PONG");
  const ended = () => logged.filter((line) => line.includes("Error accepting a client connection")).length >= 25;
  expect(await eventually(ended)).toBe(true);
});

test("bytes that only look like a handshake harm nobody", async () => {
  const chance = new Prng(7);
  const peers = Array.from({ length: 200 }, () => {
    const bytes = Buffer.from(Array.from({ length: 1 + chance.below(400) }, () => chance.below(256)));
    bytes.set([0x16, 0x03, 0x01].slice(0, bytes.length));
    return new Peer(port).write(bytes);
  });
  expect(await pingOver(port, trust)).toBe("+PONG");
  for (const { socket } of peers) socket.end();
  expect(await eventually(() => peers.every(({ ended }) => ended))).toBe(true);
});

test("a client that does not read is ended at its limit", async () => {
  const client = engine.connect();
  await client.call("CONFIG", "SET", "client-output-buffer-limit", "normal 4mb 0 0");
  await client.call("SET", "large", "x".repeat(1_000_000));
  const socket = await openTls(port, trust);
  socket.on("error", () => {});
  socket.pause();
  socket.write("GET large\r\n".repeat(100));
  expect(await eventually(() => engine.core.stats.outputLimitDisconnections === 1)).toBe(true);
  expect(await eventually(() => engine.core.clients.size === 1)).toBe(true);
  socket.destroy();
});

test("an address that is left lets its clients stay, and can be taken up with another certificate", async () => {
  const wire = await openTlsWire(port, trust);
  engine.stopListening({ host: "127.0.0.1", port, path: null });
  const renewed = authority.issue({ name: "renewed", hosts: ["127.0.0.1"] });
  await engine.listen({ port, tls: { ...renewed, ca: authority.cert } });
  expect((await wire.call("PING")).text).toBe("PONG");
  const socket = await openTls(port, trust);
  expect(socket.getPeerCertificate().subject.CN).toBe("renewed");
  socket.destroy();
  await wire.close();
});

describe("a client that waits", () => {
  const isBlocked = () => eventually(() => engine.core.blocking.size === 1);
  /** In the same step in which the peer goes: the event loop has had no turn to notice. */
  const pushAndLook = () => {
    const client = engine.connect();
    client.callSync("RPUSH", "q", "element");
    expect(client.callSync("LLEN", "q")).toBe(1);
    expect(engine.core.blocking.size).toBe(0);
  };

  test("gets what comes, and what it has sent behind its command is run", async () => {
    const wire = await openTlsWire(port, trust);
    const answers = wire.pipeline([["BLPOP", "q", "0"], ...Array.from({ length: 100 }, () => ["ECHO", "behind"])]);
    expect(await isBlocked()).toBe(true);
    engine.connect().callSync("RPUSH", "q", "element");
    const [popped, ...rest] = await answers;
    expect(popped!.items.map(({ text }) => text)).toEqual(["q", "element"]);
    expect(rest.every(({ text }) => text === "behind")).toBe(true);
    await wire.close();
  });

  test("takes nothing once its connection was reset", async () => {
    const raw = connectPlain({ port, host: "127.0.0.1" });
    const socket = connect({ ...trust, socket: raw, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.write("BLPOP q 0\r\n");
    expect(await isBlocked()).toBe(true);
    raw.resetAndDestroy();
    pushAndLook();
  });

  test("takes nothing once it has said its last word", async () => {
    const socket = await openTls(port, trust);
    socket.write("BLPOP q 0\r\n");
    expect(await isBlocked()).toBe(true);
    await new Promise<void>((resolve, reject) => {
      socket.end(() => {
        try {
          pushAndLook();
          resolve();
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  });
});

test("directives are for listen and for replication in the process, too", async () => {
  const config = { ...certificates.directives, "tls-replication": "yes" };
  const [primary, replica] = await Promise.all([EmbeddedEngine.open({ config }), EmbeddedEngine.open({ config })]);
  const address = await primary.listen({ port: 0, tls: true });
  await primary.connect().call("SET", "key", "value");
  await replica.replicaOf("127.0.0.1", address.port);
  expect(await replica.connect().call("GET", "key")).toBe("value");
  await Promise.all([replica.close(), primary.close()]);
  await expect(EmbeddedEngine.open({ config: { "tls-replication": "yes" } })).rejects.toThrow(
    "TLS cannot be put into force: No tls-cert-file configured!",
  );
});

test("listen names what is wrong", async () => {
  await expect(engine.listen({ port: 0, tls: { cert: server.cert, key: trust.key } })).rejects.toThrow(
    "The key key does not belong to the certificate cert",
  );
  await expect(engine.listen({ port: 0, tls: true })).rejects.toThrow("No tls-cert-file configured!");
  await expect(engine.listen({ path: "/tmp/never.sock", tls: server })).rejects.toThrow("not for a unix socket");
});
