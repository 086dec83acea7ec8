/** The server as a program: how it starts, what it says when it cannot, and how it ends. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../../dist/bin/cinnabar-server.js", import.meta.url));

class Program {
  output = "";
  errors = "";
  readonly child: ChildProcess;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;

  constructor(args: readonly string[], input = "") {
    this.child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "pipe"], cwd: folder });
    this.child.stdout!.on("data", (chunk: Buffer) => (this.output += chunk));
    this.child.stderr!.on("data", (chunk: Buffer) => (this.errors += chunk));
    this.child.stdin!.end(input);
    this.exited = new Promise((resolve) => this.child.on("close", (code, signal) => resolve({ code, signal })));
  }

  /** Waits until it says this, and returns what it has said. */
  async says(text: string): Promise<string> {
    const heard = new Promise<void>((resolve) => {
      const look = () => this.output.includes(text) && resolve();
      this.child.stdout!.on("data", look);
      look();
    });
    const early = this.exited.then(({ code }) => {
      if (!this.output.includes(text)) throw new Error(`ended with ${code}: ${this.output}${this.errors}`);
    });
    await Promise.race([heard, early]);
    return this.output;
  }

  async ready(): Promise<{ port: number }> {
    const output = await this.says("Ready to accept connections");
    return { port: Number(/Listening on [^ \n]*:(\d+)/.exec(output)?.[1] ?? 0) };
  }
}

let folder: string;
const programs: Program[] = [];

function start(args: readonly string[], input?: string): Program {
  const one = new Program(args, input);
  programs.push(one);
  return one;
}

/** A port that is free just now. */
async function freePort(): Promise<number> {
  const server = await listen();
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
  });
}

/** Sends lines and takes the answer once it is as long as this, or the connection is over. */
function ask(where: number | string, lines: string, ends: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = typeof where === "number" ? connect(where, "127.0.0.1") : connect(where);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
      if (ends.test(answer)) socket.end();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    socket.write(lines);
  });
}

/** The command line of a process, as ps shows it. */
function ps(pid: number): string {
  return execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).trimEnd();
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-server-"));
});

