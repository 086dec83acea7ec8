/**
 * The far side of the thread that renews leases, with everything that it needs, as the text of one script: a bundle has no
 * worker.js beside it. `npm run build` writes that text over the compiled form of this file (scripts/bundle-threads.js).
 * Null while developing: then the thread loads worker.ts or worker.js.
 */
export const WORKER_SOURCE: string | null = null;
