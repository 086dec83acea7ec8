/**
 * Permissions on the engine and on a real server: users with made-up rules, calls, and whether both allow them.
 *
 * An epoch makes some users, changes them a few times, and after each change compares what ACL GETUSER and ACL LIST say and
 * what ACL DRYRUN says of some hundred calls; some calls are really made, by a connection of that user, and ACL LOG must
 * have noted the same. Every answer that is compared is a check.
 */
import { type Answer, scalar } from "../answer.ts";
import { print } from "../print.ts";
import { Prng } from "../prng.ts";
import { type Rule, same } from "../rules.ts";
import type { Target } from "../target.ts";
import type { Wire } from "../wire.ts";
import type { Making } from "../words.ts";
import { anyCall, firstRules, fittingCall, LATER, ruleWords } from "./made-up.ts";

export interface AclCampaignOptions {
  readonly seed: number;
  readonly checks: number;
  /** How many differences to collect before it ends. */
  readonly failures?: number;
  readonly onEpoch?: (done: AclCampaignResult) => void;
}

export interface AclCampaignResult {
  readonly checks: number;
  /** How many of them were refusals. */
  readonly refused: number;
  readonly epochs: number;
  readonly failures: readonly string[];
}

const USERS = ["ann", "bob", "cyd"];
const CHANGES = 4;
const DRY_RUNS = 120;
const CALLS = 40;
const ASKED = 10;

/** Asks from inside a script whether a call would be allowed. */
const askScript = (words: readonly string[]) => [
  "EVAL",
  "return redis.acl_check_cmd(unpack(ARGV)) and 1 or 0",
  "0",
  ...words,
];

/** Calls that would disturb the comparison itself if a user may make them. */
const NOT_REALLY =
  /^(?:BLPOP|BRPOP|BLMOVE|BRPOPLPUSH|BLMPOP|BZPOP|BZMPOP|XREAD|XREADGROUP|WAIT|CLIENT|MULTI|EXEC|WATCH)/i;

/**
 * A list of rules in one order: Redis names single commands in the order of a hash table. Rules for what a command's first
 * argument may be stand behind it, and so do a container's subcommands; neither depends on the others. Commands that are
 * newer than the real server are left out.
 */
function inOrder(rules: string): string {
  return rules.replace(/[-+]@all(?: [-+][^\s()]+)*/g, (commands) => {
    const words = commands.split(" ");
    const categories = words.filter((word) => word[1] === "@");
    const single = words.filter((word) => word[1] !== "@" && !LATER.has(word.slice(1)));
    return [...categories, ...single.sort()].join(" ");
  });
}

/** What ACL LOG says of time and of the connection differs. */
const BLANKED = new Set(["age-seconds", "client-info"]);

function comparable(answer: Answer): Answer {
  if (answer.items.length === 0) return { ...answer, text: inOrder(answer.text) };
  const items = answer.items.map((item, i) =>
    BLANKED.has(answer.items[i - 1]?.text ?? "") ? scalar(item.tag) : comparable(item),
  );
  return { ...answer, items };
}

const EXACT = { kind: "exact" } as const;
const isRefusal = ({ text }: Answer) => text.startsWith("This user has no") || text.startsWith("NOPERM");

export class AclCampaign {
  readonly #real: Target;
  readonly #ours: Target;
  #wires: readonly Wire[] = [];
  #checks = 0;
  #refused = 0;
  readonly #failures: string[] = [];
  /** The ACL SETUSERs of the epoch, for reports. */
  #history: string[] = [];

  constructor(real: Target, ours: Target) {
    this.#real = real;
    this.#ours = ours;
  }

  async run({ seed, checks, failures = 1, onEpoch }: AclCampaignOptions): Promise<AclCampaignResult> {
    let epochs = 0;
    const result = () => ({ checks: this.#checks, refused: this.#refused, epochs, failures: this.#failures });
    while (this.#checks < checks && this.#failures.length < failures) {
      await Promise.all([this.#real.reset(), this.#ours.reset()]);
      this.#wires = await Promise.all([this.#real.connect(), this.#ours.connect()]);
      this.#history = [];
      try {
        await this.#epoch(new Prng(seed, epochs));
      } finally {
        await Promise.all(this.#wires.map((wire) => wire.close()));
      }
      epochs++;
      onEpoch?.(result());
    }
    return result();
  }

  async #epoch(rng: Prng): Promise<void> {
    const making: Making = { rng, bulk: false, streamId: 0 };
    for (const user of USERS) await this.#change(user, firstRules(rng));
    for (let i = 0; i < CHANGES; i++) {
      const user = rng.pick(USERS);
      await this.#change(user, ruleWords(rng));
      await this.#compare([
        ["ACL", "GETUSER", user],
        ["ACL", "LIST"],
      ]);
      const calls = Array.from({ length: DRY_RUNS }, () => (rng.chance(0.5) ? anyCall(rng) : fittingCall(making)));
      await this.#compare(calls.map((words) => ["ACL", "DRYRUN", user, ...words]));
      const made = Array.from({ length: CALLS }, () => fittingCall(making)).filter(([name]) => !NOT_REALLY.test(name!));
      await this.#call(user, made);
      const asked = Array.from({ length: ASKED }, () => (rng.chance(0.5) ? anyCall(rng) : fittingCall(making)));
      await this.#call(user, asked.map(askScript), true);
    }
    await this.#compare([
      ["ACL", "USERS"],
      ["ACL", "LOG", "1000"],
    ]);
  }

  async #change(user: string, rules: readonly string[]): Promise<void> {
    const words = ["ACL", "SETUSER", user, ...rules];
    this.#history.push(words.map((word) => JSON.stringify(word)).join(" "));
    await this.#compare([words]);
  }

  async #compare(commands: readonly (readonly string[])[]): Promise<void> {
    const [real, ours] = await Promise.all(this.#wires.map((wire) => wire.pipeline(commands)));
    commands.forEach((words, i) => {
      this.#check(words, real![i]!, ours![i]!, EXACT);
    });
  }

  /** Makes calls as a user. Unless `whole` answers are wanted, it counts whether calls are refused; the rest is another's. */
  async #call(user: string, calls: readonly (readonly string[])[], whole = false): Promise<void> {
    const wires = await Promise.all([this.#real.connect(), this.#ours.connect()]);
    const [real, ours] = await Promise.all(wires.map((wire) => wire.pipeline([["AUTH", user, "pw"], ...calls])));
    await Promise.all(wires.map((wire) => wire.close()));
    this.#check(["AUTH", user, "pw"], real![0]!, ours![0]!, EXACT);
    if (real![0]!.tag === "-") return;
    calls.forEach((words, i) => {
      const [theirs, mine] = [real![i + 1]!, ours![i + 1]!];
      if (whole || isRefusal(theirs) || isRefusal(mine)) this.#check(words, theirs, mine, EXACT);
      else this.#checks++;
    });
  }

  #check(words: readonly string[], theirs: Answer, mine: Answer, rule: Rule): void {
    this.#checks++;
    if (isRefusal(theirs)) this.#refused++;
    const [real, ours] = [comparable(theirs), comparable(mine)];
    if (same(real, ours, rule)) return;
    this.#failures.push(
      [
        ...this.#history,
        words.map((word) => JSON.stringify(word)).join(" "),
        `  redis:    ${print(real, "    ")}`,
        `  cinnabar: ${print(ours, "    ")}`,
      ].join("\n"),
    );
  }
}
