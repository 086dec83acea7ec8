/** What the tls-* directives and the options of `listen` become, and what is refused before anything changes. */
import { constants, getDiffieHellman } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { makeAuthority, TestCertificates } from "../../tests/kit/certificates.ts";
import { Config } from "../config/config.ts";
import { fromDirectives, fromOptions, TlsError } from "./settings.ts";

const certificates = new TestCertificates();
const { folder, authority, directives } = certificates;
const encrypted = authority.issue({ name: "encrypted", passphrase: "sesame" });
const encryptedCert = folder.write("encrypted.pem", encrypted.cert);
const encryptedKey = folder.write("encrypted.key", encrypted.key);
afterAll(() => certificates.remove());

const load = (more: Record<string, string> = {}) => fromDirectives(new Config({ ...directives, ...more }).values);

describe("directives", () => {
  test("by default: TLS 1.2 and 1.3, clients show a certificate", () => {
    const { server, client } = load();
    expect(server.clientCertificates).toBe("yes");
    expect(server.parts).toMatchObject({ minVersion: "TLSv1.2", maxVersion: "TLSv1.3", honorCipherOrder: false });
    expect(server.parts).toMatchObject({ secureOptions: 0, sessionTimeout: 300 });
    expect(client.cert).toBe(certificates.server.cert);
  });

  test("a certificate of its own for outgoing connections", () => {
    const files = { "tls-client-cert-file": encryptedCert, "tls-client-key-file": encryptedKey };
    const { client, server } = load({ ...files, "tls-client-key-file-pass": "sesame" });
    expect(client).toMatchObject({ cert: encrypted.cert, passphrase: "sesame" });
    expect(server.parts.cert).toBe(certificates.server.cert);
  });

  test("protocols, also with a gap between", () => {
    expect(load({ "tls-protocols": "TLSv1.3" }).server.parts).toMatchObject({ minVersion: "TLSv1.3" });
    const { parts } = load({ "tls-protocols": "tlsv1 TLSv1.2" }).server;
    expect(parts).toMatchObject({ minVersion: "TLSv1", maxVersion: "TLSv1.2" });
    expect(parts.secureOptions).toBe(constants.SSL_OP_NO_TLSv1_1);
  });

  test("ciphers of either kind leave the other kind as it was", () => {
    const older = load({ "tls-ciphers": "ECDHE-ECDSA-AES256-GCM-SHA384" }).server.parts.ciphers!;
    expect(older).toMatch(/^TLS_AES_.*:ECDHE-ECDSA-AES256-GCM-SHA384$/);
    const newer = load({ "tls-ciphersuites": "TLS_AES_128_GCM_SHA256" }).server.parts.ciphers!;
    expect(newer).toMatch(/^TLS_AES_128_GCM_SHA256:[^T]*ECDHE/);
  });

  test("without session caching there are no tickets", () => {
    expect(load({ "tls-session-caching": "no" }).server.parts.secureOptions).toBe(constants.SSL_OP_NO_TICKET);
  });

  test("parameters for Diffie-Hellman are handed on", () => {
    // A sequence of a prime of 2048 bits and the generator 2.
    const parts = ["3082010802820101", "00", getDiffieHellman("modp14").getPrime("hex"), "020102"];
    const text = Buffer.from(parts.join(""), "hex").toString("base64");
    const pem = `-----BEGIN DH PARAMETERS-----\n${text.replace(/.{1,64}/g, "$&\n")}-----END DH PARAMETERS-----\n`;
    const file = folder.write("dh.pem", pem);
    expect(load({ "tls-dh-params-file": file }).server.parts.dhparam).toBe(pem);
  });

  test("authorities come from a file, a folder, or both", () => {
    folder.write(authority.fileName, authority.cert);
    const ca = { "tls-ca-cert-dir": folder.path };
    expect(load(ca).server.parts.ca).toEqual([authority.cert, authority.cert]);
    expect(load({ ...ca, "tls-ca-cert-file": "" }).server.parts.ca).toEqual([authority.cert]);
  });

  const junk = folder.write("junk.pem", "-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n");
  test.each<[string, Record<string, string>, string]>([
    ["no certificate", { "tls-cert-file": "" }, "No tls-cert-file configured!"],
    ["no key", { "tls-key-file": "" }, "No tls-key-file configured!"],
    ["nobody to trust", { "tls-ca-cert-file": "" }, "Either tls-ca-cert-file or tls-ca-cert-dir must be specified"],
    [
      "a file that is not there",
      { "tls-cert-file": "/nowhere/c.pem" },
      "Failed to load certificate: /nowhere/c.pem: ENOENT",
    ],
    ["a file that is no certificate", { "tls-cert-file": junk }, `Failed to load certificate: ${junk}: `],
    ["an authority that is none", { "tls-ca-cert-file": junk }, `Failed to configure CA certificate(s): ${junk}: `],
    ["a key of another", { "tls-key-file": certificates.clientKey }, "does not belong to the certificate"],
    ["an encrypted key without password", { "tls-key-file": encryptedKey }, "it is encrypted, and no password is set"],
    ["a wrong password", { "tls-key-file": encryptedKey, "tls-key-file-pass": "x" }, "Failed to load private key"],
    [
      "a client's certificate without key",
      { "tls-client-cert-file": encryptedCert },
      "No tls-client-key-file configured!",
    ],
    [
      "a folder that is not there",
      { "tls-ca-cert-dir": "/nowhere" },
      "Failed to configure CA certificate(s): /nowhere",
    ],
    ["a folder without authorities", { "tls-ca-cert-dir": "/proc/self/fdinfo" }, 'run "openssl rehash'],
    ["a protocol that is none", { "tls-protocols": "SSLv3" }, "Invalid tls-protocols specified"],
    ["ciphers that nobody knows", { "tls-ciphers": "nonsense" }, "Failed to configure ciphers: nonsense"],
    [
      "suites that nobody knows",
      { "tls-ciphersuites": "TLS_NONSENSE" },
      "Failed to configure ciphersuites: TLS_NONSENSE",
    ],
    ["ciphers where suites belong", { "tls-ciphersuites": "AES256-SHA" }, "Failed to configure ciphersuites"],
    ["parameters that are none", { "tls-dh-params-file": junk }, `Failed to read DH params from ${junk}`],
  ])("%s is refused", (_, more, reason) => {
    expect(() => load(more)).toThrow(TlsError);
    expect(() => load(more)).toThrow(reason);
  });
});

