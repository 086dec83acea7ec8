/**
 * What is waiting to be written to one client. Small replies are joined into one string; large ones stand alone as bytes,
 * because joining would copy them and two of half a gigabyte do not fit into one string.
 */

const LARGE = 64 * 1024;
/** Past this a joined string is set aside: V8 keeps it as a tree, and trees of any size are slow to write. */
const JOINED = 1024 * 1024;

export class Output {
  #text = "";
  #parts: (string | Buffer)[] = [];
  #partBytes = 0;

  get length(): number {
    return this.#partBytes + this.#text.length;
  }

  /** Adds protocol text; one char, one byte. */
  add(text: string): void {
    this.#text += text;
    if (this.#text.length > JOINED) this.#setAside();
  }

  /** Adds a word that may be large. */
  addWord(word: string): void {
    if (word.length < LARGE) {
      this.#text += word;
      return;
    }
    this.#setAside();
    this.#parts.push(Buffer.from(word, "latin1"));
    this.#partBytes += word.length;
  }

  #setAside(): void {
    if (this.#text === "") return;
    this.#parts.push(this.#text);
    this.#partBytes += this.#text.length;
    this.#text = "";
  }

  /** Everything, when it is one string; null when there are several parts (take them with `takeParts`). */
  takeText(): string | null {
    if (this.#parts.length > 0) return null;
    const text = this.#text;
    this.#text = "";
    return text;
  }

  takeParts(): (string | Buffer)[] {
    this.#setAside();
    const parts = this.#parts;
    this.#parts = [];
    this.#partBytes = 0;
    return parts;
  }
}