afterEach(async () => {
  for (const { child, exited } of programs.splice(0)) {
    if (child.exitCode === null) child.kill("SIGKILL");
    await exited;
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("starting", () => {
  it("takes a configuration file, and flags that count more", async () => {
    const file = join(folder, "test.conf");
    const [port, socket] = [await freePort(), join(folder, "test.sock")];
    writeFileSync(
      file,
      `# a comment\nport 1\nmaxmemory 50mb\nrequirepass "pass word"\nunixsocket ${socket}\nunixsocketperm 700\n`,
    );
    const server = start([file, "--port", String(port), "--maxmemory-policy", "allkeys-lru"]);
    expect(await server.ready()).toEqual({ port });
    expect(server.output).toContain(`Listening on 127.0.0.1:${port}`);
    expect(server.output).toContain(`Listening on ${socket}`);
    const answer = await ask(
      socket,
      'PING\r\nAUTH "pass word"\r\nCONFIG GET maxmemory*\r\nINFO server\r\n',
      /config_file:.*\r\n/,
    );
    expect(answer).toMatch(/^-NOAUTH .*\r\n\+OK\r\n/);
    expect(answer).toContain("52428800");
    expect(answer).toContain("allkeys-lru");
    expect(answer).toContain(`config_file:${file}`);
    expect(statSync(socket).mode & 0o777).toBe(0o700);
    server.child.kill("SIGTERM");
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.output).toContain("Received SIGTERM");
    expect(server.errors).toBe("");
    expect(existsSync(socket)).toBe(false);
  });

  it("starts again as it was from what DEBUG CONFIG-REWRITE-FORCE-ALL has written", async () => {
    const file = join(folder, "forced.conf");
    const [port, own] = [await freePort(), mkdtempSync(join(folder, "forced-"))];
    const given = `# kept\nport ${port}\ndir ${own}\nsave 900 1\nmaxmemory 50mb\nclient-output-buffer-limit pubsub 1mb 2mb 3\n`;
    writeFileSync(file, `${given}enable-debug-command local\nlatency-tracking-info-percentiles 50 90.5\n`);
    const ends = /\$2\r\nOK\r\n$/;
    const everything = () => ask(port, "CONFIG GET *\r\nECHO OK\r\n", ends);
    const server = start([file]);
    await server.ready();
    const before = await everything();
    expect(await ask(port, "DEBUG CONFIG-REWRITE-FORCE-ALL\r\n", /\r\n$/)).toBe("+OK\r\n");
    const written = readFileSync(file, "utf8");
    expect(written).toMatch(/^# kept\nport /);
    // What has its default is written, too.
    expect(written).toMatch(/^maxmemory-policy noeviction$/m);
    expect(written.split("\n").length).toBeGreaterThan(140);
    server.child.kill("SIGTERM");
    await server.exited;
    const again = start([file]);
    await again.ready();
    expect(await everything()).toBe(before);
    expect(await ask(port, "DEBUG CONFIG-REWRITE-FORCE-ALL\r\n", /\r\n$/)).toBe("+OK\r\n");
    // A user of a file has its payloads checked, and says so.
    const lines = (text: string) => text.replace("user default on nopass sanitize-payload ", "user default on nopass ");
    expect(lines(readFileSync(file, "utf8"))).toBe(lines(written));
  });

  it.skipIf(process.platform !== "linux")(
    "is shown by ps with the title of proc-title-template, as it is now",
    async () => {
      const title = (server: Program) => ps(server.child.pid!);
      const template = ["--proc-title-template", "T {listen-addr} {config-file} {tls-port}"];
      const port = await freePort();
      const server = start([
        "--port",
        String(port),
        "--bind",
        "127.0.0.1",
        "--enable-debug-command",
        "yes",
        ...template,
      ]);
      await server.ready();
      expect(title(server)).toBe(`T 127.0.0.1:${port}  0`);
      const [set, other] = ["CONFIG SET proc-title-template", await freePort()];
      expect(await ask(port, `${set} "{title} {port} {server-mode}"\r\n`, /\r\n$/)).toBe("+OK\r\n");
      expect(title(server)).toBe(`cinnabar-server ${port}`);
      expect(await ask(port, `${set} "{nonsense}"\r\n`, /\r\n$/)).toMatch(/^-ERR CONFIG SET failed/);
      expect(await ask(port, `CONFIG SET port ${other}\r\n`, /\r\n$/)).toBe("+OK\r\n");
      expect(title(server)).toBe(`cinnabar-server ${other}`);
      const plain = start([
        "--port",
        "0",
        "--unixsocket",
        join(folder, "title.sock"),
        "--set-proc-title",
        "no",
        ...template,
      ]);
      await plain.says("Ready to accept connections");
      expect(title(plain)).toContain("cinnabar-server.js --port 0");
    },
  );

  it("takes a configuration from standard input", async () => {
    const port = await freePort();
    const server = start(["-"], `port ${port}\n`);
    expect(await server.ready()).toEqual({ port });
    server.child.kill("SIGINT");
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.output).toContain("Received SIGINT");
  });

  it("listens on a unix socket only, where the port is 0", async () => {
    const socket = join(folder, "only.sock");
    const server = start(["--port", "0", "--unixsocket", socket, "--logfile", join(folder, "log")]);
    while (!existsSync(join(folder, "log")) || !readFileSync(join(folder, "log"), "utf8").includes("Ready to accept")) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await ask(socket, "PING\r\n", /PONG\r\n/)).toBe("+PONG\r\n");
    expect(server.output).toBe("");
    server.child.kill("SIGTERM");
    expect((await server.exited).code).toBe(0);
    expect(existsSync(socket)).toBe(false);
  });
});

describe("not starting", () => {
  it("says in a line that the port is taken", async () => {
    const taken = await listen();
    const { port } = taken.address() as { port: number };
    const server = start(["--port", String(port)]);
    expect((await server.exited).code).toBe(1);
    expect(server.errors).toMatch(
      new RegExp(`^Failed listening on port ${port} [^\\n]*127\\.0\\.0\\.1: [^\\n]*taken[^\\n]*\\n$`),
    );
    expect(server.output).not.toContain("Ready");
    await new Promise((resolve) => taken.close(resolve));
  });

  it.each([
    [["--nonsense", "1"], ">>> 'nonsense \"1\"'\nBad directive or wrong number of arguments"],
    [["--port", "many"], ">>> 'port \"many\"'\nargument couldn't be parsed into an integer"],
    [["/nowhere/at/all.conf"], "Fatal error, can't open config file '/nowhere/at/all.conf': No such file or directory"],
    [["--port", "0"], "Nothing to listen on"],
    [["--tls-port", "6390"], "TLS cannot be put into force: No tls-cert-file configured!"],
    [["--tls-replication", "yes"], "TLS cannot be put into force: No tls-cert-file configured!"],
    [["--aclfile", "/nonexistent"], "Error loading ACLs, opening file '/nonexistent': No such file or directory"],
    [["--user", "a", "on", "+nosuch"], "Error in user declaration '+nosuch': Unknown command or category name in ACL"],
    [["--aclfile", "/nonexistent", "--user", "a", "on"], "please define either an ACL file or declare users"],
    [["--rename-command", "nosuch", "x"], "No such command in rename-command"],
    [["--logfile", "/nowhere/at/all.log"], "Can't open the log file"],
    [["--port", "0", "--unixsocket", "/nowhere/at/all.sock"], "Could not listen on /nowhere/at/all.sock"],
    [["--bind", "203.0.113.1", "--port", "1"], "Failed listening on port 1 (tcp) of 203.0.113.1"],
  ])("says what is wrong with %j", async (args, message) => {
    const server = start(args);
    expect((await server.exited).code).toBe(1);
    expect(server.errors).toContain(message);
    expect(server.errors).not.toMatch(/^\s+at /m);
  });
});

describe("being asked", () => {
  it("prints help and its version", async () => {
    const [help, version] = [start(["--help"]), start(["-v"])];
    expect((await help.exited).code).toBe(0);
    expect(help.output).toMatch(/^cinnabar-server .*\n\nUsage:\n/);
    expect((await version.exited).code).toBe(0);
    expect(version.output).toMatch(/^cinnabar-server v=\S+ redis=7\.0\.15 node=\S+\n$/);
  });
});

describe("ending", () => {
  it("by SHUTDOWN, with clients connected, blocked, and silent", async () => {
    const server = start(["--port", String(await freePort())]);
    const { port } = await server.ready();
    const idle = ["", "BLPOP l 0\r\n", "SUBSCRIBE c\r\n", "*2\r\n$4\r\nECHO\r\n$100\r\nhalf"].map((lines) => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.resume();
      socket.write(lines);
      return new Promise((resolve) => socket.on("close", resolve));
    });
    expect(await ask(port, "SET k v\r\nSHUTDOWN NOSAVE\r\n", /never/)).toBe("+OK\r\n");
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.output).toContain("User requested shutdown");
    await Promise.all(idle);
  });

  it("sends what was ready when it was told to end", async () => {
    const server = start(["--port", String(await freePort())]);
    const { port } = await server.ready();
    const answer = ask(port, `${"PING\r\n".repeat(1000)}SHUTDOWN NOSAVE\r\n`, /never/);
    expect(await answer).toBe("+PONG\r\n".repeat(1000));
    expect((await server.exited).code).toBe(0);
  });
});

