/** The server's log: Redis's lines, so that what reads them goes on working. To a file, or to standard output. */
import { appendFileSync } from "node:fs";
import { systemClock } from "../core/clock.ts";
import { keysOf } from "../lib/keys-of.ts";

/** Redis's signs for the levels of its log. */
const SIGNS = { debug: ".", verbose: "-", notice: "*", warning: "#" } as const;
export type Level = keyof typeof SIGNS;
const LEVELS = keysOf(SIGNS);

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `16 Nov 2026 09:05:07.123`, in local time. */
function timestamp(ms: number): string {
  const time = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  const millis = String(time.getMilliseconds()).padStart(3, "0");
  return `${two(time.getDate())} ${MONTHS[time.getMonth()]} ${time.getFullYear()} ${clock}.${millis}`;
}

export interface LogSettings {
  readonly loglevel: Level;
  readonly logfile: string;
}

export class Logger {
  /** Read again for every line, since CONFIG SET changes the level. */
  readonly #settings: LogSettings;
  readonly #role: () => "M" | "S";

  constructor(settings: LogSettings, role: () => "M" | "S") {
    this.#settings = settings;
    this.#role = role;
  }

  readonly log = (level: Level, text: string): void => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(this.#settings.loglevel)) return;
    this.write(`${process.pid}:${this.#role()} ${timestamp(systemClock.now())} ${SIGNS[level]} ${text}\n`);
  };

  /** Text that is no line of the log. */
  write(text: string): void {
    const { logfile } = this.#settings;
    if (logfile === "") process.stdout.write(text);
    else appendFileSync(logfile, text);
  }
}
