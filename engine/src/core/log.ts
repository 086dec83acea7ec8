/** Where messages for whoever runs this go. */
export type LogLevel = "debug" | "verbose" | "notice" | "warning";

export type Log = (level: LogLevel, message: string) => void;
