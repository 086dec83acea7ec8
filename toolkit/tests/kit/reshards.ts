/**
 * Has `redis-cli --cluster reshard` move slots of a Cluster while suites use it: the very program that operators use. It takes the
 * lowest slots of a primary, whether there are keys in them or not, so a suite whose keys are in one slot may be over before its
 * slot comes; `slot-moves.ts` looks for slots with keys.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import { programOf } from "./servers.ts";

const run = promisify(execFile);

/** Slots of one call. A call takes about a second, and a few of them go through all slots of a node. */
const SLOTS_OF_A_CALL = 1_000;
/** Keys of one MIGRATE. */
const PIPELINE = 10;
/** A slot with half a gigabyte in it takes its time. */
const CALL_MS = 120_000;

export class Reshards {
  readonly #ports: readonly number[];
  #running: Promise<void> | null = null;
  #stopped = false;
  /** Calls that moved their slots. */
  count = 0;

  constructor({ ports }: { readonly ports: readonly number[] }) {
    this.#ports = ports;
  }

  /** Moves slots from primary to primary until `stop`. */
  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      // From the one with the most: all of them always have enough.
      const [from, ...others] = (await this.#primaries()).sort((one, other) => other.slots - one.slots);
      const to = others[Math.floor(systemClock.random() * others.length)]!;
      await this.#cluster("reshard", [
        ...["--cluster-from", from!.id, "--cluster-to", to.id, "--cluster-slots", String(SLOTS_OF_A_CALL)],
        ...["--cluster-pipeline", String(PIPELINE), "--cluster-timeout", String(CALL_MS), "--cluster-yes"],
      ]);
      this.count++;
      await new Promise((resolve) => setTimeout(resolve, systemClock.random() * 200));
    }
  }

  async #primaries(): Promise<{ readonly id: string; readonly slots: number }[]> {
    const { stdout } = await run(programOf("redis-cli"), ["-p", String(this.#ports[0]), "CLUSTER", "NODES"]);
    const rows = stdout.split("\n").map((line) => line.split(" "));
    const primaries = rows.filter(([, , flags = ""]) => flags.includes("master") && !flags.includes("fail"));
    return primaries.map(([id = "", , , , , , , , ...ranges]) => {
      const bounds = ranges.filter((range) => !range.startsWith("[")).map((range) => range.split("-").map(Number));
      return { id, slots: bounds.reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0) };
    });
  }

  /** The nodes agree on who owns what a moment after a call: one that comes too early is refused, and repeated. */
  async #cluster(command: string, options: readonly string[]): Promise<void> {
    const words = ["--cluster", command, `127.0.0.1:${this.#ports[0]}`, ...options];
    for (let tries = 1; ; tries++) {
      try {
        await run(programOf("redis-cli"), words, { timeout: CALL_MS, maxBuffer: 64 * 1024 * 1024 });
        return;
      } catch (error) {
        const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
        // What it left on its way must be carried through before the next call.
        await run(programOf("redis-cli"), ["--cluster", "fix", words[2]!], { timeout: CALL_MS }).catch(() => {});
        if (tries === 20)
          throw new Error(`redis-cli ${words.join(" ")}: ${stdout.slice(-2_000)}${stderr}`, { cause: error });
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  }

  /** Lets the call that is under way end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}
