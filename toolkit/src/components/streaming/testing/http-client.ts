/** A client for tests that sees what is on the wire: status, headers, lines as they come, and that can stop reading. */
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export class Connection {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly response: IncomingMessage;
  readonly #request: ClientRequest;
  #text = "";
  #over = false;
  #wake: (() => void) | null = null;

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.response = response;
    this.status = response.statusCode!;
    this.headers = response.headers;
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      this.#text += text;
      this.#wake?.();
    });
    const end = (): void => {
      this.#over = true;
      this.#wake?.();
    };
    response.on("end", end).on("close", end).on("error", end);
  }

  /** Up to the separator and without it; null when the stream is over. */
  async piece(separator: string): Promise<string | null> {
    for (;;) {
      const at = this.#text.indexOf(separator);
      if (at >= 0) {
        const piece = this.#text.slice(0, at);
        this.#text = this.#text.slice(at + separator.length);
        return piece;
      }
      if (this.#over) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next message of NDJSON; null when the stream is over. */
  async message(): Promise<Record<string, unknown> | null> {
    const line = await this.piece("\n");
    return line === null ? null : (JSON.parse(line) as Record<string, unknown>);
  }

  /** The same without heartbeats. */
  async event(): Promise<Record<string, unknown> | null> {
    for (;;) {
      const message = await this.message();
      if (message?.kind !== "heartbeat") return message;
    }
  }

  /** Everything until the end. */
  async rest(): Promise<string> {
    while (!this.#over) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#text;
  }

  async problem(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.rest()) as Record<string, unknown>;
  }

  close(): void {
    this.#request.destroy();
  }
}

export function connect(url: string, ask: Ask = {}): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const { method = "GET", headers = {}, body } = ask;
    const asking = request(url, { method, headers, agent: false }, (response) => {
      resolve(new Connection(asking, response));
    });
    asking.once("error", reject);
    asking.on("error", () => {});
    asking.end(body);
  });
}
