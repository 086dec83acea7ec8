/** What pages and their workers say to each other. */

export interface ShownWord {
  /** What a script calls it. */
  readonly name?: string;
  readonly text: string;
}

/** A command that a program sent. */
export interface Sent {
  /** Of the command or the script. */
  readonly name: string;
  /** `script` when the component sends Lua; `inside` for what a script does in the store. */
  readonly from: "program" | "script" | "inside";
  readonly words: readonly ShownWord[];
  readonly atMs: number;
}

export interface ShownKey {
  readonly name: string;
  readonly type: string;
  /** Milliseconds it still lives; null for ever. */
  readonly ttlMs: number | null;
  readonly value: string;
}

export interface Hit {
  readonly route: string;
  readonly page: string;
  readonly heading: string;
  /** HTML: the index has made the text safe and marked the words. */
  readonly snippet: string;
}

export type ToWorker =
  /** A store that speaks RESP over `port`. What comes over `visits` are ports for key browsers of that store (keys-server.ts). */
  | { readonly kind: "open"; readonly port: MessagePort; readonly visits: MessagePort }
  | { readonly kind: "run"; readonly code: string }
  | { readonly kind: "search"; readonly id: number; readonly query: string; readonly language: string };

export type FromWorker =
  | { readonly kind: "said"; readonly level: "log" | "warn" | "error"; readonly text: string }
  | { readonly kind: "sent"; readonly sent: readonly Sent[]; readonly more: number }
  | { readonly kind: "keys"; readonly keys: readonly ShownKey[]; readonly more: number }
  | { readonly kind: "over"; readonly error: string | null; readonly ms: number }
  | { readonly kind: "found"; readonly id: number; readonly hits: readonly Hit[]; readonly count: number };
