/**
 * The far side of a sandbox as the text of one script: a bundle has no far-side.js beside it. `npm run build` writes that text over the
 * compiled form of this file (scripts/bundle-threads.js). Null while developing: then far-side.ts or far-side.js is loaded.
 */
export const FAR_SIDE_SOURCE: string | null = null;
