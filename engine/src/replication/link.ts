/**
 * The link of a replica to its primary: connecting, introducing itself, taking a snapshot if need be, and then the stream.
 *
 *   connect ─► connecting ─► handshake ─► sync ─► connected
 *      ▲                        │  └── the stream goes on ──▲
 *      └──── cut, timeout, refused: after a second; at once when a link was up
 *
 * Bytes of the stream are commands of a client that is obeyed whatever the state of this server (`Client.isPrimary`). They go
 * in by the one way in, so the append-only file, WATCH, client-side caching and notifications see them as they see any
 * others; what has been run goes on to our own replicas, byte for byte (`Feed.pass`).
 *
 * What was received but not run when a link breaks is forgotten: the stream is taken up behind the last command, or
 * transaction, that was run to its end.
 */

import type { Client } from "../core/client.ts";
import type { Wire } from "../core/dial.ts";
import { OOM, ReplyError } from "../core/errors.ts";
import { HeapFullError } from "../core/heap-guard.ts";
import { POSTPONED } from "../core/reply.ts";
import type { Transport } from "../core/transport.ts";
import { messageOf } from "../lib/caught.ts";
import { Buffer } from "../platform/bytes.ts";
import { soon } from "../platform/timers.ts";
import { RequestParser } from "../resp/parser.ts";
import type { Dialed } from "../tls/contexts.ts";
import { Handshake, type SyncAnswer } from "./handshake.ts";
import type { ReplicationHost } from "./host.ts";
import type { Replication } from "./index.ts";
import { type Framing, loadMode, Payload, parseFraming } from "./payload.ts";

export type LinkState = "connect" | "connecting" | "handshake" | "sync" | "connected";

const CANNOT_CONNECT = "Timeout connecting to the MASTER...";
const NO_SNAPSHOT =
  "Timeout receiving bulk data from MASTER... If the problem persists try to set the 'repl-timeout' parameter in redis.conf to a larger value.";

/** What the log says of a primary that has fallen silent. */
const TIMEOUTS: Record<LinkState | "loading", string> = {
  connect: CANNOT_CONNECT,
  connecting: CANNOT_CONNECT,
  handshake: CANNOT_CONNECT,
  sync: NO_SNAPSHOT,
  loading: NO_SNAPSHOT,
  connected: "MASTER timeout: no data nor PING received...",
};

/** How long a load goes on before others have a turn. */
const SLICE_MS = 8;
/** A line longer than this is no line. */
const LONGEST_LINE = 64 * 1024;
/** How long a replica whose heap is too small waits before it asks for the data again. */
const HEAP_FULL_MS = 30_000;
const LF = 10;

/** Where the stream of a full resynchronisation begins. */
interface Start {
  readonly id: string;
  /** -1: the primary is too old to tell. */
  readonly offset: number;
}

export class Link implements Transport {
  readonly host: string;
  readonly port: number;
  state: LinkState = "connect";
  /** When the link broke, by the clock; 0 if it was never up. */
  downSince = 0;
  lastIoAt: number;
  payload: Payload | null = null;
  /** The client whose commands the primary's are, while the link is up. */
  client: Client | null = null;

  readonly outputBytes = 0;
  readonly #store: ReplicationHost;
  readonly #replication: Replication;
  #socket: Wire | null = null;
  #handshake: Handshake | null = null;
  /** A line that has not come to its end. */
  #lineBytes = Buffer.alloc(0);
  #start: Start | null = null;
  #parser: RequestParser | null = null;
  /** What of the stream has not been handed on. */
  #unpassed: Buffer[] = [];
  #readOffset = 0;
  #appliedOffset = 0;
  #postponed = false;
  #oldPrimary = false;
  /** What was last acknowledged was not all on disk. */
  #awaitsSync = false;
  #stopped = false;
  #sliceStart = 0;
  /** When the heap was found too small for the primary's data; 0: it was not. */
  #heapFullAt = 0;
  /** A snapshot did not fit beside the old data: for the next, that goes first. */
  #noRoomForBoth = false;

  constructor(store: ReplicationHost, replication: Replication, host: string, port: number) {
    this.#store = store;
    this.#replication = replication;
    this.host = host;
    this.port = port;
    this.lastIoAt = store.clock.monotonic();
  }

