/** Something was asked for that needs sockets, threads or another process. */
export class NoSockets extends Error {
  override readonly name = "NoSockets";

  constructor(what: string) {
    super(`${what} needs sockets, and a browser has none: use a store in Node.js, or a server`);
  }
}
