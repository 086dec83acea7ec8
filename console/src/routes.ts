/** Every route of the API: those of the two halves of the page. */
import { EXAMPLE_ROUTES } from "./examples/index.ts";
import { OPERATE_ROUTES } from "./operate/index.ts";
import type { Route } from "./route.ts";

export const ROUTES: readonly Route[] = [...OPERATE_ROUTES, ...EXAMPLE_ROUTES];
