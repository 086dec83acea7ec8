/** Who we are, and whom we speak like. */

/** The version in package.json. */
export const VERSION = "0.1.0";

/** The Redis whose answers ours are. */
export const REDIS_VERSION = "7.0.15";
