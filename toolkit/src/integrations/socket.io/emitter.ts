/** Packets to the clients of a Socket.IO cluster, from a process that has no Socket.IO server. */
import { aStore, word } from "../../base/checks.ts";
import { defineOptions, prefix } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { encode } from "../shared/bytes-json.ts";
import { DEFAULT_PREFIX, everybody } from "./packets.ts";

/** Which cluster an emitter speaks to. */
export interface EmitterOptions {
  /** The first word of the channels, as that of the adapter; "socket.io" by default. */
  readonly prefix?: string;
}

const OPTIONS = defineOptions<EmitterOptions>("Emitter", { prefix });

/** Types of messages, as socket.io-adapter numbers them, and of a packet that is an event. */
const BROADCAST = 3;
const SOCKETS_JOIN = 4;
const SOCKETS_LEAVE = 5;
const DISCONNECT_SOCKETS = 6;
const SERVER_SIDE_EMIT = 9;
const EVENT = 2;

/** No server has this name, so all of them take its messages. */
const UID = "emitter";

type Rooms = string | readonly string[];

interface Target {
  readonly namespace: string;
  readonly rooms: readonly string[];
  readonly except: readonly string[];
  readonly flags: Readonly<Record<string, boolean>>;
}

const EVERYBODY: Target = { namespace: "/", rooms: [], except: [], flags: {} };

/**
 * Sends packets to the clients of a Socket.IO cluster, from a process that has no Socket.IO server. Its methods are those of Socket.IO's
 * server. Each that sends resolves when the store has passed the message on.
 * @example
 * const emitter = new Emitter(db);
 * await emitter.to("room:1").except("room:2").emit("news", { id: 17 });
 * await emitter.in("room:1").socketsJoin("room:3");
 */
export class Emitter {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #target: Target;

  constructor(store: Store, options: EmitterOptions = {}, target: Target = EVERYBODY) {
    aStore("Emitter", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? DEFAULT_PREFIX;
    this.#target = target;
  }

  /** Another namespace. */
  of(namespace: string): Emitter {
    word("namespace", namespace);
    return this.#with({ ...EVERYBODY, namespace: namespace.startsWith("/") ? namespace : `/${namespace}` });
  }

  /** To the clients in these rooms, besides those that are named already. */
  to(rooms: Rooms): Emitter {
    return this.#with({ ...this.#target, rooms: [...this.#target.rooms, ...[rooms].flat()] });
  }

  /** The same as `to`. */
  in(rooms: Rooms): Emitter {
    return this.to(rooms);
  }

  /** Not to the clients in these rooms. */
  except(rooms: Rooms): Emitter {
    return this.#with({ ...this.#target, except: [...this.#target.except, ...[rooms].flat()] });
  }

  /** Clients that cannot take it at this moment miss it. */
  get volatile(): Emitter {
    return this.#flag("volatile", true);
  }

  /** Whether what is sent may be compressed. */
  compress(compress: boolean): Emitter {
    return this.#flag("compress", compress);
  }

  /** Sends an event to all clients that were chosen; to all of the namespace, if none were. */
  emit(event: string, ...args: unknown[]): Promise<void> {
    const { namespace } = this.#target;
    const packet = { type: EVENT, data: [word("event", event), ...args], nsp: namespace };
    return this.#publish(BROADCAST, { packet, opts: this.#opts });
  }

  /** Puts the clients that were chosen into rooms. */
  socketsJoin(rooms: Rooms): Promise<void> {
    return this.#publish(SOCKETS_JOIN, { opts: this.#opts, rooms: [rooms].flat() });
  }

  /** Takes the clients that were chosen out of rooms. */
  socketsLeave(rooms: Rooms): Promise<void> {
    return this.#publish(SOCKETS_LEAVE, { opts: this.#opts, rooms: [rooms].flat() });
  }

  /** `close`: the connection beneath ends too. */
  disconnectSockets(close = false): Promise<void> {
    return this.#publish(DISCONNECT_SOCKETS, { opts: this.#opts, close });
  }

  /** To the servers, not to their clients. */
  serverSideEmit(event: string, ...args: unknown[]): Promise<void> {
    return this.#publish(SERVER_SIDE_EMIT, { packet: [word("event", event), ...args] });
  }

  get #opts() {
    const { rooms, except, flags } = this.#target;
    return { rooms, except, flags };
  }

  #flag(name: string, value: boolean): Emitter {
    return this.#with({ ...this.#target, flags: { ...this.#target.flags, [name]: value } });
  }

  #with(target: Target): Emitter {
    return new Emitter(this.#store, { prefix: this.#prefix }, target);
  }

  async #publish(type: number, data: object): Promise<void> {
    const { namespace } = this.#target;
    const channel = everybody(this.#prefix, namespace);
    const message = encode({ uid: UID, nsp: namespace, type, data });
    await this.#store.send(["PUBLISH", channel, message], { key: channel });
  }
}
