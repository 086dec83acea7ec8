/** Every subcommand that takes a URL, over TLS and by Sentinels with real servers; and what it says when TLS cannot be had. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { open, type Store } from "cinnabar";
import { Queue } from "cinnabar/queues";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeAuthority, TestCertificates } from "../../../engine/tests/kit/certificates.ts";
import {
  freePort,
  installed,
  type SentinelProcesses,
  type ServerProcess,
  startOneSentinel,
  startRedis,
  startSentinel,
} from "../../../toolkit/tests/kit/servers.ts";
import { temporaryFolder } from "../support.ts";
import { cinnabar, type Outcome, startCinnabar } from "./kit.ts";

const folder = temporaryFolder();
const certificates = new TestCertificates();
afterAll(() => {
  folder.remove();
  certificates.remove();
});

const TRUST = ["--cacert", certificates.ca, "--cert", certificates.clientCert, "--key", certificates.clientKey];
const DIRECTIVES = Object.entries(certificates.directives).flatMap(([name, value]) => [`--${name}`, value]);

type Secured = ServerProcess & { readonly tlsUrl: string; readonly tlsPort: number };

/** A plain port is beside it, for the test. */
async function startSecured(...args: string[]): Promise<Secured> {
  const tlsPort = await freePort();
  const server = await startRedis({ args: ["--tls-port", String(tlsPort), ...DIRECTIVES, ...args] });
  return Object.assign(server, { tlsPort, tlsUrl: `rediss://127.0.0.1:${tlsPort}` });
}

const succeeded = ({ code, err }: Outcome): void => expect(code, err).toBe(0);

interface Way {
  readonly url: string;
  readonly flags: readonly string[];
}

let files = 0;
const fresh = (ending: string): string => join(folder.path, `${++files}${ending}`);

/** What every way to a store must do; `store` is the same one, by a plain URL, and `empty` another that is reached the same way. */
function expectAllCommands(
  way: () => Way,
  store: () => Store,
  empty: () => Promise<Way & { readonly store: Store }>,
): void {
  const filled = async (): Promise<void> => {
    await store().call("FLUSHALL");
    for (let count = 0; count < 50; count++) await store().call("SET", `key:${count}`, `value ${count}`);
  };

  test("cli", async () => {
    await filled();
    const { url, flags } = way();
    expect((await cinnabar(["cli", url, ...flags, "GET", "key:7"])).out).toBe("value 7\n");
    expect((await cinnabar(["cli", url, ...flags, "--scan"])).out.split("\n").length).toBe(51);
  });

  test("doctor", async () => {
    const { url, flags } = way();
    expect((await cinnabar(["doctor", url, ...flags])).out).toMatch(/^ok +reachable/);
  });

  test("bench, also of a component", async () => {
    await filled();
    const { url, flags } = way();
    for (const workload of ["set", "queue"]) {
      const argv = ["bench", url, ...flags, "-n", "100", "-c", "4", "--warm-up", "0", "-w", workload, "--json"];
      const { code, out, err } = await cinnabar(argv);
      expect(code, err).toBe(0);
      expect(JSON.parse(out).sides[0]).toMatchObject({ requests: 100, errors: { count: 0 } });
    }
    expect(await store().call("DBSIZE")).toBe(50);
  });

  test.each(["rdb", "jsonl"])("export and import, as %s", async (format) => {
    await filled();
    const { url, flags } = way();
    const file = fresh(`.${format}`);
    succeeded(await cinnabar(["export", url, file, ...flags]));
    await store().call("FLUSHALL");
    succeeded(await cinnabar(["import", file, url, ...flags]));
    expect(await store().call("GET", "key:49")).toBe("value 49");
    expect(await store().call("DBSIZE")).toBe(50);
  });

  test("backup and restore", async () => {
    await filled();
    const { url, flags } = way();
    const into = fresh("");
    succeeded(await cinnabar(["backup", "take", url, into, ...flags]));
    expect(readdirSync(into).some((name) => name.endsWith(".rdb"))).toBe(true);
    succeeded(await cinnabar(["backup", "restore", into, url, "--replace", ...flags]));
    expect(await store().call("DBSIZE")).toBe(50);
  });

  test.each(["replication", "copy"])("move to a folder and back, by %s", async (by) => {
    await filled();
    const { url, flags } = way();
    const dir = fresh("");
    succeeded(await cinnabar(["move", url, dir, "--by", by, ...flags]));
    const engine = await Engine.open({ dir });
    expect(await engine.connect().call("GET", "key:3")).toBe("value 3");
    await engine.close();
    succeeded(await cinnabar(["move", "--roll-back", url, dir, ...flags]));
    await store().call("FLUSHALL");
    succeeded(await cinnabar(["move", dir, url, ...flags]));
    expect(await store().call("GET", "key:3")).toBe("value 3");
  });

  test("move from one server to another", async () => {
    await filled();
    const { url, flags } = way();
    const to = await empty();
    const moved = await cinnabar(["move", url, to.url, ...flags]);
    succeeded(moved);
    expect(moved.out).toContain("by replication in");
    expect(await to.store.call("GET", "key:3")).toBe("value 3");
    expect(await to.store.call("CONFIG", "GET", "tls-replication")).toEqual(["tls-replication", "no"]);
    succeeded(await cinnabar(["move", "--roll-back", url, to.url, ...flags]));
  });

  test("import from BullMQ", async () => {
    await store().call("FLUSHALL");
    const { url, flags } = way();
    succeeded(await cinnabar(["import", "--from", "bullmq", url, url, "--queue", "none", ...flags]));
    expect(await new Queue(store(), "none").counts()).toMatchObject({ waiting: 0 });
  });

  test("start shows it", async () => {
    const { url, flags } = way();
    const child = startCinnabar(["start", "--url", url, "--http-port", "0", ...flags]);
    let out = "";
    child.stdout!.on("data", (text) => {
      out += text;
    });
    child.stderr!.on("data", (text) => {
      out += text;
    });
    await expect.poll(() => out, { timeout: 20_000 }).toContain("Console  http://127.0.0.1:");
    child.kill("SIGTERM");
  });
}

