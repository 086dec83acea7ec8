/** A mistake on the command line or in a file that it names: told to the user as one line. */
export class UsageError extends Error {}
