/**
 * What rows that are there at the start say for documents: syntax, summary, cost. Few programs ask, so the build leaves it out of
 * them, and puts it here (scripts/browser-sources.js).
 */
export const TEXTS: Readonly<Record<string, object>> = {};
