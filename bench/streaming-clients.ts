/**
 * Many clients of the stream in a process of their own, for bench/streaming.ts: plain sockets that note when each event came.
 * Arguments: port, the number of the first client, how many. Client n tracks `everybody` and `only<n> phrase`.
 */
import { connect, type Socket } from "node:net";

export interface ClientsAnswer {
  readonly connected?: number;
  /** Since the last question: how late each event came, in milliseconds. */
  readonly delays?: readonly number[];
  /** So many came before the last question, all told. */
  readonly received?: number;
}

const [port, first, count] = process.argv.slice(2).map(Number) as [number, number, number];
const TIME = /t=([\d.]+);/g;
let delays: number[] = [];
let received = 0;

function open(nth: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setEncoding("latin1");
    socket.once("error", reject);
    const track = `everybody,only${nth}%20phrase`;
    socket.write(`GET /?track=${track} HTTP/1.1\r\nHost: bench\r\n\r\n`);
    socket.on("data", (data: unknown) => {
      const text = data as string;
      // The first message says that it has begun.
      if (text.includes('"heartbeat"')) resolve(socket);
      const now = performance.timeOrigin + performance.now();
      for (const [, sent] of text.matchAll(TIME)) {
        delays.push(now - Number(sent));
        received++;
      }
    });
  });
}

const say = (answer: ClientsAnswer): void => void process.send!(answer);
const sockets: Socket[] = [];
for (let from = 0; from < count; from += 100) {
  const some = Array.from({ length: Math.min(100, count - from) }, (_, at) => open(first + from + at));
  sockets.push(...(await Promise.all(some)));
}
say({ connected: sockets.length });

process.on("message", (question: string) => {
  if (question === "close") {
    for (const socket of sockets) socket.destroy();
    process.disconnect();
    return;
  }
  say({ delays, received });
  delays = [];
});
