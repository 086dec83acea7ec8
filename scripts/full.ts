/**
 * Whether this run may take long: `npm run test:full` does, `npm test` does not. Suites that need minutes ask here:
 * `describe.runIf(full)(…)`.
 */
export const full = process.env.FULL === "1";
