/**
 * From settings to what Node needs for TLS: the tls-* directives, or the options of an embedder's `listen`.
 *
 * Everything is read and tried here, so that a file that is missing, a key that does not belong to its certificate or a
 * cipher that nobody knows is an error before anything changes. The texts name the file and the reason, never what is in it.
 */
import { constants, createPrivateKey, X509Certificate } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions, type SecureVersion } from "node:tls";
import type { ConfigValues } from "../config/directives.ts";
import { messageOf } from "../lib/caught.ts";

/** Why TLS cannot be configured as it was asked for. */
export class TlsError extends Error {
  /** The name of the class, as `Error` has it. */
  override readonly name = "TlsError";
}

/** Whether clients have to show a certificate; with `optional` one that is shown must be good. */
export type ClientCertificates = "no" | "yes" | "optional";

/** What a server needs to accept connections. */
export interface ServerTls {
  readonly parts: SecureContextOptions;
  readonly clientCertificates: ClientCertificates;
}

/** A PEM text, its bytes, or the path of a file with it. */
export type Pem = string | Uint8Array;

/** A server's certificate, and which clients it lets in. */
export interface ListenTlsOptions {
  /** The server's certificate, and behind it those that lead to its authority. */
  readonly cert: Pem;
  /** The private key of the certificate. */
  readonly key: Pem;
  /** For a key that is encrypted. None by default. */
  readonly passphrase?: string;
  /** The authorities that sign the certificates of clients. None by default. */
  readonly ca?: Pem | readonly Pem[];
  /** Whether clients must show a certificate: by default yes if `ca` is given, else no. */
  readonly authClients?: boolean | "optional";
  /** Default TLSv1.2. */
  readonly minVersion?: SecureVersion;
  /** The ciphers that are allowed, in OpenSSL's words. Node's list by default. */
  readonly ciphers?: string;
}

const reasonOf = (error: unknown): string => messageOf(error).trim();

function attempt<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new TlsError(`${what}: ${reasonOf(error)}`);
  }
}

// -------------------------------------------------------------------------------------------------- certificates

interface Named {
  readonly pem: string;
  /** For errors: a path, or what stands for it. */
  readonly name: string;
}

function certificate({ pem, name }: Named): string {
  return attempt(`Failed to load certificate: ${name}`, () => {
    createSecureContext({ cert: pem });
    return pem;
  });
}

function privateKey({ pem, name }: Named, passphrase: string): string {
  const what = `Failed to load private key: ${name}`;
  if (passphrase === "" && /ENCRYPTED/.test(pem))
    throw new TlsError(`${what}: it is encrypted, and no password is set`);
  return attempt(what, () => {
    createPrivateKey({ key: pem, ...(passphrase === "" ? {} : { passphrase }) });
    return pem;
  });
}

function authority({ pem, name }: Named): string {
  return attempt(`Failed to configure CA certificate(s): ${name}`, () => {
    new X509Certificate(pem);
    return pem;
  });
}

/** A certificate with its key: that both can be read, and belong together. */
function identity(cert: Named, key: Named, passphrase: string): SecureContextOptions {
  const parts = {
    cert: certificate(cert),
    key: privateKey(key, passphrase),
    ...(passphrase === "" ? {} : { passphrase }),
  };
  attempt(`The key ${key.name} does not belong to the certificate ${cert.name}`, () => createSecureContext(parts));
  return parts;
}

function fromFile(file: string, what: string): Named {
  return { pem: attempt(`${what}: ${file}`, () => readFileSync(file, "latin1")), name: file };
}

/**
 * The authorities of a folder: the files that OpenSSL would look at there, named by a hash of who is in them (what
 * `openssl rehash` does). OpenSSL looks when a certificate has to be checked, this server when it loads its settings.
 */
function fromFolder(folder: string): string[] {
  const what = `Failed to configure CA certificate(s): ${folder}`;
  const files = attempt(what, () => readdirSync(folder)).filter((name) => /^[0-9a-f]{8}\.\d+$/.test(name));
  if (files.length === 0) {
    throw new TlsError(
      `${what}: no file there is named by the hash of its certificate (run "openssl rehash ${folder}")`,
    );
  }
  return files.map((name) => authority(fromFile(join(folder, name), "Failed to load CA certificate")));
}

