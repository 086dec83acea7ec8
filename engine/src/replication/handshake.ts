/**
 * How a replica introduces itself: PING, AUTH, REPLCONF, PSYNC, and what the primary may answer.
 *
 * PING comes alone, since only its answer shows that somebody is there who speaks the protocol; AUTH and REPLCONF go out
 * together and are answered in order; a primary may refuse any REPLCONF, being older than what it says. To PSYNC it answers
 * that it goes on, that everything will come, or that it cannot now. One that does not know PSYNC is asked with SYNC.
 */
import type { ConfigValues } from "../config/directives.ts";
import { NO_ID } from "./ids.ts";

/** What PSYNC asks for. */
export interface ResumePoint {
  readonly id: string;
  /** The first offset that is wanted; -1 with the id `?`. */
  readonly offset: number;
  /** Whether the other is to become the primary. */
  readonly failover: boolean;
}

export type SyncAnswer =
  | { readonly kind: "continue"; readonly id: string | undefined }
  | { readonly kind: "full"; readonly id: string; readonly offset: number }
  | { readonly kind: "later"; readonly reason: string };

export interface HandshakeHost {
  readonly values: Pick<ConfigValues, "masterauth" | "masteruser" | "replica-announce-port" | "replica-announce-ip">;
  /** Where this server listens. */
  readonly port: number;
  psync(): ResumePoint;
  write(argv: readonly (string | number)[]): void;
  log(text: string): void;
}

type Step = "ping" | "auth" | "replconf" | "psync";

export class Handshake {
  readonly #host: HandshakeHost;
  /** Answers that are still to come, the next one first. */
  readonly #expected: Step[] = ["ping"];
  #failover = false;

  constructor(host: HandshakeHost) {
    this.#host = host;
    host.write(["PING"]);
  }

  /** Takes a line of the primary; how it goes on, once that is clear. Throws where it cannot. */
  answer(line: string): SyncAnswer | null {
    const step = this.#expected.shift()!;
    const refused = line.startsWith("-");
    switch (step) {
      case "ping":
        if (refused && !/^-(?:NOAUTH|NOPERM|ERR operation not permitted)/.test(line)) {
          throw new Error(`Error reply to PING from master: ${line}`);
        }
        this.#host.log("Master replied to PING, replication can continue...");
        this.#introduce();
        return null;
      case "auth":
        if (refused) throw new Error(`Unable to AUTH to MASTER: ${line}`);
        break;
      case "replconf":
        if (refused) this.#host.log(`(Non critical) Master does not understand REPLCONF: ${line}`);
        break;
      case "psync":
        return this.#synced(line);
    }
    if (this.#expected.length === 0) this.#psync();
    return null;
  }

  #introduce(): void {
    const { values, port } = this.#host;
    const { masterauth, masteruser } = values;
    if (masterauth !== "") {
      this.#ask("auth", masteruser === "" ? ["AUTH", masterauth] : ["AUTH", masteruser, masterauth]);
    }
    this.#ask("replconf", ["REPLCONF", "listening-port", values["replica-announce-port"] || port]);
    const ip = values["replica-announce-ip"];
    if (ip !== "") this.#ask("replconf", ["REPLCONF", "ip-address", ip]);
    this.#ask("replconf", ["REPLCONF", "capa", "eof", "capa", "psync2"]);
  }

  #ask(step: Step, argv: readonly (string | number)[]): void {
    this.#expected.push(step);
    this.#host.write(argv);
  }

  #psync(): void {
    const { id, offset, failover } = this.#host.psync();
    this.#failover = failover;
    if (id === "?") this.#host.log("Partial resynchronization not possible (no cached master)");
    else this.#host.log(`Trying a partial resynchronization (request ${id}:${offset}).`);
    this.#ask("psync", ["PSYNC", id, offset, ...(failover ? ["FAILOVER"] : [])]);
  }

  #synced(line: string): SyncAnswer | null {
    const full = /^\+FULLRESYNC ([\dA-Za-z]{40}) (\d{1,16})$/.exec(line);
    if (full !== null) {
      this.#host.log(`Full resync from master: ${full[1]}:${full[2]}`);
      return { kind: "full", id: full[1]!, offset: Number(full[2]) };
    }
    if (line.startsWith("+CONTINUE")) {
      this.#host.log("Successful partial resynchronization with master.");
      return { kind: "continue", id: /^\+CONTINUE ([\dA-Za-z]{40})$/.exec(line)?.[1] };
    }
    if (/^-(?:NOMASTERLINK|LOADING)/.test(line)) return { kind: "later", reason: line.slice(1) };
    if (this.#failover) return { kind: "later", reason: line };
    if (!line.startsWith("-")) throw new Error(`Unexpected reply to PSYNC from master: ${line.slice(0, 200)}`);
    // It does not know PSYNC. Its snapshot comes without an introduction, and its stream without offsets.
    this.#host.log(`Retrying with SYNC... (${line})`);
    this.#host.write(["SYNC"]);
    return { kind: "full", id: NO_ID, offset: -1 };
  }
}
