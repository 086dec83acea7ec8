/** Where messages for the operator go. */
export type Log = (level: "debug" | "verbose" | "notice" | "warning", message: string) => void;
