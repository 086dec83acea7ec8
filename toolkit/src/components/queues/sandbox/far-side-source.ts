/**
 * The far side of a sandbox as the text of one script: a bundle has no far-side.js beside it. `npm run build` puts that text into
 * the place of this file (scripts/bundle.js). Null while developing: then far-side.ts is loaded.
 */
export const FAR_SIDE_SOURCE: string | null = null;
