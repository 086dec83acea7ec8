/** Processes on one folder under load, whose owner is killed again and again. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { nodeWords } from "../../../../scripts/program.ts";
import { open } from "../../../src/connection/open.ts";

const PROGRAM = fileURLToPath(new URL("./member.ts", import.meta.url));
/** A busy machine starts a process slowly. */
const LONGEST_WAIT_MS = 60_000;

export interface Figures {
  readonly acknowledged: number;
  /** Acknowledged, and not there in the end. */
  readonly lost: number;
  /** Of members that were there to the end: calls of which nobody knows whether they ran, and how many ran twice. */
  readonly unknown: number;
  readonly repeated: number;
  readonly takeovers: number;
  /** From a kill to the moment when all who are left had written, heard and got something. */
  readonly longestMs: number;
}

class Member {
  readonly name: string;
  readonly acks: string;
  readonly #child: ChildProcess;
  heard = -1;
  popped = -1;
  isReady = false;
  done: { readonly written: number; readonly unknown: number } | null = null;

  constructor(folder: string, name: string) {
    this.name = name;
    this.acks = join(folder, `acks-${name}`);
    this.#child = spawn(process.execPath, [...nodeWords(PROGRAM), join(folder, "data"), name, this.acks], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (message: { ready?: string; heard?: number; popped?: number; done?: Member["done"] }) => {
      if (message.ready !== undefined) this.isReady = true;
      this.heard = Math.max(this.heard, message.heard ?? -1);
      this.popped = Math.max(this.popped, message.popped ?? -1);
      this.done = message.done ?? this.done;
    });
    // What is sent to one that has just been killed.
    this.#child.on("error", () => {});
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** How many writes were acknowledged so far. */
  get written(): number {
    return this.ids().length;
  }

  ids(): string[] {
    try {
      return readFileSync(this.acks, "latin1").split("\n").slice(0, -1);
    } catch {
      return [];
    }
  }

  send(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  kill(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }
}

const until = (holds: () => boolean): Promise<void> =>
  expect.poll(holds, { timeout: LONGEST_WAIT_MS, interval: 20 }).toBe(true);

/** Kills the owner in each round, and sees that everybody who is left goes on. */
export async function takeoverRounds(processes: number, rounds: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-shared-"));
  const everybody: Member[] = [];
  const join_ = (): Member => {
    const member = new Member(folder, `m${everybody.length}`);
    everybody.push(member);
    return member;
  };
  let living = Array.from({ length: processes }, join_);
  let takeovers = 0;
  let longestMs = 0;
  try {
    for (let round = 0; round <= rounds; round++) {
      await goesOn(living, round);
      if (round === rounds) break;
      const owner = living.find(({ pid }) => pid === ownerOf(folder))!;
      expect(owner, "the owner is one of the processes").toBeDefined();
      const killedAt = performance.now();
      owner.kill("SIGKILL");
      living = living.filter((member) => member !== owner);
      await goesOn(living, round);
      takeovers++;
      longestMs = Math.max(longestMs, Math.round(performance.now() - killedAt));
      living.push(join_());
    }
    for (const member of living) member.send({ end: true });
    await until(() => living.every(({ done }) => done !== null));
    return { ...(await judge(folder, everybody, living)), takeovers, longestMs };
  } finally {
    for (const member of everybody) member.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Everybody writes, hears a message and gets an element. */
async function goesOn(living: readonly Member[], round: number): Promise<void> {
  const before = living.map(({ written }) => written);
  await until(() => living.every(({ isReady }) => isReady));
  await until(() => living.every((member, at) => member.written > before[at]! + 20));
  await until(() => {
    const others = living.filter(({ heard, popped }) => heard < round || popped < round);
    if (others.length > 0) living[round % living.length]!.send({ round, members: others.map(({ name }) => name) });
    return others.length === 0;
  });
}

function ownerOf(folder: string): number {
  const { pid } = JSON.parse(readFileSync(join(folder, "data/cinnabar.shared/owner.json"), "utf8")) as { pid: number };
  return pid;
}

async function judge(folder: string, everybody: readonly Member[], living: readonly Member[]) {
  const db = await open(join(folder, "data"));
  let [acknowledged, lost, unknown, repeated] = [0, 0, 0, 0];
  for (const member of everybody) {
    const there = new Set(await db.smembers(`written:${member.name}`));
    const ids = member.ids();
    acknowledged += ids.length;
    lost += ids.filter((id) => !there.has(id)).length;
    if (!living.includes(member)) continue;
    unknown += member.done!.unknown;
    repeated += Number(await db.get(`count:${member.name}`)) - there.size;
  }
  await db.close();
  return { acknowledged, lost, unknown, repeated };
}
