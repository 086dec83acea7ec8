/** The adapter: what Socket.IO's own cluster adapter asks for, over channels of the store. */
import type { Namespace } from "socket.io";
import { ClusterAdapterWithHeartbeat, type ClusterMessage, type ClusterResponse } from "socket.io-adapter";
import { aStore } from "../../base/checks.ts";
import { callback, defineOptions, prefix, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import type { Subscription } from "../../connection/subscriptions.ts";
import { decode, encode } from "../shared/bytes-json.ts";
import { DEFAULT_PREFIX, everybody, oneServer } from "./packets.ts";

/** How the servers of a Socket.IO cluster find each other. */
export interface AdapterOptions {
  /** The first word of the channels; the same on all servers and emitters. "socket.io" by default. */
  readonly prefix?: string;
  /** How often each server says that it is there; 5 000 by default. */
  readonly heartbeatInterval?: number;
  /** Without a heartbeat for so long a server counts as gone; 10 000 by default. */
  readonly heartbeatTimeout?: number;
  /** A message that could not be published or read; nothing by default. */
  readonly onError?: (error: unknown) => void;
}

const OPTIONS = defineOptions<AdapterOptions>("createAdapter", {
  prefix,
  heartbeatInterval: whole(10),
  heartbeatTimeout: whole(10),
  onError: callback,
});

/**
 * For `new Server({ adapter: createAdapter(db) })`. Each namespace has a channel, and one for the answers to each server.
 * @example
 * import { Server } from "socket.io";
 * const io = new Server({ adapter: createAdapter(db) });
 * io.listen(0);
 * await io.close();
 */
export function createAdapter(store: Store, options: AdapterOptions = {}): (nsp: Namespace) => StoreAdapter {
  aStore("createAdapter", store);
  OPTIONS.check(options);
  // Socket.IO calls it with `new`.
  return function adapter(nsp: Namespace) {
    return new StoreAdapter(nsp, store, options);
  };
}

class StoreAdapter extends ClusterAdapterWithHeartbeat {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #namespace: string;
  readonly #onError: (error: unknown) => void;
  #subscriptions: Promise<Subscription>[] = [];

  constructor(nsp: Namespace, store: Store, options: AdapterOptions) {
    const { heartbeatInterval = 5_000, heartbeatTimeout = 10_000 } = options;
    super(nsp, { heartbeatInterval, heartbeatTimeout });
    this.#store = store;
    this.#prefix = options.prefix ?? DEFAULT_PREFIX;
    this.#namespace = nsp.name;
    this.#onError = options.onError ?? (() => {});
  }

  /** Socket.IO listens when this is done: nothing that is published from then on is missed. */
  override async init(): Promise<void> {
    this.#subscriptions = [
      this.#store.subscribe(everybody(this.#prefix, this.#namespace), (message) =>
        this.#heard(message, (each) => this.onMessage(each as ClusterMessage)),
      ),
      this.#store.subscribe(oneServer(this.#prefix, this.#namespace, this.uid), (message) =>
        this.#heard(message, (each) => this.onResponse(each as ClusterResponse)),
      ),
    ];
    await Promise.all(this.#subscriptions);
    super.init();
  }

  /** Anybody may publish to a channel: a message that is not ours is ignored. */
  #heard(message: Buffer, take: (decoded: unknown) => void): void {
    try {
      take(decode(message.toString("utf8")));
    } catch (error) {
      this.#onError(error);
    }
  }

  override close(): void {
    if (!this.#store.closed) super.close();
    for (const each of this.#subscriptions.splice(0)) {
      each.then((subscription) => subscription.close()).catch(this.#onError);
    }
  }

  /** The empty text: this adapter keeps no packets, so there is no offset to recover from. */
  protected override async doPublish(message: ClusterMessage): Promise<string> {
    await this.#publish(everybody(this.#prefix, this.#namespace), message);
    return "";
  }

  protected override async doPublishResponse(requester: string, response: ClusterResponse): Promise<void> {
    await this.#publish(oneServer(this.#prefix, this.#namespace, requester), response);
  }

  async #publish(channel: string, message: unknown): Promise<void> {
    if (this.#store.closed) return;
    try {
      // In a Cluster always by the same node, so that packets of one server stay in order.
      await this.#store.send(["PUBLISH", channel, encode(message)], { key: channel });
    } catch (error) {
      this.#onError(error);
      throw error;
    }
  }
}
