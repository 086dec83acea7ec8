/** What a fleet is given and what it answers. */
import type { OpenOptions } from "../../connection/open.ts";
import type { Move } from "./layout.ts";

/** What a `Fleet` may be given. */
export interface FleetOptions {
  /** Fleets of different names have nothing to do with each other (default "main"). */
  readonly name?: string;
  /** How its keys in the home store begin (default "fleet"). */
  readonly prefix?: string;
  /**
   * For how long a process may go on when the home store does not answer. A mover waits this long for a process that has died or is cut
   * off. 10 s by default.
   */
  readonly leaseMs?: number;
  /** How long a request waits for slots that are being moved. 30 s by default. */
  readonly waitMs?: number;
  /** Slots of one step of a move: while a step lasts, requests for its slots wait. By default 1 024. */
  readonly slotsPerStep?: number;
  /** Whether this process finishes what another has begun and left (default true). */
  readonly takesOver?: boolean;
  /** For the shards' connections: as `open` takes them, with its defaults. */
  readonly open?: OpenOptions;
  /** Called with errors of background work, such as following the layout. None by default. */
  readonly onError?: (error: unknown) => void;
}

/** How far a step of a move is. */
export interface MoveProgress {
  /** Whose keys are moved. */
  readonly component: string;
  /** Which slots are moved, from where to where. */
  readonly move: Move;
  /** Keys that this step has moved so far. */
  readonly keys: number;
}

/** Which keys a component owns. */
export interface DefineOptions {
  /**
   * The component owns the keys that begin with one of these, and its store takes no others. Without prefixes it owns every key of its
   * servers, and shares them with nobody. None by default.
   */
  readonly prefixes?: readonly string[];
  /** The servers may hold keys that belong to no component of the fleet. They are left alone. Needs `prefixes`. False by default. */
  readonly shared?: boolean;
}

/** How a shard is added. */
export interface AddShardOptions extends MoveOptions {
  /** The server may hold keys that belong to no component of the fleet. They are left alone. Needs `prefixes`. False by default. */
  readonly shared?: boolean;
}

/** How slots are moved. */
export interface MoveOptions {
  /** Ends the moving; the call rejects with its reason, and any process of the fleet finishes a step that was begun. None by default. */
  readonly signal?: AbortSignal;
  /** Called whenever a step has moved some keys. By default nobody is told. */
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** A shard with what it holds. */
export interface ShardInfo {
  /** Its name. */
  readonly shard: string;
  /** How many of the 16 384 slots it owns. */
  readonly slots: number;
  /** Whether it gives its slots away, to be forgotten. */
  readonly leaving: boolean;
  /** Null when it does not answer. */
  readonly keys: number | null;
  /** Memory that its server uses in all; null when it does not answer. */
  readonly bytes: number | null;
}
