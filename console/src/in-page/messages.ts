/** What a page, the key browser in it (ui/in-page/) and the store's worker say to each other. */

/** A request for the API, from the key browser to where the store is. */
export interface Asked {
  readonly id: number;
  readonly method: string;
  /** With its query: `/api/keys?count=1000`. */
  readonly path: string;
  /** JSON, where there is a body. */
  readonly body: string | null;
  readonly db: number;
}

export interface Answered {
  readonly id: number;
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** From the page to the key browser, which looks again then. The first comes with a port to the store, and so does each new store. */
export interface Shown {
  readonly theme: "light" | "dark";
  readonly db: number;
  /** The key to open, as its address has it; null for the list. Without it, what is shown stays. */
  readonly key?: string | null;
}

/** From the key browser to its page: it listens now. */
export const LISTENING = "cinnabar keys listening";
