/** Every route of the API. */
import { EXAMPLE_ROUTES } from "../examples/index.ts";
import type { Route } from "../route.ts";
import { CACHE_ROUTES } from "./caches.ts";
import { COMMAND_ROUTES } from "./command.ts";
import { COMPONENT_ROUTES } from "./components.ts";
import { EDIT_ROUTES } from "./edit.ts";
import { KEY_ROUTES } from "./keys.ts";
import { OPERATE_ROUTES } from "./operate.ts";
import { QUEUE_ROUTES } from "./queues.ts";
import { RATE_LIMIT_ROUTES } from "./rate-limits.ts";
import { SCRIPT_ROUTES } from "./scripts.ts";
import { SESSION_ROUTES } from "./sessions.ts";

export const ROUTES: readonly Route[] = [
  ...OPERATE_ROUTES,
  ...KEY_ROUTES,
  ...EDIT_ROUTES,
  ...COMMAND_ROUTES,
  ...QUEUE_ROUTES,
  ...COMPONENT_ROUTES,
  ...SESSION_ROUTES,
  ...CACHE_ROUTES,
  ...RATE_LIMIT_ROUTES,
  ...SCRIPT_ROUTES,
  ...EXAMPLE_ROUTES,
];