describe("options of listen", () => {
  const { server } = certificates;

  test("take text, bytes or files", () => {
    const { parts } = fromOptions({ cert: certificates.cert, key: certificates.key });
    expect(parts).toMatchObject({ cert: server.cert, key: server.key, minVersion: "TLSv1.2" });
    expect(fromOptions({ ...server, ca: [Buffer.from(authority.cert)] }).parts.ca).toEqual([authority.cert]);
    expect(fromOptions({ ...encrypted, passphrase: "sesame" }).clientCertificates).toBe("no");
  });

  test("ask clients for a certificate when there is an authority", () => {
    expect(fromOptions(server).clientCertificates).toBe("no");
    expect(fromOptions({ ...server, ca: authority.cert }).clientCertificates).toBe("yes");
    expect(fromOptions({ ...server, ca: authority.cert, authClients: "optional" }).clientCertificates).toBe("optional");
    expect(() => fromOptions({ ...server, authClients: true })).toThrow("authClients needs ca");
  });

  test("name what is wrong", () => {
    expect(() => fromOptions({ cert: server.cert, key: makeAuthority().key })).toThrow("The key key does not belong");
    expect(() => fromOptions({ ...server, cert: "/nowhere.pem" })).toThrow("Failed to load cert: /nowhere.pem: ENOENT");
  });
});