describe("in a Cluster", () => {
  it("is a whole one with --cluster-nodes, on free ports or on consecutive ones", async () => {
    const server = start(["--cluster-nodes", "6", "--port", "0"]);
    const { port } = await server.ready();
    const ports = [...server.output.matchAll(/Listening on 127\.0\.0\.1:(\d+) \((\w+)\)/g)];
    expect(ports.map(([, , role]) => role)).toEqual([
      ...["primary", "primary", "primary"],
      ...["replica", "replica", "replica"],
    ]);
    const answer = await ask(port, "CLUSTER INFO\r\nGET a\r\n", /MOVED.*\r\n/);
    expect(answer).toContain("cluster_state:ok");
    expect(answer).toContain(`-MOVED 15495 127.0.0.1:${ports[2]![1]}`);
    server.child.kill("SIGTERM");
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(existsSync(join(folder, "nodes.conf"))).toBe(false);
  });

  it("says what is wrong with the number of nodes", async () => {
    for (const [args, text] of [
      [["--cluster-nodes", "x"], "--cluster-nodes wants a number, not 'x'"],
      [["--cluster-nodes", "5", "--cluster-replicas", "1"], "must be a multiple of 2"],
    ] as const) {
      const server = start(args);
      expect((await server.exited).code).toBe(1);
      expect(server.errors).toContain(text);
    }
  });

  it("is one node with cluster-enabled, which keeps its slots in nodes.conf", async () => {
    const port = await freePort();
    const args = ["--cluster-enabled", "yes", "--port", String(port), "--dir", folder, "--save", ""];
    const server = start(args);
    await server.ready();
    expect(server.output).toContain("mode=cluster");
    expect(await ask(port, "GET a\r\nCLUSTER ADDSLOTSRANGE 0 16383\r\nGET a\r\n", /\$-1/)).toBe(
      "-CLUSTERDOWN Hash slot not served\r\n+OK\r\n$-1\r\n",
    );
    expect(await ask(port, "CLUSTER MEET 127.0.0.1 1\r\n", /\n/)).toContain("made of Redis or Valkey nodes");
    const [id] = readFileSync(join(folder, "nodes.conf"), "utf8").split(" ");
    server.child.kill("SIGTERM");
    await server.exited;

    const again = start(args);
    await again.ready();
    expect(await ask(port, "CLUSTER MYID\r\nGET a\r\n", /\$-1/)).toBe(`$40\r\n${id}\r\n$-1\r\n`);
    again.child.kill("SIGKILL");
    await again.exited;

    writeFileSync(join(folder, "nodes.conf"), "nonsense\n");
    const broken = start(args);
    expect((await broken.exited).code).toBe(1);
    expect(broken.errors).toContain("corrupted cluster config file");
    rmSync(join(folder, "nodes.conf"));
  });
});
