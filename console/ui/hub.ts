/**
 * One stream of events for all pages of a browser. A browser has six connections to one host for all its windows together, so six
 * streams would leave none for requests. Pages say what they want to hear; the hub holds one stream for each console, connection and
 * database, hands every event on to the pages that want it, and closes the stream when nobody looks.
 *
 * The hub lives in a shared worker (live-worker.ts); where the browser has none, in each page by itself.
 */

/** What a page says. `url` is null while nobody sees the page. */
export type Wish =
  | { readonly type: "want"; readonly url: string | null; readonly example: string | null }
  | { readonly type: "alive" }
  /** The page holds this lock while it lives. */
  | { readonly type: "lock"; readonly name: string }
  | { readonly type: "gone" };

/** What a page hears. */
export type Heard =
  | { readonly type: "event"; readonly name: "state" | "point"; readonly data: string }
  | { readonly type: "change"; readonly event: unknown }
  | { readonly type: "resumed" }
  | { readonly type: "lost" };

const RETRY_MS = 1_000;
/** A page that nobody has closed in order says nothing any more. Where there are locks, they tell it at once. */
const SILENT_MS = 45_000;
const SWEEP_MS = 15_000;
export const ALIVE_MS = 10_000;

export interface Member {
  hear(heard: Heard): void;
}

/** The stream of one console, connection and database. */
class Line {
  readonly #url: string;
  readonly members = new Map<Member, string | null>();
  #source: EventSource | undefined;
  #examples = "";
  #state: string | undefined;
  #isLost = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  join(member: Member, example: string | null): void {
    this.members.set(member, example);
    const examples = this.#wanted();
    if (this.#source === undefined || examples !== this.#examples) {
      this.#begin();
      return;
    }
    // The stream is there already: the page hears what was said when it began.
    if (this.#isLost) member.hear({ type: "lost" });
    else if (this.#state !== undefined) member.hear({ type: "event", name: "state", data: this.#state });
    if (example !== null) member.hear({ type: "resumed" });
  }

  leave(member: Member): void {
    this.members.delete(member);
    if (this.members.size === 0) this.end();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    this.#state = undefined;
  }

  /** Examples that a page has left stay in the stream until it is begun anew: a change of page must not cut the others off. */
  #wanted(): string {
    const wanted = new Set([...this.members.values()].filter((example) => example !== null));
    const has = new Set(this.#examples === "" ? [] : this.#examples.split(","));
    const isCovered = this.#source !== undefined && [...wanted].every((example) => has.has(example));
    return isCovered ? this.#examples : [...wanted].sort().join(",");
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    this.#examples = this.#wanted();
    const stream = new EventSource(this.#examples === "" ? this.#url : `${this.#url}?example=${this.#examples}`);
    this.#source = stream;
    for (const name of ["state", "point"] as const) {
      stream.addEventListener(name, ({ data }) => {
        this.#isLost = false;
        if (name === "state") this.#state = data;
        this.#tell({ type: "event", name, data });
      });
    }
    stream.addEventListener("change", ({ data }) => {
      const { example, event } = JSON.parse(data) as { example: string; event: unknown };
      this.#tell({ type: "change", event }, example);
    });
    stream.addEventListener("resumed", ({ data }) => {
      this.#tell({ type: "resumed" }, (JSON.parse(data) as { example: string }).example);
    });
    stream.onerror = () => {
      this.#isLost = true;
      this.#tell({ type: "lost" });
      // Browsers give up for good on some errors; we do not.
      if (stream.readyState !== EventSource.CLOSED) return;
      this.#timer = setTimeout(() => {
        if (this.#source === stream) this.#begin();
      }, RETRY_MS);
    };
  }

  #tell(heard: Heard, example?: string): void {
    for (const [member, wants] of this.members) if (example === undefined || wants === example) member.hear(heard);
  }
}

export class Hub {
  readonly #lines = new Map<string, Line>();
  readonly #members = new Map<Member, { url: string | null; seenMs: number }>();

  constructor() {
    setInterval(() => this.#sweep(), SWEEP_MS);
  }

  say(member: Member, wish: Wish): void {
    if (wish.type === "gone") this.#leave(member);
    else if (wish.type === "lock") void navigator.locks.request(wish.name, () => this.#leave(member));
    else this.#hear(member, wish);
  }

  #hear(member: Member, wish: Extract<Wish, { type: "want" | "alive" }>): void {
    const known = this.#members.get(member) ?? { url: null, seenMs: 0 };
    known.seenMs = performance.now();
    this.#members.set(member, known);
    if (wish.type === "alive") return;
    const { url, example } = wish;
    if (known.url !== null && known.url !== url) this.#drop(known.url, member);
    known.url = url;
    if (url === null) return;
    let line = this.#lines.get(url);
    if (line === undefined) {
      line = new Line(url);
      this.#lines.set(url, line);
    }
    line.join(member, example);
  }

  #leave(member: Member): void {
    const known = this.#members.get(member);
    this.#members.delete(member);
    if (known?.url != null) this.#drop(known.url, member);
  }

  #drop(url: string, member: Member): void {
    const line = this.#lines.get(url);
    line?.leave(member);
    if (line?.members.size === 0) this.#lines.delete(url);
  }

  #sweep(): void {
    const before = performance.now() - SILENT_MS;
    for (const [member, { url, seenMs }] of this.#members) if (url !== null && seenMs < before) this.#leave(member);
  }
}
