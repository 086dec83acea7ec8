/**
 * The same conversation as link.ts with the whole engine standing still, for MIGRATE inside EXEC or a script: there is no
 * later to which the rest of the transaction could be put off, and Redis too stands still. Node has no sockets that block,
 * so a worker thread holds the socket, and this thread sleeps until it has answered.
 *
 * Another engine in this process cannot be reached this way: it stands still as well, and the time runs out, as for a
 * Redis that is told to migrate to itself.
 *
 * The worker's code is a text: a file of its own would have to be found from the sources, from `dist` and from whatever a
 * bundler makes of them, which for thirty lines is the worse choice. It is plain CommonJS.
 */
import type { SecureContextOptions } from "node:tls";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { LinkFailure, LinkState, MigrateRequest, Outcome, Step, StepResult } from "./transfer.ts";

/**
 * `{ host, port, timeoutMs, tls }` opens a link in the place of the one before; `{ bytes, count, timeoutMs }` sends and takes
 * that many lines; `{}` closes it. Answered with `{ lines, failure }`.
 */
const WORKER = `
const { workerData: { port: main, signal } } = require("node:worker_threads");
const net = require("node:net");
const { connect: secureConnect } = require("node:tls");
const WHILE_WRITING = ["ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "EPIPE"];
let socket = null, lines = [], partial = "", notice = () => {};
const answer = (failure) => {
  main.postMessage({ lines, failure });
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
};
function open({ host, port, timeoutMs, tls }) {
  lines = []; partial = "";
  const fail = (stage, timedOut) => { notice = () => {}; clearTimeout(timer); socket?.destroy(); answer({ stage, timedOut }); };
  const timer = setTimeout(() => fail("connecting", true), timeoutMs);
  if (!(port >= 0 && port <= 65535)) return fail("connecting", false);
  const to = { host, port, noDelay: true };
  const own = tls ? secureConnect({ ...to, ...tls, checkServerIdentity: () => undefined }) : net.connect(to);
  socket = own;
  own.setEncoding("latin1");
  // A socket that was closed says so a turn later: by then the next one is being opened, and its end must not be taken for this one's.
  const hear = (event, run) => own.on(event, (said) => { if (own === socket) run(said); });
  hear("data", (text) => { const all = (partial + text).split("\\r\\n"); partial = all.pop(); for (const line of all) lines.push(line); notice("data"); });
  hear("drain", () => notice("drain"));
  hear("error", (error) => notice("end", error.code));
  hear("close", () => notice("end"));
  hear(tls ? "secureConnect" : "connect", () => notice("open"));
  notice = (what, code) => {
    if (what === "open") { notice = () => {}; clearTimeout(timer); answer(null); }
    else if (what === "end") fail(WHILE_WRITING.includes(code) ? "writing" : "connecting", false);
  };
}
function exchange({ bytes, count, timeoutMs }) {
  lines = [];
  let at = 0, timer;
  const finish = (failure) => { notice = () => {}; clearTimeout(timer); if (failure) socket.destroy(); answer(failure); };
  const stage = () => (at < bytes.length || socket.writableLength > 0 ? "writing" : "reading");
  const wait = () => { clearTimeout(timer); timer = setTimeout(() => finish({ stage: stage(), timedOut: true }), timeoutMs); };
  const write = () => {
    while (at < bytes.length) {
      const taken = socket.write(bytes.subarray(at, at + 65536));
      at += 65536;
      if (!taken) return;
    }
  };
  notice = (what) => {
    if (lines.length >= count) return finish(null);
    if (what === "end") return finish({ stage: stage(), timedOut: false });
    wait();
    if (what === "drain") write();
  };
  if (count === 0) return finish(null);
  if (socket.destroyed) return finish({ stage: "writing", timedOut: false });
  wait();
  write();
}
// A fault must not leave the other thread asleep.
process.on("uncaughtException", () => { notice = () => {}; answer({ stage: "reading", timedOut: false }); });
main.on("message", (task) => {
  if (task.host !== undefined) { socket?.destroy(); socket = null; open(task); }
  else if (task.bytes !== undefined) exchange(task);
  else { socket?.destroy(); socket = null; answer(null); }
});
`;

interface Answer {
  readonly lines: string[];
  readonly failure: LinkFailure | null;
}

/** With TLS, what that needs: plain data, which the worker can be sent. */
interface BlockingRequest extends MigrateRequest {
  readonly tls: SecureContextOptions | null;
}

export class BlockingLink {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  /** What the worker wakes this thread by. */
  readonly signal = new Int32Array(new SharedArrayBuffer(4));

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData = { port: port2, signal: this.signal };
    this.#worker = new Worker(WORKER, { eval: true, workerData, transferList: [port2], execArgv: [] });
    this.#worker.unref();
    port1.unref();
  }

  #ask(task: object): Answer {
    this.#port.postMessage(task);
    for (;;) {
      // In this order: the worker posts its answer, then sets the signal, then wakes this thread. One that was slow to do the last for
      // the answer before wakes it too early; one that has posted meanwhile does not have to.
      Atomics.store(this.signal, 0, 0);
      const answer = receiveMessageOnPort(this.#port);
      if (answer !== undefined) return answer.message;
      Atomics.wait(this.signal, 0, 0);
    }
  }

  /** Takes a transfer to its end. */
  run(request: BlockingRequest, steps: Generator<Step, Outcome, StepResult>): Outcome {
    const { host, port, timeoutMs, tls } = request;
    let result: StepResult = { lines: [], failure: null };
    try {
      for (;;) {
        const { done, value } = steps.next(result);
        if (done) return value;
        if ("reuse" in value) {
          const state: LinkState = { db: null };
          const opened = this.#ask({ host, port, timeoutMs, tls });
          result = opened.failure === null ? { state, ...opened } : opened;
        } else {
          const commands = [...value.commands];
          result = this.#ask({ bytes: Buffer.concat(commands), count: commands.length, timeoutMs });
        }
      }
    } finally {
      this.#ask({});
    }
  }

  close(): void {
    void this.#worker.terminate();
  }
}
