/**
 * TLS as the program that opens a store sees it: options that are looked at before anybody connects, and errors that say what
 * to do. What OpenSSL says names a place in its sources; the reason in it, and what it most often means, are what helps.
 */
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { InputError, messageOf } from "../base/errors.ts";
import type { TlsOptions } from "./port.ts";

/** Refuses options that cannot be used, and those of a URL without TLS: they show that encryption is expected. */
export function checkTls(options: TlsOptions, isSecure: boolean): void {
  if (!isSecure) throw new InputError("tls is for rediss:// URLs; with this one nothing would be encrypted");
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new InputError("tls.cert and tls.key belong together; one of them is missing");
  }
  try {
    createSecureContext(options as SecureContextOptions);
  } catch (error) {
    throw new InputError(`tls cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

const NOT_TLS = "the server does not use TLS on this port; connect with redis://, or to its TLS port";
const NOT_TRUSTED = "give the certificate of its authority as tls.ca";
const WANTS_CERTIFICATE = "the server asks for a certificate of the client; give tls.cert and tls.key";

const MAYBE_TLS = "if the server takes TLS on this port, connect with rediss://";
/** How a connection ends at a server that has no way, or no time, to say why. */
const UNCLEAR: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "CONNECTION", "PROTOCOL"]);

/** What the codes of Node and OpenSSL most often mean. */
const ADVICE: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|RECORD_LAYER_FAILURE)$/, NOT_TLS],
  [/^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_)/, NOT_TRUSTED],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "if that is the server that is meant, give its name as tls.servername"],
  [/ALERT_(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE)$/, WANTS_CERTIFICATE],
  [/ALERT_UNKNOWN_CA$/, "the server does not trust the authority of tls.cert"],
  [/ALERT_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/, "the server and this program share no version of TLS"],
];

/** The place in OpenSSL's sources around a reason: `0A…:error:0A00010B:SSL routines:where:wrong version number:file.c:355:`. */
const OPENSSL = /[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):[^:]*:\d+:[^\n]*\n?/;

/** Why a connection failed, in words: what was said, and what to do about it if that is known. */
export function tlsReason(code: unknown, said: string, isSecure: boolean): string {
  const plain = said.replace(OPENSSL, "$1").trim();
  const advice = typeof code === "string" ? ADVICE.find(([pattern]) => pattern.test(code))?.[1] : undefined;
  if (advice !== undefined) return `${plain}; ${advice}`;
  if (typeof code !== "string" || !UNCLEAR.has(code)) return plain;
  return `${plain}; ${isSecure ? "it may be that the server asks for a certificate of the client" : MAYBE_TLS}`;
}
