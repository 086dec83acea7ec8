/** A page has no thread that could reach its store: the event loop renews (loop.ts), and this stands for the rest to name. */
import { UnsupportedError } from "../base/errors.ts";
import type { WorkerAddress } from "../connection/port.ts";
import type { Store } from "../connection/store.ts";
import type { LoopRenewer } from "./loop.ts";
import type { KeptLease, Renewer } from "./renewal.ts";

export interface ThreadEntry {
  readonly slot: { readonly at: number; readonly board: { validForMs(slot: number): number } };
}

export class ThreadRenewer implements Renewer {
  readonly state = "none";

  constructor(_store: Store, _address: WorkerAddress, _loop: LoopRenewer) {
    throw new UnsupportedError("a browser has no thread to renew leases from: the event loop does it");
  }

  add(_lease: KeptLease): void {}

  remove(_lease: KeptLease): void {}

  rescue(_lease: KeptLease): boolean {
    return false;
  }

  async close(): Promise<void> {}
}
