/**
 * Certificates for tests, made here and now with nothing but Node: an authority, and what it signs. Node's own crypto makes
 * keys and signatures but no certificates, so this writes X.509 (RFC 5280) in DER by hand: a certificate is a list of a
 * few fields, each a tag, a length and its bytes, and a signature over the lot.
 *
 *   const authority = makeAuthority();
 *   const server = authority.issue({ hosts: ["localhost", "127.0.0.1"] });
 *   const expired = authority.issue({ days: [-10, -1] });
 *   const stranger = makeAuthority("another").issue();
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

// -------------------------------------------------------------------------------------------------- DER

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = length < 256 ? [length] : [length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length, ...digits]), content]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const set = (...parts: readonly Buffer[]) => der(0x31, ...parts);
const octets = (bytes: Buffer) => der(0x04, bytes);
const bits = (bytes: Buffer, unused = 0) => der(0x03, Buffer.from([unused]), bytes);
const utf8 = (text: string) => der(0x0c, Buffer.from(text));
const integer = (bytes: Buffer) => der(0x02, bytes[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
const TRUE = der(0x01, Buffer.from([0xff]));

function oid(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split(".").map(Number);
  const bytes = [first! * 40 + second!];
  for (const arc of rest) {
    const digits = [arc & 127];
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift(0x80 | (left & 127));
    bytes.push(...digits);
  }
  return der(0x06, Buffer.from(bytes));
}

/** Up to 2049 with two digits of the year, as the standard has it. */
const time = (date: Date) => der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-T:]/g, "")}Z`));

const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const COMMON_NAME = oid("2.5.4.3");

const nameOf = (commonName: string) => sequence(set(sequence(COMMON_NAME, utf8(commonName))));
const extension = (id: string, critical: boolean, value: Buffer) =>
  sequence(oid(id), ...(critical ? [TRUE] : []), octets(value));

function hostName(host: string): Buffer {
  if (isIP(host) === 4) return der(0x87, Buffer.from(host.split(".").map(Number)));
  return der(0x82, Buffer.from(host));
}

// -------------------------------------------------------------------------------------------------- certificates

const DAY_MS = 24 * 60 * 60 * 1000;

export interface CertificateOptions {
  readonly name?: string;
  /** Names and IPv4 addresses that it is good for; none for clients. */
  readonly hosts?: readonly string[];
  /** From and until when it is valid, in days from now. */
  readonly days?: readonly [from: number, until: number];
  /** Encrypts the key with this. */
  readonly passphrase?: string;
}

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  issue(options?: CertificateOptions): Certificate;
  /** How OpenSSL calls its file in a folder of authorities. */
  readonly fileName: string;
}

interface Signer {
  readonly name: string;
  readonly key: KeyObject;
}

interface Holder {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly days: readonly [number, number];
  readonly extensions: readonly Buffer[];
}

function writeCertificate(signer: Signer, holder: Holder): string {
  const now = Date.now();
  const [from, until] = holder.days.map((days) => new Date(now + days * DAY_MS));
  const content = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    nameOf(signer.name),
    sequence(time(from!), time(until!)),
    nameOf(holder.name),
    holder.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...holder.extensions)),
  );
  const signature = sign("sha256", content, signer.key);
  const text = sequence(content, ECDSA_SHA256, bits(signature)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${text.replace(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`;
}

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

const pemOf = (key: KeyObject, passphrase?: string): string =>
  key.export({
    type: "pkcs8",
    format: "pem",
    ...(passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase }),
  }) as string;

const isCertificateAuthority = extension("2.5.29.19", true, sequence(TRUE));
const maySign = extension("2.5.29.15", true, bits(Buffer.from([0x06]), 1));

/** An authority that signs itself. */
export function makeAuthority(name = "Cinnabar Test Authority"): Authority {
  const { publicKey, privateKey } = newKeys();
  const signer = { name, key: privateKey };
  const days = [-365, 365] as const;
  const cert = writeCertificate(signer, { name, publicKey, days, extensions: [isCertificateAuthority, maySign] });
  return {
    cert,
    key: pemOf(privateKey),
    fileName: `${subjectHash(name)}.0`,
    issue(options = {}) {
      const { hosts = [], passphrase } = options;
      const keys = newKeys();
      const extensions = [extension("2.5.29.19", true, sequence())];
      if (hosts.length > 0) extensions.push(extension("2.5.29.17", false, sequence(...hosts.map(hostName))));
      const holder = { name: options.name ?? hosts[0] ?? "client", publicKey: keys.publicKey, extensions };
      return {
        cert: writeCertificate(signer, { ...holder, days: options.days ?? [-1, 30] }),
        key: pemOf(keys.privateKey, passphrase),
      };
    },
  };
}

/** OpenSSL's hash of a subject: over its parts in one spelling, lower case and UTF-8, without the outer sequence. */
function subjectHash(commonName: string): string {
  const canonical = set(sequence(COMMON_NAME, utf8(commonName.toLowerCase())));
  return createHash("sha1").update(canonical).digest().readUInt32LE(0).toString(16).padStart(8, "0");
}

// -------------------------------------------------------------------------------------------------- files

/** A folder with certificates in files, for servers that are configured with files. */
export class CertificateFolder {
  readonly path = mkdtempSync(join(tmpdir(), "cinnabar-tls-"));

  /** Writes a file, or writes it anew; answers its path. */
  write(name: string, text: string): string {
    const file = join(this.path, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** What most suites want: an authority, a server's certificate for this machine, a client's, and their files. */
export class TestCertificates {
  readonly authority = makeAuthority();
  readonly server = this.authority.issue({ name: "server", hosts: ["localhost", "127.0.0.1"] });
  readonly client = this.authority.issue({ name: "client" });
  readonly folder = new CertificateFolder();
  readonly ca = this.folder.write("ca.pem", this.authority.cert);
  readonly cert = this.folder.write("server.pem", this.server.cert);
  readonly key = this.folder.write("server.key", this.server.key);
  readonly clientCert = this.folder.write("client.pem", this.client.cert);
  readonly clientKey = this.folder.write("client.key", this.client.key);

  /** The directives of a server that uses them. */
  get directives(): Readonly<Record<string, string>> {
    return { "tls-cert-file": this.cert, "tls-key-file": this.key, "tls-ca-cert-file": this.ca };
  }

  /** What a Node client needs: trust in the authority, and a certificate of its own. */
  get trust(): { readonly ca: string; readonly cert: string; readonly key: string } {
    return { ca: this.authority.cert, cert: this.client.cert, key: this.client.key };
  }

  remove(): void {
    this.folder.remove();
  }
}
