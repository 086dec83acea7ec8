/**
 * The way to a primary that Sentinel watches: every connection asks the sentinels who it is now, and the server itself whether
 * that is true, since a sentinel may be behind. One connection listens to the sentinels for a failover: a client on the wrong
 * side of a network split would go on writing to the old primary, and those writes are lost when it steps down.
 */
import type { Timer } from "../base/clock.ts";
import { ConnectionError, errorOf, InputError, ServerError } from "../base/errors.ts";
import { type Credentials, dialWire, type Endpoint, labelOf, mayPass, request, type Settings } from "./dial.ts";
import type { WorkerAddress } from "./port.ts";
import { RemoteDriver } from "./remote.ts";
import { HEARTBEAT_MS } from "./subscriber.ts";
import type { Wire } from "./wire.ts";

export interface SentinelOptions {
  readonly name: string;
  readonly sentinels: readonly Endpoint[];
  readonly credentials: Credentials;
  readonly sentinelTls: object | undefined;
  readonly settings: Settings;
  readonly address: WorkerAddress | null;
  /** Where servers are reached under other addresses than their own. */
  readonly translate?: (endpoint: Endpoint) => Endpoint;
}

/** How long one sentinel may take before the next is asked. */
const ONE_SENTINEL_MS = 1_000;
const WATCH_AGAIN_MS = 1_000;

export async function openSentinel(options: SentinelOptions): Promise<RemoteDriver> {
  const watcher = new SentinelWatcher(options);
  const driver = await RemoteDriver.open({
    topology: "sentinel",
    settings: options.settings,
    dial: () => watcher.dialPrimary(),
    address: options.address,
    onClose: () => watcher.close(),
  });
  watcher.watch((primary, reason) => driver.leaveUnless(primary, reason));
  return driver;
}

type OnSwitch = (primary: string, reason: string) => void;

class SentinelWatcher {
  readonly #options: SentinelOptions;
  readonly #asked: Settings;
  #sentinels: Endpoint[];
  /** How many failovers Sentinel has announced. */
  #failovers = 0;
  #wire: Wire | null = null;
  #again: Timer | undefined;
  #heartbeat: Timer | undefined;
  #closed = false;

