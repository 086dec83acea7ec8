/** What the suites of the social network share: networks with workers, people in them, and waiting until all is done. */
import { afterEach, beforeEach, expect } from "vitest";
import {
  Social,
  type SocialOptions,
  type SocialParts,
  type SocialWorker,
  type StatusPage,
} from "../../src/components/social/index.ts";
import type { Store } from "../../src/connection/store.ts";
import type { Backend } from "./index.ts";

/** Resolves when nothing is left to do. */
export async function quiet(social: Social): Promise<void> {
  await expect
    .poll(
      async () => {
        const { jobs, open } = await social.stats();
        return jobs.waiting + jobs.active + jobs.delayed + open;
      },
      { timeout: 20_000, interval: 2 },
    )
    .toBe(0);
}

export const texts = ({ items: statuses }: StatusPage): string[] => statuses.map(({ text }) => text);

/** What was posted, as it should be seen: two statuses may be of the same moment, and then it is the ids that order them. */
export class Posted {
  readonly #texts = new Map<string, string>();

  note(id: string | null, text: string): void {
    this.#texts.set(id!, text);
  }

  get newest(): string[] {
    return [...this.#texts].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, text]) => text);
  }
}

export async function allKeys(store: Store): Promise<string[]> {
  const answers = await store.sendToAll(["KEYS", "social:*"]);
  return answers.flatMap((keys) => keys as string[]).filter((key) => !key.includes(":queue:"));
}

export interface SocialSuite {
  /** A network with a worker, which is stopped after the test. */
  network(options?: SocialOptions, parts?: SocialParts): Social;
  /** Users whose ids are their logins. */
  people(social: Social, ...logins: string[]): Promise<string[]>;
  /** Reads timelines and waits until they are built: from then on they are delivered to. */
  warm(social: Social, ...subjects: string[]): Promise<void>;
}

export function socialSuite(backend: Backend): SocialSuite {
  let workers: SocialWorker[] = [];
  beforeEach(() => {
    workers = [];
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
  });
  return {
    network(options = {}, parts) {
      const social = new Social(parts ?? backend.store, options);
      workers.push(social.worker().start());
      return social;
    },
    people: (social, ...logins) =>
      Promise.all(
        logins.map(async (login) => {
          const joined = await social.users.join(login, { id: login });
          if (joined.status !== "joined") throw new Error(`${login}: ${joined.status}`);
          return joined.user.id;
        }),
      ),
    async warm(social, ...subjects) {
      for (const subject of subjects) {
        if (subject.startsWith("+")) await social.timelines.list(subject);
        else await social.timelines.home(subject);
      }
      await quiet(social);
      for (const subject of subjects) expect((await social.inspectTimeline(subject)).state).toBe("warm");
    },
  };
}
