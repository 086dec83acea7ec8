/**
 * The far side of the thread that renews leases, with everything that it needs, as the text of one script: a bundle has no
 * worker.js beside it. `npm run build` puts that text into the place of this file (scripts/bundle.js). Null while developing: then the
 * thread loads worker.ts.
 */
export const WORKER_SOURCE: string | null = null;
