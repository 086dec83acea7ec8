/**
 * The machines of docs/operating.md: each is a folder and a server on a free port of this machine. What is typed on them is run by
 * a shell, with names of machines replaced by addresses, scp by cp, and servers and tunnels started by this process.
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { type Directives, follow, type Kind, newFolder, Server, stopLater, until } from "../replication/servers.ts";
import type { Session, Step } from "./guide.ts";
import { Tunnel } from "./tunnel.ts";

/** Commands that only look: they are run again until they print what the guide says. */
const LOOKS = /\b(INFO|ROLE|GET|EXISTS|SINTER|SENTINEL)\b/;

class Machine {
  readonly folder = newFolder();
  server: Server | null = null;
  /** Of the sentinel there. */
  sentinelPort = 0;
}

export class Stage {
  readonly kind: Kind;
  readonly #machines = new Map<string, Machine>();
  readonly #programs: string;
  readonly #processes = new Set<{ stop(): Promise<void> }>();
  tunnel: Tunnel | null = null;

  constructor(kind: Kind) {
    this.kind = kind;
    this.#programs = mkdtempSync(join(tmpdir(), "cinnabar-programs-"));
    for (const name of ["cinnabar-check-rdb", "cinnabar-check-aof"]) this.#makeProgram(name);
    stopLater(this);
  }

  /** Ends a process that writes to a machine's folder, before the folder is removed. */
  endFirst(process: { stop(): Promise<void> }): void {
    this.#processes.add(process);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.stop()));
    await this.tunnel?.close();
    rmSync(this.#programs, { recursive: true, force: true });
    for (const { folder } of this.#machines.values()) rmSync(folder, { recursive: true, force: true });
  }

  /** A program of ours by its name. */
  #makeProgram(name: string): void {
    const program = fileURLToPath(new URL(`../../dist/bin/${name}.js`, import.meta.url));
    const file = join(this.#programs, name);
    writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(file, 0o755);
  }

  machine(name: string): Machine {
    let machine = this.#machines.get(name);
    if (machine === undefined) {
      machine = new Machine();
      this.#machines.set(name, machine);
    }
    return machine;
  }

  server(name: string): Server {
    const { server } = this.machine(name);
    if (server === null) throw new Error(`no server was started on ${name}`);
    return server;
  }

  async start(name: string, directives: Directives = {}): Promise<Server> {
    const machine = this.machine(name);
    machine.server = await Server.start(this.kind, directives, machine.folder);
    this.endFirst(machine.server);
    return machine.server;
  }

  /** A primary on machine-a with a greeting, and replicas that have it. */
  async startWithReplicas(...replicas: string[]): Promise<void> {
    const primary = await this.start("machine-a");
    await primary.ask("SET", "greeting", "hello");
    for (const name of replicas) await follow(await this.start(name), primary.port);
    // A replica's link is up a moment before its primary counts it as online, and fails over to it.
    await until("the primary has its replicas", async () => {
      const states = Object.values(await primary.info("replication")).filter((value) => value.includes("state=online"));
      return states.length === replicas.length;
    });
  }

  async play(session: Session): Promise<void> {
    for (const step of session.steps) {
      if (step.command.endsWith(" &")) await this.#startInBackground(step);
      else await this.#run(step);
    }
  }

  async #startInBackground({ machine, command }: Step): Promise<void> {
    const words = command.split(" ").slice(0, -1);
    if (words[0] === "ssh") {
      this.tunnel = await Tunnel.to(this.server("machine-a").port);
      return;
    }
    expect(words[0]).toBe("cinnabar-server");
    const flags: Record<string, string> = {};
    for (const flag of words.slice(1).join(" ").split("--").slice(1)) {
      const [name = "", ...value] = flag.trim().split(" ");
      if (name !== "dir" && name !== "port") flags[name] = this.#placed(value.join(" "), machine);
    }
    await this.start(machine, flags);
  }

  async #run(step: Step): Promise<void> {
    const { machine, command } = step;
    const wanted = step.output.map((line) => this.#pattern(line));
    let printed: string[] = [];
    const fits = async (): Promise<boolean> => {
      printed = await this.#shell(machine, command);
      return (
        wanted.length === 0 ||
        (printed.length === wanted.length && wanted.every((line, i) => line.test(printed[i] ?? "")))
      );
    };
    const what = `${machine}$ ${command}`;
    if (LOOKS.test(command)) await until(what, fits, { state: async () => `prints ${printed.join("\n")}` });
    else if (!(await fits())) expect(`${what}\n${printed.join("\n")}`).toBe(`${what}\n${step.output.join("\n")}`);
  }

  async #shell(machine: string, command: string): Promise<string[]> {
    const { folder } = this.machine(machine);
    const env = { ...process.env, LC_ALL: "C", PATH: `${this.#programs}:${process.env.PATH}` };
    const line = `set -o pipefail; ${this.#placed(command, machine)}`;
    const { printed, failed } = await new Promise<{ printed: string; failed: boolean }>((resolve) => {
      execFile("bash", ["-c", line], { cwd: folder, env }, (error, stdout, stderr) =>
        resolve({ printed: stdout + stderr, failed: error !== null }),
      );
    });
    if (failed && !LOOKS.test(command)) throw new Error(`${machine}$ ${command}\n${printed}`);
    return printed
      .split("\n")
      .map((text) => text.trim())
      .filter((text) => text !== "");
  }

  /** The same with addresses, ports and folders of here. */
  #placed(text: string, machine: string): string {
    const own = this.machine(machine);
    return text
      .replace(
        /^scp (.*) (machine-[a-z]):$/,
        (_all, files: string, to: string) => `cp ${files} "${this.machine(to).folder}/"`,
      )
      .replace(/\bredis-cli -p 26379\b/g, `redis-cli -p ${own.sentinelPort}`)
      .replace(/\bredis-cli (?!-p )/g, () => `redis-cli -p ${this.server(machine).port} `)
      .replace(/\bredis-benchmark\b/g, () => `redis-benchmark -p ${this.server(machine).port}`)
      .replace(/\b(machine-[a-z]) 6379\b/g, (_all, name: string) => `127.0.0.1 ${this.server(name).port}`)
      .replace(/\blocalhost 6380\b/g, () => `127.0.0.1 ${this.tunnel?.port}`);
  }

  /** What a line of the guide stands for: the same text, with any address for a machine, and any number for a long one. */
  #pattern(line: string): RegExp {
    const escaped = line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`^${escaped.replace(/machine-[a-z]/g, "127\\.0\\.0\\.1").replace(/\d{4,}/g, "\\d+")}$`);
  }
}
