/** The way to other servers, where there is none: replication and MIGRATE fail as with a server that cannot be reached. */
import { type Config, ConfigError } from "../config/config.ts";
import type { Wire } from "../core/dial.ts";
import { NoSockets } from "../platform/no-sockets.browser.ts";
import { PortStream } from "../platform/port-stream.ts";
import type { SecureContextOptions, TcpNetConnectOpts } from "../platform/streams.ts";
import { soon } from "../platform/timers.ts";

export interface Dialed {
  readonly socket: Wire;
  readonly ready: "connect" | "secureConnect";
}

/** It leads nowhere. */
class NoWire extends PortStream implements Wire {
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}
}

export class TlsContexts {
  /** A setting that asks for protection is in force or the start is refused. */
  constructor({ config: { values } }: { readonly config: Config }) {
    if (values["tls-port"] !== 0 || values["tls-replication"] || values["tls-cluster"]) {
      throw new ConfigError("TLS cannot be put into force: a browser has no sockets");
    }
  }

  get client(): SecureContextOptions {
    throw new NoSockets("TLS");
  }

  dial({ port }: TcpNetConnectOpts, _secure: boolean): Dialed {
    if (!Number.isInteger(port) || port < 0 || port > 65535) throw new RangeError(`there is no port ${port}`);
    const socket = new NoWire(new MessageChannel().port1);
    soon(() => socket.destroy(Object.assign(new NoSockets("another server"), { code: "ECONNREFUSED" })));
    return { socket, ready: "connect" };
  }
}
