/** The page's side of the worker. */
import { withBase } from "vitepress";
import type { FromWorker, ToWorker } from "./messages.ts";
import { encode, Replies, type Reply } from "./resp.ts";

export function startWorker(listen: (message: FromWorker) => void): Worker {
  const worker = new Worker(withBase("/run/worker.js"), { type: "module" });
  worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => listen(data));
  return worker;
}

export const tell = (worker: Worker, message: ToWorker, transfer: Transferable[] = []): void =>
  worker.postMessage(message, transfer);

/** One worker has the stores of all prompts of a page. */
let shared: Worker | undefined;

interface Waiting {
  /** A subscription has an answer for each of its channels. */
  left: number;
  readonly isSubscription: boolean;
  readonly replies: Reply[];
  readonly resolve: (reply: Reply) => void;
}

const SUBSCRIPTION = /^[ps]?(?:un)?subscribe$/i;
const decoder = new TextDecoder();

/** A connection to a store of its own: RESP over a MessageChannel, as `engine.serve(port)` speaks it. */
export class Connection {
  readonly #port: MessagePort;
  readonly #visits: MessagePort;
  readonly #waiting: Waiting[] = [];
  readonly #replies = new Replies();
  /** What comes although nobody asked: messages of channels, lines of MONITOR. */
  onPush: (reply: Reply) => void = () => {};

  constructor() {
    shared ??= startWorker(() => {});
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }: MessageEvent<ArrayBuffer | Uint8Array | null>) => {
      if (data === null) return;
      const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
      for (const reply of this.#replies.feed(bytes)) this.#take(reply);
    };
    const visits = new MessageChannel();
    this.#visits = visits.port1;
    tell(shared, { kind: "open", port: port2, visits: visits.port2 }, [port2, visits.port2]);
  }

  /** For a key browser of the same store: the port that its API answers at. */
  visit(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#visits.postMessage(port1, [port1]);
    return port2;
  }

  call(words: readonly Uint8Array[]): Promise<Reply> {
    const isSubscription = SUBSCRIPTION.test(decoder.decode(words[0]));
    const left = isSubscription ? Math.max(1, words.length - 1) : 1;
    return new Promise((resolve) => {
      this.#waiting.push({ left, isSubscription, replies: [], resolve });
      this.#port.postMessage(encode(words));
    });
  }

  /** The store goes with it. */
  close(): void {
    this.#port.postMessage(null);
    this.#port.close();
    this.#visits.postMessage(null);
    this.#visits.close();
  }

  #take(reply: Reply): void {
    const [waiting] = this.#waiting;
    if (waiting === undefined || !isAnswer(reply, waiting.isSubscription)) {
      this.onPush(reply);
      return;
    }
    waiting.replies.push(reply);
    if (--waiting.left > 0 && reply.kind !== "error") return;
    this.#waiting.shift();
    const [only] = waiting.replies;
    waiting.resolve(waiting.replies.length === 1 ? only! : { kind: "array", items: waiting.replies });
  }
}

/** Whether it answers a call, or has come by itself. */
function isAnswer(reply: Reply, toSubscription: boolean): boolean {
  if (reply.kind === "status") return !/^\d+\.\d{6} \[/.test(reply.text);
  if (reply.kind !== "push" && reply.kind !== "array") return true;
  const [first] = reply.items;
  const word = first?.kind === "string" ? decoder.decode(first.bytes) : "";
  if (SUBSCRIPTION.test(word)) return toSubscription;
  return reply.kind === "array" && !/^[ps]?message$/.test(word);
}
