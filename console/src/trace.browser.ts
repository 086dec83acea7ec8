/** A page traces nothing: there are no requests of others to keep apart. */
export const untraced = <T>(run: () => T): T => run();
