/**
 * A process that opens stores of our own engine on free ports: one process for a whole test run, a store of its own for each
 * suite. It listens on the port that it prints; "open" gets the port of a new store, which lives as long as the connection
 * that asked for it.
 */
import { createServer } from "node:net";
import { Engine } from "@cinnabar/engine";

const owner = Number(process.argv[2]);

const control = createServer((socket) => {
  const opened: Promise<Engine>[] = [];
  socket.on("error", () => {});
  socket.on("data", () => {
    const opening = Engine.open();
    opened.push(opening);
    void opening
      .then((engine) => engine.listen({ port: 0, host: "127.0.0.1" }))
      .then(({ port }) => void socket.write(`${port}\n`));
  });
  socket.on("close", () => {
    for (const opening of opened) void opening.then((engine) => engine.close());
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
