import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { createAdapter, Emitter } from "cinnabar/socket.io";
import { Server } from "socket.io";

const db = await open(process.env.STORE ?? "memory:");
// In production each server is a process of its own, with its own store: here are two in one process.
const servers = [createServer(), createServer()];
for (const http of servers) {
  const io = new Server(http, { adapter: createAdapter(db) });
  io.on("connection", (socket) => {
    socket.on("join", async (room: string, done: () => void) => {
      await socket.join(room);
      done();
    });
    socket.on("say", (room: string, text: string) => io.to(room).emit("said", text));
  });
}

// A process without a Socket.IO server: a worker of a queue, say.
const emitter = new Emitter(db);
servers[0]!.on("request", (request, response) => {
  if (request.url === "/news")
    emitter
      .to("news")
      .emit("said", "from the emitter")
      .then(() => response.end("sent"));
});

let port = Number(process.env.PORT ?? 3000);
const urls: string[] = [];
for (const http of servers) {
  await new Promise<void>((resolve) => http.listen(port === 0 ? 0 : port++, "127.0.0.1", resolve));
  urls.push(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
}
console.log(urls.join(","));
