/** Where messages for whoever runs this go. */
export type Log = (level: "debug" | "verbose" | "notice" | "warning", message: string) => void;
