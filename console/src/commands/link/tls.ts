/** The flags for TLS, which every command that takes a URL has, and what they mean for connections. */
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { UsageError } from "../../options.ts";
import { codeOf, messageOf } from "../../values.ts";
import type { Arguments, Flag } from "../flags.ts";
import type { Place } from "./place.ts";

export const TLS_FLAGS: readonly Flag[] = [
  { name: "cacert", value: "FILE", isPath: true, summary: "certificate of the authority that signed the server's" },
  { name: "cert", value: "FILE", isPath: true, summary: "certificate of this client" },
  { name: "key", value: "FILE", isPath: true, summary: "its private key" },
  { name: "sni", value: "NAME", summary: "name of the server in its certificate" },
  { name: "insecure", summary: "do not check the server's certificate" },
];

/** What the flags say: options of `tls.connect`, and the files for who takes those. */
export interface TlsSettings {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: false;
}

/** Files are read and looked at before anybody connects. `places`: one of them must use TLS if there are such flags. */
export function tlsFrom(args: Arguments, places: readonly Place[]): TlsSettings {
  const [ca, cert, key] = [fileOf(args, "cacert"), fileOf(args, "cert"), fileOf(args, "key")];
  const servername = args.text("sni");
  if ((cert === undefined) !== (key === undefined)) throw new UsageError("--cert and --key belong together");
  const given = TLS_FLAGS.find(({ name }) => args.has(name));
  if (given !== undefined && !places.some((place) => place.kind !== "folder" && place.tls)) {
    throw new UsageError(`--${given.name} is for TLS: use a rediss:// URL`);
  }
  const settings: TlsSettings = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
    ...(args.has("insecure") ? { rejectUnauthorized: false } : {}),
  };
  try {
    createSecureContext({ ca, cert, key });
  } catch (error) {
    throw new UsageError(`the files for TLS cannot be used: ${messageOf(error)}`);
  }
  return settings;
}

/** What the toolkit says about its options, in the words of the command line. */
export const inFlags = (message: string): string =>
  message
    .replace(/\btls\.ca\b/g, "--cacert")
    .replace(/\btls\.(cert|key)\b/g, "--$1")
    .replace(/\btls\.servername\b/g, "--sni");

/** Whether a connection failed by what was said with TLS: waiting does not mend that, other flags may. */
export const isTlsRefusal = (code: string): boolean =>
  /^(ERR_SSL_|ERR_TLS_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/.test(code);

function fileOf(args: Arguments, flag: string): Buffer | undefined {
  const file = args.text(flag);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`--${flag}: ${file} cannot be read (${codeOf(error)})`);
  }
}
