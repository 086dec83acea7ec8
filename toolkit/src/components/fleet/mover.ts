/**
 * The component's keys in some slots from one server to another, while nobody touches them. Other keys are left alone.
 *
 * Values go as DUMP gives them, through this process, so that any two servers that `open` reaches will do. Every write carries
 * the fence of the lock under which the move is made: a mover that was stopped in the middle and wakes up when another has finished
 * is refused by the servers themselves.
 */

import { ServerError } from "../../base/errors.ts";
import { asByteList, asBytes, asBytesOrNull, asTuple } from "../../base/replies.ts";
import type { Driver, Request, Word } from "../../connection/port.ts";
import { slotOfBytes } from "../../connection/slots.ts";
import type { Slots } from "./layout.ts";
import type { KeyOwner, Owners } from "./ownership.ts";
import { RAISE_FENCE, RESTORE_FENCED, UNLINK_FENCED } from "./scripts.ts";

export interface MoverOptions {
  readonly fenceKey: string;
  readonly fence: number;
  /** Whose a key is. */
  readonly owners: Owners;
  readonly signal: AbortSignal;
}

/** So many keys are looked at with one SCAN, and so many or so many bytes are carried at once. */
const SCAN_COUNT = 1_000;
const BATCH_KEYS = 200;
const BATCH_BYTES = 4 << 20;

export class Mover {
  readonly #options: MoverOptions;

  constructor(options: MoverOptions) {
    this.#options = options;
  }

  /** From now on nobody with a smaller fence can write there. */
  async claim(driver: Driver): Promise<void> {
    const { fenceKey, fence } = this.#options;
    const raised = await driver.send(evaluation(RAISE_FENCE, [fenceKey], [fence]));
    if (Number(raised) !== 1) throw new ServerError("FENCED another one moves slots now");
  }

  /** How many keys were copied. What the target had in these slots goes first: it is from a move that was not finished. */
  async copy(source: Driver, target: Driver, slots: Slots, onKeys: (count: number) => void): Promise<void> {
    await this.remove(target, slots);
    for await (const keys of this.#keysIn(source, slots)) {
      for (let at = 0; at < keys.length; at += BATCH_KEYS) {
        onKeys(await this.#carry(source, target, keys.slice(at, at + BATCH_KEYS)));
      }
    }
  }

  /** Deletes what a server has in these slots. */
  async remove(driver: Driver, slots: Slots): Promise<void> {
    const { fenceKey, fence } = this.#options;
    for await (const keys of this.#keysIn(driver, slots)) {
      for (let at = 0; at < keys.length; at += BATCH_KEYS) {
        await driver.send(evaluation(UNLINK_FENCED, [fenceKey, ...keys.slice(at, at + BATCH_KEYS)], [fence]));
      }
    }
  }

  async *#keysIn(driver: Driver, slots: Slots): AsyncGenerator<Buffer[]> {
    const { owners, signal } = this.#options;
    for await (const keys of scanKeys(driver, signal)) {
      const found = keys.filter((key) => {
        const slot = slotOfBytes(key);
        return slot >= slots.from && slot <= slots.to && owners(key) === "own";
      });
      if (found.length > 0) yield found;
    }
  }

  async #carry(source: Driver, target: Driver, keys: readonly Buffer[]): Promise<number> {
    this.#options.signal.throwIfAborted();
    const read = keys.flatMap((key): Request[] => [
      { words: ["DUMP", key], key: undefined, buffers: true },
      { words: ["PTTL", key], key: undefined, buffers: true },
    ]);
    const answers = await source.sendMany(read);
    let batch: { key: Buffer; payload: Buffer; ttl: number }[] = [];
    let bytes = 0;
    let count = 0;
    const flush = async (): Promise<void> => {
      if (batch.length === 0) return;
      const words = batch.flatMap(({ payload, ttl }): Word[] => [payload, ttl]);
      const { fenceKey, fence } = this.#options;
      await target.send(evaluation(RESTORE_FENCED, [fenceKey, ...batch.map(({ key }) => key)], [fence, ...words]));
      count += batch.length;
      batch = [];
      bytes = 0;
    };
    for (const [at, key] of keys.entries()) {
      const payload = asBytesOrNull(answers[at * 2]);
      const ttl = Number(answers[at * 2 + 1]);
      // It has run out meanwhile.
      if (payload === null || ttl === -2) continue;
      batch.push({ key, payload, ttl: ttl === -1 ? 0 : Math.max(1, ttl) });
      bytes += payload.length;
      if (bytes >= BATCH_BYTES) await flush();
    }
    await flush();
    return count;
  }
}

/** The first key that `isWanted` takes, of all keys of a server; null if there is none. */
export async function findKey(
  driver: Driver,
  owners: Owners,
  isWanted: (owner: KeyOwner, slot: number) => boolean,
): Promise<Buffer | null> {
  for await (const keys of scanKeys(driver)) {
    const found = keys.find((key) => isWanted(owners(key), slotOfBytes(key)));
    if (found !== undefined) return found;
  }
  return null;
}

async function* scanKeys(driver: Driver, signal?: AbortSignal): AsyncGenerator<Buffer[]> {
  let cursor: Word = "0";
  do {
    signal?.throwIfAborted();
    const words: Word[] = ["SCAN", cursor, "COUNT", SCAN_COUNT];
    const [next, keys] = asTuple(asBytes, asByteList)(await driver.send({ words, key: undefined, buffers: true }));
    yield keys;
    cursor = next.toString("latin1");
  } while (cursor !== "0");
}

function evaluation(lua: string, keys: readonly Word[], args: readonly Word[]): Request {
  return { words: ["EVAL", lua, keys.length, ...keys, ...args], key: undefined, buffers: false };
}
