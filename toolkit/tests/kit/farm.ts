/**
 * A process that opens stores of our own engine on free ports: one process for a whole test run, a store of its own for each
 * suite. It listens on the port that it prints; "open" gets the port of a new store, "cluster" those of a new Cluster's nodes.
 * They live as long as the connection that asked for them.
 */
import { createServer } from "node:net";
import { Engine, EngineCluster } from "@cinnabar/engine";

const owner = Number(process.argv[2]);

const control = createServer((socket) => {
  const opened: Promise<{ close(): Promise<void> }>[] = [];
  const openStore = async (): Promise<Engine> => {
    const engine = await Engine.open();
    const { port } = await engine.listen({ port: 0, host: "127.0.0.1" });
    socket.write(`${port}\n`);
    return engine;
  };
  const openCluster = async (): Promise<EngineCluster> => {
    const cluster = await EngineCluster.open();
    socket.write(`${cluster.nodes.map(({ port }) => port).join(" ")}\n`);
    return cluster;
  };
  socket.on("error", () => {});
  socket.on("data", (word) => {
    opened.push(word.toString() === "cluster\n" ? openCluster() : openStore());
  });
  socket.on("close", () => {
    for (const opening of opened) void opening.then((one) => one.close());
  });
});

control.listen(0, "127.0.0.1", () => {
  const address = control.address();
  if (typeof address === "object" && address !== null) process.stdout.write(`${address.port}\n`);
});

// The run that it belongs to may be killed.
setInterval(() => {
  try {
    process.kill(owner, 0);
  } catch {
    process.exit();
  }
}, 1_000);