  // ---------------------------------------------------------------------------------------------- as others see it

  get address(): string {
    return this.host.includes(":") ? `[${this.host}]:${this.port}` : `${this.host}:${this.port}`;
  }

  get localAddress(): string {
    const socket = this.#socket;
    return socket?.localAddress === undefined ? "?:0" : `${socket.localAddress}:${socket.localPort ?? 0}`;
  }

  get fd(): number {
    const handle = this.#socket !== null && "_handle" in this.#socket ? this.#socket._handle : null;
    return typeof handle === "object" && handle !== null && "fd" in handle ? Number(handle.fd ?? -1) : -1;
  }

  get inputBytes(): number {
    return this.#parser?.pendingBytes ?? 0;
  }

  get isUp(): boolean {
    return this.state === "connected";
  }

  /** The offset of the last byte that was received. */
  get readOffset(): number {
    return this.#readOffset;
  }

  /** Whole seconds since something came. */
  get idleSeconds(): number {
    return Math.floor((this.#store.clock.monotonic() - this.lastIoAt) / 1000);
  }

  /** The primary is never answered. */
  send(): void {}
  push(): void {}

  /** CLIENT KILL: the link is made anew. */
  close(): void {
    this.#lost("the connection was closed from this side");
  }

  // ---------------------------------------------------------------------------------------------- coming and going

  start(): void {
    if (this.#stopped || this.#store.loading || this.state !== "connect") return;
    const store = this.#store;
    if (this.#heapFullAt !== 0 && !this.#mayTryAgain()) return;
    store.log("notice", `${this.downSince === 0 ? "Connecting" : "Reconnecting"} to MASTER ${this.host}:${this.port}`);
    store.log("notice", "MASTER <-> REPLICA sync started");
    this.state = "connecting";
    this.lastIoAt = store.clock.monotonic();
    const dialed = this.#open();
    if (dialed === null) return;
    const { socket, ready } = dialed;
    this.#socket = socket;
    socket.on(ready, () => this.#connected(socket));
    socket.on("data", (chunk) => this.#received(socket, chunk));
    socket.on("end", () => this.#ended(socket, "the primary closed the connection"));
    socket.on("error", (error: Error) => this.#ended(socket, error.message));
    socket.on("close", () => this.#ended(socket, "the connection is closed"));
  }

  /**
   * What the primary has did not fit here. What we have stays readable, and stale; the same data would not fit again at once,
   * so another try is made only now and then, and only while there is room.
   */
  #mayTryAgain(): boolean {
    const { clock, heapGuard } = this.#store;
    if (clock.monotonic() - this.#heapFullAt < HEAP_FULL_MS || !heapGuard.fits()) return false;
    this.#heapFullAt = 0;
    return true;
  }

  /** A socket on its way; null where an address is none. */
  #open(): Dialed | null {
    const { host, port } = this;
    const inside = this.#store.dial?.(host, port, "replication") ?? null;
    if (inside !== null) return { socket: inside, ready: "connect" };
    const { "bind-source-addr": localAddress, "tls-replication": secure } = this.#store.config.values;
    const to = { host, port, noDelay: true, ...(localAddress === "" ? {} : { localAddress }) };
    try {
      return this.#store.tls.dial(to, secure);
    } catch (error) {
      this.#store.log("warning", `Unable to connect to MASTER: ${messageOf(error)}`);
      this.state = "connect";
      return null;
    }
  }

  #ended(socket: Wire, reason: string): void {
    if (socket === this.#socket) this.#lost(reason);
  }

  /** Ends the link for good. */
  stop(): void {
    this.#stopped = true;
    this.#lost("");
  }

  /** The link is over; another is made, unless we were told to stop. */
  #lost(reason: string): void {
    const socket = this.#socket;
    if (socket === null) return;
    const { state, payload } = this;
    const wasUp = this.isUp;
    this.#socket = null;
    socket.destroy();
    this.state = "connect";
    if (reason !== "") this.#report(state, payload, reason);
    this.#forget();
    if (!wasUp) return;
    this.downSince = this.#store.clock.now();
    this.#replication.linkChanged();
    // At once, not after a second: the primary's backlog moves on.
    if (!this.#stopped) soon(() => this.start());
  }

  /** Says in the log why a link is over, in the words that are waited for. */
  #report(state: LinkState, payload: Payload | null, reason: string): void {
    const { log } = this.#store;
    if (state === "connected") log("notice", `Connection with master lost: ${reason}`);
    else if (payload !== null) {
      log("warning", `Internal error in RDB reading offset ${payload.readBytes}: ${reason}`);
      log("warning", "Failed trying to load the MASTER synchronization DB from socket, check server logs.");
      if (!payload.inPlace) log("notice", "MASTER <-> REPLICA sync: Discarding temporary DB in background");
    } else if (state === "sync") log("warning", `I/O error trying to sync with MASTER: ${reason}`);
    else log("warning", `Error condition on socket for SYNC: ${reason}`);
  }

  /** Lets go of everything that belonged to the connection. */
  #forget(): void {
    const { client, payload } = this;
    if (client !== null) this.#pass();
    this.client = null;
    this.payload = null;
    this.#handshake = null;
    this.#lineBytes = Buffer.alloc(0);
    this.#start = null;
    this.#parser = null;
    this.#unpassed = [];
    this.#postponed = false;
    this.#readOffset = this.#appliedOffset;
    // Half of a snapshot is worse than none.
    if (payload?.inPlace) for (const db of this.#store.databases) db.clear();
    if (payload?.hidesData) this.#store.loading = false;
    if (client !== null) {
      this.#replication.streamDb = client.db.index;
      this.#store.removeClient(client);
    }
  }

  #write(argv: readonly (string | number)[]): void {
    let text = `*${argv.length}\r\n`;
    for (const word of argv) text += `$${String(word).length}\r\n${word}\r\n`;
    this.#socket?.write(text, "latin1");
    this.#store.stats.replOutput += text.length;
  }

  // ---------------------------------------------------------------------------------------------- introducing ourselves

  #connected(socket: Wire): void {
    if (socket !== this.#socket) return;
    const { config, log } = this.#store;
    const keepAlive = config.values["tcp-keepalive"];
    if (keepAlive > 0) socket.setKeepAlive(true, keepAlive * 1000);
    log("notice", "Non blocking connect for SYNC fired the event.");
    this.state = "handshake";
    this.#handshake = new Handshake({
      values: config.values,
      port: this.#ownPort(),
      psync: () => this.#replication.resumeFrom(),
      write: (argv) => this.#write(argv),
      log: (text) => log("notice", text),
    });
  }

  /** Where others reach this server as it reaches its primary. */
  #ownPort(): number {
    const { config, listeningPort, tlsListeningPort } = this.#store;
    return config.values["tls-replication"] && tlsListeningPort !== 0 ? tlsListeningPort : listeningPort;
  }

  #received(socket: Wire, chunk: Buffer): void {
    if (socket !== this.#socket) return;
    const { clock, stats } = this.#store;
    this.lastIoAt = clock.monotonic();
    stats.replInput += chunk.length;
    try {
      this.#take(chunk);
    } catch (error) {
      if (error instanceof HeapFullError) {
        this.#heapFullAt = clock.monotonic();
        this.#noRoomForBoth = this.payload?.inPlace === false;
      }
      this.#lost(error instanceof ReplyError ? error.text : messageOf(error));
    }
  }

  /** What has come means what the state says. */
  #take(chunk: Buffer): void {
    if (this.#parser !== null) this.#stream(chunk);
    else if (this.payload !== null) this.#load(chunk);
    else this.#lines(chunk);
  }

  /** Lines, until something else begins. Empty ones say that the primary is alive. */
  #lines(chunk: Buffer): void {
    let bytes = this.#lineBytes.length === 0 ? chunk : Buffer.concat([this.#lineBytes, chunk]);
    while (bytes.length > 0) {
      const end = bytes.indexOf(LF);
      if (end < 0) break;
      const line = bytes.latin1Slice(0, end > 0 && bytes[end - 1] === 13 ? end - 1 : end);
      bytes = bytes.subarray(end + 1);
      if (line !== "") this.#line(line);
      if (this.#socket === null) return;
      if (this.#parser !== null || this.payload !== null) {
        this.#lineBytes = Buffer.alloc(0);
        if (bytes.length > 0) this.#take(bytes);
        return;
      }
    }
    if (bytes.length > LONGEST_LINE) throw new Error("the primary sends something that is no line");
    this.#lineBytes = Buffer.from(bytes);
  }

  #line(line: string): void {
    if (this.#handshake !== null) {
      const answer = this.#handshake.answer(line);
      if (answer !== null) this.#synced(answer);
      return;
    }
    const framing = parseFraming(line);
    if (framing === undefined) {
      if (line.startsWith("-")) throw new Error(`MASTER aborted replication with an error: ${line.slice(1, 200)}`);
      throw new Error(`Bad protocol from MASTER, the first byte is not '$' (we received '${line.slice(0, 200)}')`);
    }
    this.#beginLoad(framing);
  }

  /** The primary has said how it goes on. */
  #synced(answer: SyncAnswer): void {
    this.#handshake = null;
    switch (answer.kind) {
      case "continue":
        this.#store.log("notice", "MASTER <-> REPLICA sync: Master accepted a Partial Resynchronization.");
        this.#replication.continued(answer.id);
        this.#appliedOffset = this.#replication.feed.offset;
        this.#beginStream(this.#replication.streamDb);
        break;
      case "full":
        this.state = "sync";
        this.#start = { id: answer.id, offset: answer.offset };
        this.#oldPrimary = answer.offset < 0;
        this.#replication.fullSyncBegins();
        break;
      case "later":
        this.#lost(`the primary is not ready: ${answer.reason}`);
        this.#replication.syncRefused();
        break;
    }
  }

  // ---------------------------------------------------------------------------------------------- the snapshot

  #beginLoad(framing: Framing): void {
    const store = this.#store;
    const how =
      "mark" in framing
        ? "streamed RDB from master with EOF to parser"
        : `${framing.lengthBytes} bytes from master to parser`;
    store.log("notice", `MASTER <-> REPLICA sync: receiving ${how}`);
    const { id, offset } = this.#start!;
    const ownHistory = offset >= 0 && id === this.#replication.id;
    this.payload = new Payload(store, framing, this.#noRoomForBoth ? "in place" : loadMode(store, ownHistory));
    this.#sliceStart = store.clock.monotonic();
    if (this.payload.inPlace) {
      store.log("notice", "MASTER <-> REPLICA sync: Flushing old data");
      this.#replication.replacingData();
      for (const db of store.databases) db.clear();
    }
    store.log("notice", "MASTER <-> REPLICA sync: Loading DB in memory");
    if (this.payload.hidesData) store.loading = true;
  }

  #load(chunk: Buffer): void {
    const rest = this.payload!.feed(chunk);
    if (rest === undefined) {
      this.#breathe();
      return;
    }
    this.#loaded();
    if (rest.length > 0 && this.#parser !== null) this.#take(Buffer.from(rest));
  }

  /** Lets others have a turn when the load has gone on for long. */
  #breathe(): void {
    const { clock } = this.#store;
    const socket = this.#socket!;
    if (clock.monotonic() - this.#sliceStart < SLICE_MS) return;
    socket.pause();
    soon(() => {
      this.#sliceStart = clock.monotonic();
      socket.resume();
    });
  }

  #loaded(): void {
    const store = this.#store;
    const payload = this.payload!;
    const start = this.#start!;
    if (!payload.inPlace) store.log("notice", "MASTER <-> REPLICA sync: Swapping active DB with loaded DB");
    // Throws where the functions are unsound: then nothing has changed yet.
    payload.install();
    if (!payload.inPlace) this.#replication.replacingData();
    store.loading = false;
    store.effects.dirty += payload.keys;
    this.payload = null;
    this.#start = null;
    this.#appliedOffset = Math.max(0, start.offset);
    this.#replication.fullSyncDone(start.id, this.#appliedOffset);
    store.log("notice", "MASTER <-> REPLICA sync: Finished with success");
    this.#beginStream(Number(payload.aux.get("repl-stream-db") ?? 0));
    // A primary that marks the end of its snapshot goes on when it hears that the mark was found.
    this.acknowledge();
  }

