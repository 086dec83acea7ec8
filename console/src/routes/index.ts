/** Every route of the API. */
import type { Route } from "../route.ts";
import { COMMAND_ROUTES } from "./command.ts";
import { COMPONENT_ROUTES } from "./components.ts";
import { EDIT_ROUTES } from "./edit.ts";
import { KEY_ROUTES } from "./keys.ts";
import { OPERATE_ROUTES } from "./operate.ts";
import { QUEUE_ROUTES } from "./queues.ts";

export const ROUTES: readonly Route[] = [
  ...OPERATE_ROUTES,
  ...KEY_ROUTES,
  ...EDIT_ROUTES,
  ...COMMAND_ROUTES,
  ...QUEUE_ROUTES,
  ...COMPONENT_ROUTES,
];