describe.runIf(installed("redis-server"))("over TLS", () => {
  let server: Secured;
  let other: Secured;
  let stores: readonly [Store, Store];

  beforeAll(async () => {
    [server, other] = [await startSecured(), await startSecured()];
    stores = [await open(server.url), await open(other.url)];
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await Promise.all([server.stop(), other.stop()]);
  });

  expectAllCommands(
    () => ({ url: server.tlsUrl, flags: TRUST }),
    () => stores[0],
    async () => {
      await stores[1].call("FLUSHALL");
      return { url: other.tlsUrl, flags: TRUST, store: stores[1] };
    },
  );

  const stranger = makeAuthority("Somebody else");
  const strangerFile = certificates.folder.write("stranger.pem", stranger.cert);
  const theirs = stranger.issue({ name: "client" });
  const [theirCert, theirKey] = [
    certificates.folder.write("their.pem", theirs.cert),
    certificates.folder.write("their.key", theirs.key),
  ];

  const COMMANDS: [string, (url: string) => string[], ...string[]][] = [
    ["cli", (url) => ["cli", url], "PING"],
    ["doctor", (url) => ["doctor", url]],
    ["bench", (url) => ["bench", url, "-n", "1"]],
    ["bench queue", (url) => ["bench", url, "-n", "1", "-w", "queue"]],
    ["export", (url) => ["export", url, fresh(".rdb")]],
    ["import", (url) => ["import", "-", url, "--format", "jsonl"]],
    ["backup", (url) => ["backup", "take", url, fresh("")]],
    ["move", (url) => ["move", url, fresh("")]],
    ["import from BullMQ", (url) => ["import", "--from", "bullmq", url, url, "--queue", "q"]],
  ];

  test.each(COMMANDS)("%s says that the authority is missing, wrong or not ours", async (_name, argv, ...words) => {
    const said = async (...flags: string[]): Promise<string> => {
      const { code, err } = await cinnabar([...argv(server.tlsUrl), ...flags, ...words]);
      expect(code).toBe(1);
      return err;
    };
    const isToolkit = argv("").includes("bullmq");
    const identity = TRUST.slice(2);
    const missing = await said(...identity);
    expect(missing).toMatch(/self[- ]signed certificate|unable to (verify|get)/);
    expect(missing).toContain("--cacert");
    const wrong = await said("--cacert", strangerFile, ...identity);
    expect(wrong).toMatch(isToolkit ? /--cacert/ : /the authority in --cacert has not signed the server's certificate/);
    expect(await said("--cacert", certificates.ca)).toContain("a certificate of the client");
    expect(await said("--cacert", certificates.ca, "--cert", theirCert, "--key", theirKey)).toMatch(
      /--cert|certificate/,
    );
    expect(await said("--cacert", certificates.ca, ...identity, "--sni", "elsewhere.example")).toContain("--sni");
    expect(await said("--cacert", "/nowhere/ca.pem")).toContain("--cacert: /nowhere/ca.pem cannot be read (ENOENT)");
    expect(await said("--cacert", certificates.clientKey)).toMatch(/cannot be used|--cacert/);
    expect(await said("--cert", certificates.clientCert)).toContain("--cert and --key belong together");
  });

  test("a certificate is not checked with --insecure", async () => {
    const { out } = await cinnabar(["cli", server.tlsUrl, "--insecure", ...TRUST.slice(2), "PING"]);
    expect(out).toBe("PONG\n");
  });

  test("the wrong port is told from the wrong certificate", async () => {
    const engine = await Engine.open();
    const { port } = await engine.listen({ port: 0 });
    const plain = await cinnabar(["cli", `rediss://127.0.0.1:${port}`, ...TRUST, "PING"]);
    await engine.close();
    expect(plain.err).toContain("if the server does not use TLS on this port, connect with redis://");
    const secured = await cinnabar(["cli", `redis://127.0.0.1:${server.tlsPort}`, "PING"]);
    expect(secured.err).toContain("if the server takes TLS on this port, connect with rediss://");
  });

  test("flags for TLS beside a URL without it are refused", async () => {
    for (const [, argv, ...words] of COMMANDS) {
      const { code, err } = await cinnabar([...argv("redis://127.0.0.1:1"), ...TRUST, ...words]);
      expect([code, err]).toEqual([1, expect.stringContaining("--cacert is for TLS: use a rediss:// URL")]);
    }
  });

  test("a move from TLS to a server that has no certificates copies", async () => {
    const bare = await startRedis();
    await stores[0].call("SET", "key", "value");
    const { code, err, out } = await cinnabar(["move", server.tlsUrl, bare.url, ...TRUST]);
    expect(code, err).toBe(0);
    expect(err).toContain("cannot follow over TLS");
    expect(out).toContain("by copy in");
    const store = await open(bare.url);
    expect(await store.call("GET", "key")).toBe("value");
    await store.close();
    succeeded(await cinnabar(["move", "--roll-back", server.tlsUrl, bare.url, ...TRUST]));
    await bare.stop();
  });
});

describe.runIf(installed("redis-sentinel"))("by Sentinels", () => {
  let sentinel: SentinelProcesses;
  let other: ServerProcess;
  let stores: readonly [Store, Store];

  beforeAll(async () => {
    [sentinel, other] = [await startSentinel(), await startRedis()];
    stores = [await open(sentinel.primary.url), await open(other.url)];
  }, 60_000);
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await Promise.all([sentinel.stop(), other.stop()]);
  });

  expectAllCommands(
    () => ({ url: sentinel.url, flags: [] }),
    () => stores[0],
    async () => {
      await stores[1].call("FLUSHALL");
      return { url: other.url, flags: [], store: stores[1] };
    },
  );

  test("a name that no Sentinel knows is told", async () => {
    const { code, err } = await cinnabar(["cli", sentinel.url.replace("/main", "/mian"), "PING"]);
    expect(code).toBe(1);
    expect(err).toContain("knows no primary named 'mian'");
  });

  test("a Sentinel that is gone is passed over", async () => {
    const url = sentinel.url.replace("//", "//127.0.0.1:1,");
    expect((await cinnabar(["cli", url, "PING"])).out).toBe("PONG\n");
  });
});

test.runIf(installed("redis-sentinel"))("Sentinels over TLS name a primary over TLS", async () => {
  const primary = await startSecured("--tls-replication", "yes");
  const port = await freePort();
  const lines = [
    `tls-port ${port}`,
    "tls-replication yes",
    ...Object.entries(certificates.directives).map((each) => each.join(" ")),
  ];
  const watching = await startOneSentinel(primary.tlsPort, false, lines);
  const url = `rediss+sentinel://127.0.0.1:${port}/main`;
  try {
    expect((await cinnabar(["cli", url, ...TRUST, "SET", "k", "v"])).out).toBe("OK\n");
    const file = fresh(".rdb");
    succeeded(await cinnabar(["export", url, file, ...TRUST]));
    const { err } = await cinnabar(["doctor", url, ...TRUST.slice(2)]);
    expect(err).toContain("no Sentinel names the primary");
    expect(err).toContain("--cacert");
  } finally {
    await watching.stop();
    await primary.stop();
  }
});
