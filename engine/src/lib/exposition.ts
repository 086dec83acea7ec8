/** Prometheus's text format, and OpenMetrics: families of samples as text. Names and labels come from us, their values from anywhere. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  /** Of a counter, it ends in `_total`. */
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

const PLAIN = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** In the format that a scraper asks for in `Accept`: OpenMetrics where it names it, otherwise Prometheus's own. */
export function exposition(families: readonly Family[], accept = ""): Exposition {
  const isOpen = /\bapplication\/openmetrics-text\b/i.test(accept);
  const lines: string[] = [];
  for (const family of families) {
    if (family.samples.length > 0) write(lines, family, isOpen);
  }
  if (isOpen) lines.push("# EOF");
  return { contentType: isOpen ? OPEN_METRICS : PLAIN, text: `${lines.join("\n")}\n` };
}

function write(lines: string[], { name, type, help, samples }: Family, isOpen: boolean): void {
  // OpenMetrics names the family of a counter without the ending of its samples.
  const family = isOpen && type === "counter" ? name.replace(/_total$/, "") : name;
  lines.push(`# HELP ${family} ${isOpen ? escapedValue(help) : escapedHelp(help)}`, `# TYPE ${family} ${type}`);
  for (const { labels, value } of samples) {
    const words = Object.entries(labels).map(([label, word]) => `${label}="${escapedValue(word)}"`);
    lines.push(`${name}${words.length === 0 ? "" : `{${words.join(",")}}`} ${numberText(value)}`);
  }
}

const escapedHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
const escapedValue = (text: string): string => escapedHelp(text).replaceAll('"', '\\"');

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
