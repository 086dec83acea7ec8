/** The two sides of every comparison: a real server, and the engine. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis } from "./redis-server.ts";
import { Wire } from "./wire.ts";

export interface Target {
  readonly name: string;
  connect(): Promise<Wire>;
  /** Empty databases, cleared statistics, nothing paused. Connections are their owners' business. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

const RESET = [
  ["REPLICAOF", "NO", "ONE"],
  ["CLIENT", "UNPAUSE"],
  ["FLUSHALL"],
  ["SCRIPT", "FLUSH"],
  ["FUNCTION", "FLUSH"],
  ["CONFIG", "RESETSTAT"],
  ["SLOWLOG", "RESET"],
  ["LATENCY", "RESET"],
  ["ACL", "SETUSER", "default", "on", "nopass", "~*", "&*", "+@all", "clearselectors"],
  ["ACL", "LOG", "RESET"],
];

export function openWire(port: number): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: "127.0.0.1", port, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(new Wire(socket, `127.0.0.1:${socket.localPort}`));
    });
  });
}

/** A target that is reached over TCP; `stop` ends it. */
export function tcpTarget(name: string, port: number, stop: () => Promise<void>): Promise<Target> {
  return targetOf(name, () => openWire(port), stop);
}

/** A target that is reached in some way. */
export async function targetOf(
  name: string,
  connectTo: () => Promise<Wire>,
  stop: () => Promise<void>,
): Promise<Target> {
  const control = await connectTo();
  return {
    name,
    connect: connectTo,
    async reset() {
      // What one of the two does not have (SCRIPT, while it is being written) is not this function's business.
      await control.pipeline(RESET);
      const users = (await control.call("ACL", "USERS")).items.map(({ text }) => text);
      const others = users.filter((name) => name !== "default");
      if (others.length > 0) await control.call("ACL", "DELUSER", ...others);
    },
    async close() {
      await control.close();
      await stop();
    },
  };
}

export async function realTarget(args: readonly string[] = []): Promise<Target> {
  const server = await startRedis(args);
  return tcpTarget("redis", server.port, () => server.stop());
}

export async function engineTarget(config: Record<string, string> = {}): Promise<Target> {
  // Only when wanted: the real server alone can be asked while the engine does not compile.
  const { Engine } = await import("../../src/index.ts");
  // What SAVE writes must not be found by another test.
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-target-"));
  const engine = await Engine.open({ config: { "enable-debug-command": "yes", dir, ...config } });
  const { port } = await engine.listen({ host: "127.0.0.1", port: 0 });
  return tcpTarget("cinnabar", port, async () => {
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  });
}