function authorities(values: ConfigValues): string[] {
  const file = values["tls-ca-cert-file"];
  const folder = values["tls-ca-cert-dir"];
  const found = file === "" ? [] : [authority(fromFile(file, "Failed to configure CA certificate(s)"))];
  return folder === "" ? found : [...found, ...fromFolder(folder)];
}

/** OpenSSL, as Node calls it, passes over parameters that it cannot read: a sequence of two numbers it must be. */
function diffieHellman({ pem, name }: Named): string {
  const [, text = ""] = /-----BEGIN DH PARAMETERS-----([\s\S]+)-----END DH PARAMETERS-----/.exec(pem) ?? [];
  const bytes = Buffer.from(text, "base64");
  const start = (bytes[1] ?? 0) < 0x80 ? 2 : 2 + (bytes[1]! & 0x7f);
  if (bytes[0] !== 0x30 || bytes[start] !== 0x02) throw new TlsError(`Failed to read DH params from ${name}`);
  return pem;
}

// -------------------------------------------------------------------------------------------------- protocols and ciphers

const VERSIONS = [
  { name: "TLSv1", without: constants.SSL_OP_NO_TLSv1 },
  { name: "TLSv1.1", without: constants.SSL_OP_NO_TLSv1_1 },
  { name: "TLSv1.2", without: constants.SSL_OP_NO_TLSv1_2 },
  { name: "TLSv1.3", without: constants.SSL_OP_NO_TLSv1_3 },
] as const;

/** The versions that are spoken: a lowest, a highest, and what is left out between. */
function protocols(text: string): SecureContextOptions {
  const words = text === "" ? ["tlsv1.2", "tlsv1.3"] : text.toLowerCase().split(" ");
  const wanted = VERSIONS.filter(({ name }) => words.includes(name.toLowerCase()));
  if (words.some((word) => !VERSIONS.some(({ name }) => name.toLowerCase() === word))) {
    throw new TlsError(
      "Invalid tls-protocols specified. Use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'.",
    );
  }
  const first = VERSIONS.indexOf(wanted[0]!);
  const last = VERSIONS.indexOf(wanted.at(-1)!);
  let secureOptions = 0;
  for (const version of VERSIONS.slice(first, last + 1))
    if (!wanted.includes(version)) secureOptions |= version.without;
  return { minVersion: VERSIONS[first]!.name, maxVersion: VERSIONS[last]!.name, secureOptions };
}

const isSuite = (cipher: string) => cipher.startsWith("TLS_");

/** Node has the ciphers of TLS 1.3 and those of the versions before in one list; OpenSSL and Redis have two. */
function ciphers(forOlder: string, suites: string): SecureContextOptions {
  if (forOlder === "" && suites === "") return {};
  if (suites.split(":").some((suite) => suite !== "" && !isSuite(suite))) {
    throw new TlsError(`Failed to configure ciphersuites: ${suites}`);
  }
  const given = (text: string, keep: (cipher: string) => boolean) =>
    (text === "" ? DEFAULT_CIPHERS : text).split(":").filter(keep).join(":");
  const older = given(forOlder, (cipher) => !isSuite(cipher));
  const newer = given(suites, isSuite);
  const what = (name: string, text: string) => `Failed to configure ${name}: ${text}`;
  if (suites !== "") attempt(what("ciphersuites", suites), () => createSecureContext({ ciphers: newer }));
  if (forOlder !== "") attempt(what("ciphers", forOlder), () => createSecureContext({ ciphers: older }));
  return { ciphers: `${newer}:${older}` };
}

// -------------------------------------------------------------------------------------------------- the two ends

/** What both ends share. */
function common(values: ConfigValues): SecureContextOptions {
  const ca = authorities(values);
  return {
    ...protocols(values["tls-protocols"]),
    ...ciphers(values["tls-ciphers"], values["tls-ciphersuites"]),
    ...(ca.length === 0 ? {} : { ca }),
  };
}

