/** Comma-separated values: records in and out, a piece at a time. Quotes hold commas, quotes (twice) and ends of lines. */

export const csvLine = (fields: readonly string[]): string =>
  `${fields.map((field) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",")}\r\n`;

/** Cuts text that comes in pieces into records. */
export class CsvReader {
  readonly #most: number;
  #record: string[] = [];
  #field = "";
  #state: "start" | "plain" | "quoted" | "quote" = "start";
  #size = 0;

  /** `most`: characters that a record may have. */
  constructor(most: number) {
    this.#most = most;
  }

  *feed(text: string): Generator<string[]> {
    for (const char of text) {
      if (++this.#size > this.#most) throw new Error(`a record is longer than ${this.#most} characters`);
      const record = this.#take(char);
      if (record !== null) yield record;
    }
  }

  /** What stands after the last end of a line. */
  *end(): Generator<string[]> {
    if (this.#state === "quoted") throw new Error("a quote is not closed");
    if (this.#state !== "start" || this.#record.length > 0) yield this.#finish();
  }

  #take(char: string): string[] | null {
    if (this.#state === "quoted") {
      if (char === '"') this.#state = "quote";
      else this.#field += char;
      return null;
    }
    if (char === '"') {
      if (this.#state === "quote") this.#field += '"';
      else if (this.#state === "plain") throw new Error("a quote stands inside of a field that has none around it");
      this.#state = "quoted";
      return null;
    }
    if (char === ",") {
      this.#record.push(this.#field);
      this.#field = "";
      this.#state = "start";
      return null;
    }
    if (char === "\n") return this.#state === "start" && this.#record.length === 0 ? this.#skip() : this.#finish();
    if (char === "\r") return null;
    if (this.#state === "quote") throw new Error("text follows a quote that ends a field");
    this.#field += char;
    this.#state = "plain";
    return null;
  }

  #skip(): null {
    this.#size = 0;
    return null;
  }

  #finish(): string[] {
    const record = [...this.#record, this.#field];
    this.#record = [];
    this.#field = "";
    this.#state = "start";
    this.#size = 0;
    return record;
  }
}
