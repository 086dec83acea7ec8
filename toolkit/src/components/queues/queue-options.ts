/** The checks of a queue's options and of those of its calls; what jobs and schedules take is in options.ts and schedule.ts. */
import {
  choice,
  codec,
  defineOptions,
  flag,
  listOf,
  prefix,
  schema,
  signal,
  text,
  whole,
  within,
} from "../../base/options.ts";
import { type PageOptions, pageChecks } from "../../base/page.ts";
import type { ListOptions } from "./answers.ts";
import { resultStore } from "./elsewhere.ts";
import { EVENT_KINDS, type EventsOptions } from "./events.ts";
import { MAX_SHARDS } from "./keys.ts";
import { DEFAULT_OPTIONS, MAX_MS, type QueueOptions } from "./options.ts";
import type { WaitForOptions } from "./waiters.ts";

export const OPTIONS = defineOptions<QueueOptions<unknown, unknown>>("Queue", {
  prefix,
  shards: whole(1, MAX_SHARDS),
  codec,
  resultCodec: codec,
  schema,
  resultSchema: schema,
  maxPayloadBytes: whole(1, 2 ** 29),
  defaults: within(DEFAULT_OPTIONS),
  maxLogLines: whole(1, 100_000),
  results: resultStore,
  maxInlineResultBytes: whole(0, 2 ** 29),
});

export const LIST_OPTIONS = defineOptions<ListOptions>("Queue.list", {
  limit: whole(1, 1_000),
  cursor: text,
  newestFirst: flag,
});

export const WAIT_FOR_OPTIONS = defineOptions<WaitForOptions>("Queue.waitFor", {
  timeoutMs: whole(0, MAX_MS),
  signal,
});

export const EVENTS_OPTIONS = defineOptions<EventsOptions>("Queue.events", {
  from: text,
  kinds: listOf(choice(...EVENT_KINDS)),
  signal,
});

export const REPLAY_DEAD_OPTIONS = defineOptions<{ readonly limit?: number }>("Queue.replayDead", {
  limit: whole(1),
});

export const PROMOTE_DELAYED_OPTIONS = defineOptions<{ readonly limit?: number }>("Queue.promoteDelayed", {
  limit: whole(1),
});

export const STATS_OPTIONS = defineOptions<{ readonly minutes?: number }>("Queue.stats", {
  minutes: whole(1, 1_440),
});

export const SCHEDULES_OPTIONS = defineOptions<PageOptions>("Queue.listSchedules", pageChecks(1_000));

export const GROUPS_OPTIONS = defineOptions<PageOptions>("Queue.listGroups", pageChecks(1_000));

export const UPCOMING_OPTIONS = defineOptions<{ readonly limit?: number }>("Queue.upcoming", {
  limit: whole(1, 1_000),
});

export const DRAIN_OPTIONS = defineOptions<{ readonly delayed?: boolean }>("Queue.drain", {
  delayed: flag,
});