function checkComplete(values: ConfigValues): void {
  if (values["tls-cert-file"] === "") throw new TlsError("No tls-cert-file configured!");
  if (values["tls-key-file"] === "") throw new TlsError("No tls-key-file configured!");
  const verifies = values["tls-auth-clients"] !== "no" || values["tls-cluster"] || values["tls-replication"];
  if (verifies && values["tls-ca-cert-file"] === "" && values["tls-ca-cert-dir"] === "") {
    throw new TlsError(
      "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, tls-replication or tls-auth-clients are enabled!",
    );
  }
}

/** How the directives want connections to be accepted and made. Throws a TlsError. */
export function fromDirectives(values: ConfigValues): { server: ServerTls; client: SecureContextOptions } {
  checkComplete(values);
  const shared = common(values);
  const { secureOptions = 0 } = shared;
  const ofServer = identityOf(values, ["tls-cert-file", "tls-key-file", "tls-key-file-pass"]);
  const ofClient = identityOf(values, ["tls-client-cert-file", "tls-client-key-file", "tls-client-key-file-pass"]);
  const dhFile = values["tls-dh-params-file"];
  const dhparam = dhFile === "" ? null : diffieHellman(fromFile(dhFile, "Failed to load DH parameters"));
  const parts: SecureContextOptions = {
    ...shared,
    ...ofServer,
    ...(dhparam === null ? {} : { dhparam }),
    honorCipherOrder: values["tls-prefer-server-ciphers"],
    // Sessions are tickets, which clients keep: without them nothing is resumed.
    secureOptions: values["tls-session-caching"] ? secureOptions : secureOptions | constants.SSL_OP_NO_TICKET,
    sessionTimeout: values["tls-session-cache-timeout"],
  };
  attempt("Failed to configure TLS", () => createSecureContext(parts));
  return {
    server: { parts, clientCertificates: values["tls-auth-clients"] },
    client: { ...shared, ...(ofClient ?? ofServer) },
  };
}

type Pass = "tls-key-file-pass" | "tls-client-key-file-pass";
type File = "tls-cert-file" | "tls-key-file" | "tls-client-cert-file" | "tls-client-key-file";

/** Null where the certificate's file is not set. */
function identityOf(values: ConfigValues, [cert, key, pass]: readonly [File, File, Pass]): SecureContextOptions | null {
  if (values[cert] === "") return null;
  if (values[key] === "") throw new TlsError(`No ${key} configured!`);
  return identity(
    fromFile(values[cert], "Failed to load certificate"),
    fromFile(values[key], "Failed to load private key"),
    values[pass],
  );
}

function pemOf(given: Pem, name: string): Named {
  if (typeof given !== "string") return { pem: Buffer.from(given).toString("latin1"), name };
  return given.includes("-----BEGIN") ? { pem: given, name } : fromFile(given, `Failed to load ${name}`);
}

/** What an embedder gives to `listen`. Throws a TlsError. */
export function fromOptions(options: ListenTlsOptions): ServerTls {
  const { passphrase = "", minVersion = "TLSv1.2", authClients = options.ca !== undefined } = options;
  const { ca: given = [] } = options;
  const listed = typeof given === "string" || given instanceof Uint8Array ? [given] : given;
  const ca = listed.map((each: Pem) => authority(pemOf(each, "ca")));
  if (authClients !== false && ca.length === 0) {
    throw new TlsError("authClients needs ca: the authorities that sign the certificates of clients");
  }
  const parts: SecureContextOptions = {
    ...identity(pemOf(options.cert, "cert"), pemOf(options.key, "key"), passphrase),
    ...(ca.length === 0 ? {} : { ca }),
    ...(options.ciphers === undefined ? {} : { ciphers: options.ciphers }),
    minVersion,
  };
  attempt("Failed to configure TLS", () => createSecureContext(parts));
  return { parts, clientCertificates: authClients === true ? "yes" : authClients === false ? "no" : "optional" };
}