  constructor(options: SentinelOptions) {
    this.#options = options;
    this.#sentinels = [...options.sentinels];
    const { settings, credentials } = options;
    this.#asked = {
      ...settings,
      username: credentials.username,
      password: credentials.password,
      tls: options.sentinelTls,
      db: 0,
      clientName: undefined,
      connectTimeoutMs: Math.min(settings.connectTimeoutMs, ONE_SENTINEL_MS),
    };
  }

  async dialPrimary(): Promise<Wire> {
    const { settings, name } = this.#options;
    const failovers = this.#failovers;
    const endpoint = this.#reachable(await this.#primaryNow());
    const wire = await dialWire(endpoint, settings);
    try {
      const role = await wire.ask(request("ROLE"), { timeoutMs: settings.connectTimeoutMs });
      const isReplica = Array.isArray(role) && role[0] !== "master";
      if (isReplica || failovers !== this.#failovers) {
        const message = `${wire.label} is named as the primary of "${name}" but is not, ${isReplica ? "yet" : "any more"}`;
        throw new ConnectionError(message, { maybeExecuted: false, code: "UNREACHABLE" });
      }
    } catch (error) {
      wire.destroy();
      throw error;
    }
    return wire;
  }

  #reachable(named: Endpoint): Endpoint {
    return this.#options.translate?.(named) ?? named;
  }

  async #primaryNow(): Promise<Endpoint> {
    const { name } = this.#options;
    const failures: Error[] = [];
    for (const sentinel of [...this.#sentinels]) {
      let wire: Wire | undefined;
      try {
        wire = await dialWire(sentinel, this.#asked);
        const endpoint = await this.#ask(wire);
        if (endpoint !== null) {
          this.#prefer(sentinel);
          return endpoint;
        }
        failures.push(new InputError(`${labelOf(sentinel)} knows no primary "${name}"`));
      } catch (error) {
        failures.push(errorOf(error));
      } finally {
        wire?.destroy();
      }
    }
    // All of them answered, and none of them will say anything else next time.
    const final = failures.every((failure) => !mayPass(failure));
    const message = `no sentinel could name the primary of "${name}": ${failures.map((each) => each.message).join("; ")}`;
    if (final) throw new InputError(message);
    throw new ConnectionError(message, { maybeExecuted: false, code: "UNREACHABLE" });
  }

  async #ask(wire: Wire): Promise<Endpoint | null> {
    const { name } = this.#options;
    const limits = { timeoutMs: this.#asked.connectTimeoutMs };
    const [address, others] = await wire.askAll(
      [request("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name), request("SENTINEL", "SENTINELS", name)],
      limits,
    );
    if (address instanceof ServerError) throw address;
    if (!Array.isArray(address)) return null;
    if (Array.isArray(others)) this.#learn(others);
    return { host: String(address[0]), port: Number(address[1]) };
  }

  /** Sentinels that came later than the program's configuration. */
  #learn(others: readonly unknown[]): void {
    if (this.#options.translate !== undefined) return;
    const known = new Set(this.#sentinels.map(labelOf));
    for (const other of others) {
      if (!Array.isArray(other)) continue;
      const field = (name: string): string => String(other[other.indexOf(name) + 1]);
      const endpoint = { host: field("ip"), port: Number(field("port")) };
      if (known.has(labelOf(endpoint)) || !Number.isInteger(endpoint.port) || this.#sentinels.length >= 32) continue;
      known.add(labelOf(endpoint));
      this.#sentinels.push(endpoint);
    }
  }

  /** Who answered is asked first next time. */
  #prefer(sentinel: Endpoint): void {
    this.#sentinels = [sentinel, ...this.#sentinels.filter((each) => each !== sentinel)];
  }

  // ---------------------------------------------------------------------------------------------- failovers

  /** Calls back with the address of the primary when there has been a failover, or may have been. */
  watch(onSwitch: OnSwitch): void {
    this.#listen(onSwitch).catch(() => this.#watchAgain(onSwitch));
  }

  async #listen(onSwitch: OnSwitch): Promise<void> {
    const sentinel = this.#sentinels[0]!;
    let wire: Wire;
    try {
      wire = await dialWire(sentinel, this.#asked);
    } catch (error) {
      this.#sentinels = [...this.#sentinels.slice(1), sentinel];
      throw error;
    }
    if (this.#closed) return wire.destroy();
    this.#wire = wire;
    wire.onClose(() => this.#watchAgain(onSwitch));
    await wire.subscribe("+switch-master", (message) => {
      const [name, , , host, port] = message.toString("utf8").split(" ");
      if (name !== this.#options.name || host === undefined) return;
      this.#failovers++;
      this.#tell({ host, port: Number(port) }, onSwitch);
    });
    this.#beat(wire);
    // What was said while nobody listened.
    this.#tell(await this.#primaryNow(), onSwitch);
  }

  /** A connection that only listens cannot tell silence from death. */
  #beat(wire: Wire): void {
    this.#heartbeat?.cancel();
    this.#heartbeat = this.#options.settings.clock.after(HEARTBEAT_MS, () => {
      wire.ask(request("PING"), { timeoutMs: this.#asked.connectTimeoutMs }).then(
        () => this.#beat(wire),
        () => wire.destroy(),
      );
    });
  }

  #tell(named: Endpoint, onSwitch: OnSwitch): void {
    const primary = labelOf(this.#reachable(named));
    onSwitch(primary, `${primary} is the primary of "${this.#options.name}" now`);
  }

  #watchAgain(onSwitch: OnSwitch): void {
    this.#heartbeat?.cancel();
    this.#wire?.destroy();
    if (this.#closed || this.#again !== undefined) return;
    this.#again = this.#options.settings.clock.after(WATCH_AGAIN_MS, () => {
      this.#again = undefined;
      if (!this.#closed) this.watch(onSwitch);
    });
  }

  close(): void {
    this.#closed = true;
    this.#again?.cancel();
    this.#heartbeat?.cancel();
    this.#wire?.destroy();
  }
}
