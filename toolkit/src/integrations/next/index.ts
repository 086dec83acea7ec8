/**
 * Next.js: cache handlers that all servers of an application share, for `use cache` and for ISR, and sessions in route handlers.
 *
 *   // cache-handler.mjs, named in next.config.mjs by `cacheHandlers: { default: … }`
 *   export default useCacheHandler(() => open(process.env.REDIS_URL));
 *
 *   // app/visits/route.ts
 *   export const GET = withSession(sessions, async (_request, session) => Response.json({ user: session.user }));
 */
export { incrementalCacheHandler, type NextCacheOptions, useCacheHandler } from "./handlers.ts";
export { type RouteHandler, withSession } from "./sessions.ts";
