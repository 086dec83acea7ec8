/** Whether a reply has the type that a row of the command table says it has: the notation of `Row.reply`, in RESP2's form. */
import type { Reply } from "../../src/connection/port.ts";

type Check = (value: unknown) => boolean;

class Reader {
  readonly #pieces: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#pieces = text.match(/"[^"]*"|\w+|\[\]|[[\](),|<>]/g) ?? [];
  }

  read(): Check {
    const choices = [this.#list()];
    while (this.#pieces[this.#at] === "|") {
      this.#at++;
      choices.push(this.#list());
    }
    return (value) => choices.some((choice) => choice(value));
  }

  get isOver(): boolean {
    return this.#at === this.#pieces.length;
  }

  #list(): Check {
    let check = this.#one();
    while (this.#pieces[this.#at] === "[]") {
      this.#at++;
      const item = check;
      check = (value) => Array.isArray(value) && value.every(item);
    }
    return check;
  }

  #one(): Check {
    const piece = this.#pieces[this.#at++] ?? "";
    if (piece.startsWith('"')) return (value) => value === piece.slice(1, -1);
    switch (piece) {
      case "(": {
        const inner = this.read();
        this.#at++;
        return inner;
      }
      case "[":
        return this.#tuple();
      case "Map": {
        this.#at += 3; // <string,
        const value = this.read();
        this.#at++;
        return (flat) =>
          Array.isArray(flat) &&
          flat.length % 2 === 0 &&
          flat.every((each, at) => (at % 2 === 0 ? typeof each === "string" : value(each)));
      }
      case "Entry":
        return new Reader("[string, string[]]").read();
      case "Reply":
        return () => true;
      case "null":
        return (value) => value === null;
      case "string":
      case "number":
        return (value) => typeof value === piece;
      default:
        throw new Error(`"${piece}" is no type of a reply`);
    }
  }

  #tuple(): Check {
    const items: Check[] = [];
    do items.push(this.read());
    while (this.#pieces[this.#at++] === ",");
    return (value) =>
      Array.isArray(value) && value.length === items.length && items.every((item, at) => item(value[at]));
  }
}

/** Throws where the text is no type. */
export function replyCheck(text: string): (reply: Reply) => boolean {
  const reader = new Reader(text);
  const check = reader.read();
  if (!reader.isOver) throw new Error(`"${text}" is no type of a reply`);
  return check;
}