  // ---------------------------------------------------------------------------------------------- the stream

  #beginStream(db: number): void {
    const store = this.#store;
    const client = store.addClient(this);
    client.isPrimary = true;
    client.trust();
    client.db = store.databases[db] ?? store.databases[0]!;
    this.client = client;
    this.#readOffset = this.#appliedOffset;
    this.#parser = new RequestParser({ maxWordBytes: Number.POSITIVE_INFINITY, unauthenticated: false });
    this.#unpassed = [];
    this.state = "connected";
    this.downSince = 0;
    this.#replication.linkChanged();
  }

  #stream(chunk: Buffer): void {
    this.#store.heapGuard.checkLoad(0, 0);
    this.#readOffset += chunk.length;
    this.#parser!.feed(chunk);
    this.#unpassed.push(chunk);
    if (!this.#postponed) this.#run();
  }

  #run(): void {
    const store = this.#store;
    const client = this.client!;
    const parser = this.#parser!;
    store.renewClock();
    client.lastActiveAt = store.now;
    for (;;) {
      const argv = parser.next();
      if (argv === undefined) break;
      if (argv instanceof ReplyError) throw new Error(`the primary's stream cannot be read: ${argv.text}`);
      if (!this.#execute(client, argv)) break;
      // A command may have ended the link.
      if (this.#parser !== parser) return;
      if (client.multi === null) this.#appliedOffset = this.#readOffset - parser.pendingBytes;
    }
    this.#pass();
  }

  /** False when the command has to wait: a pause holds up the primary's too. */
  #execute(client: Client, argv: string[]): boolean {
    if (isGetAck(argv)) {
      this.acknowledge();
      return true;
    }
    const reply = this.#store.execute(client, argv);
    if (reply === POSTPONED) {
      this.#postponed = true;
      this.#store.pause.whenResumed(client, () => this.#retry(client, argv));
      return false;
    }
    if (reply === OOM) throw new HeapFullError(this.#store.heapGuard.heapLimit, 0, 0);
    if (reply instanceof ReplyError) {
      const name = argv[0]!.slice(0, 32);
      const { log, stats } = this.#store;
      stats.unexpectedErrors++;
      log(
        "warning",
        `== CRITICAL == This replica is sending an error to its master: '${reply.text}' after processing the command '${name}'`,
      );
    }
    return true;
  }

  #retry(client: Client, argv: string[]): void {
    if (client !== this.client) return;
    this.#postponed = false;
    if (!this.#execute(client, argv)) return;
    if (client.multi === null) this.#appliedOffset = this.#readOffset - this.#parser!.pendingBytes;
    this.#run();
  }

  /** Hands on what has been run. */
  #pass(): void {
    const { feed } = this.#replication;
    let count = this.#appliedOffset - feed.offset;
    const unpassed = this.#unpassed;
    while (count > 0) {
      const chunk = unpassed[0]!;
      if (chunk.length <= count) {
        unpassed.shift();
        count -= chunk.length;
        feed.pass(chunk);
      } else {
        unpassed[0] = chunk.subarray(count);
        feed.pass(chunk.subarray(0, count));
        count = 0;
      }
    }
  }

  /** Tells the primary how far we are, and what of it is on our disk. */
  acknowledge(): void {
    if (!this.isUp || this.#oldPrimary) return;
    const synced = this.#replication.feed.marks.offset;
    const disk = synced === undefined ? [] : ["FACK", synced];
    this.#awaitsSync = synced !== undefined && synced < this.#appliedOffset;
    this.#write(["REPLCONF", "ACK", this.#appliedOffset, ...disk]);
  }

  /** More of what the primary sent is on our disk: it may be waiting to hear that. */
  synced(): void {
    if (this.#awaitsSync) this.acknowledge();
  }

  // ---------------------------------------------------------------------------------------------- time

  /** Once a second. */
  cron(): void {
    const { clock, config } = this.#store;
    const silentMs = clock.monotonic() - this.lastIoAt;
    if (this.state === "connect") {
      this.start();
      return;
    }
    if (silentMs > config.values["repl-timeout"] * 1000) {
      this.#store.log("warning", TIMEOUTS[this.payload === null ? this.state : "loading"]);
      this.#lost(`nothing came for ${Math.floor(silentMs / 1000)} seconds`);
      return;
    }
    if (this.isUp) this.acknowledge();
    // The primary would give up a replica that it hears nothing of while it loads.
    else if (this.payload !== null) this.#socket?.write("\n");
  }
}

function isGetAck(argv: readonly string[]): boolean {
  return argv.length === 3 && argv[0]!.toLowerCase() === "replconf" && argv[1]!.toLowerCase() === "getack";
}
