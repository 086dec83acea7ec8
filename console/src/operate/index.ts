/** Routes of the half of the page that looks after a store. */
import type { Route } from "../route.ts";
import { BULK_ROUTES } from "./bulk.ts";
import { CACHE_ROUTES } from "./caches.ts";
import { CHAT_ROUTES } from "./chats.ts";
import { COMMAND_ROUTES } from "./command.ts";
import { COMMAND_STATS_ROUTES } from "./command-stats.ts";
import { COMPONENT_ROUTES } from "./components.ts";
import { EDIT_ROUTES } from "./edit.ts";
import { INDEX_ROUTES } from "./indexes.ts";
import { KEY_ROUTES } from "./keys.ts";
import { LOCK_ROUTES } from "./locks.ts";
import { PROFILER_ROUTES } from "./profiler.ts";
import { PUBSUB_ROUTES } from "./pubsub.ts";
import { QUEUE_ROUTES } from "./queues.ts";
import { RATE_LIMIT_ROUTES } from "./rate-limits.ts";
import { REGISTRY_ROUTES } from "./registry.ts";
import { SCRIPT_ROUTES } from "./scripts.ts";
import { SERVER_ROUTES } from "./server.ts";
import { SESSION_ROUTES } from "./sessions.ts";
import { SHARD_ROUTES } from "./shards.ts";
import { SURVEY_ROUTES } from "./survey.ts";
import { TIMELINE_ROUTES } from "./timelines.ts";
import { TOPIC_ROUTES } from "./topics.ts";
import { TRANSFER_ROUTES } from "./transfer.ts";
import { UNDO_ROUTES } from "./undo.ts";
import { VALUE_ROUTES } from "./value.ts";
import { WORKBENCH_ROUTES } from "./workbench.ts";

export const OPERATE_ROUTES: readonly Route[] = [
  ...SERVER_ROUTES,
  ...PROFILER_ROUTES,
  ...PUBSUB_ROUTES,
  ...COMMAND_STATS_ROUTES,
  ...KEY_ROUTES,
  ...EDIT_ROUTES,
  ...UNDO_ROUTES,
  ...VALUE_ROUTES,
  ...SURVEY_ROUTES,
  ...BULK_ROUTES,
  ...TRANSFER_ROUTES,
  ...COMMAND_ROUTES,
  ...QUEUE_ROUTES,
  ...REGISTRY_ROUTES,
  ...TOPIC_ROUTES,
  ...LOCK_ROUTES,
  ...COMPONENT_ROUTES,
  ...SESSION_ROUTES,
  ...CACHE_ROUTES,
  ...RATE_LIMIT_ROUTES,
  ...CHAT_ROUTES,
  ...TIMELINE_ROUTES,
  ...INDEX_ROUTES,
  ...SCRIPT_ROUTES,
  ...SHARD_ROUTES,
  ...WORKBENCH_ROUTES,
];
