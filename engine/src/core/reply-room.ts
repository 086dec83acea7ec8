/**
 * How large a buffer a connection's replies need: the figures `rbs` and `rbp` of CLIENT LIST.
 *
 * Replies are gathered as strings here and the one scratch memory of the process is shared, so this is an account rather than
 * an allocation. It follows Redis's rule, so that CLIENT LIST and the memory of idle clients read alike: 16 KB at first,
 * halved again and again while replies stay small, doubled when one fills it.
 */
import type { Stats } from "../observe/stats.ts";

const SMALLEST = 1024;
const LARGEST = 16 * 1024;

/** DEBUG REPLYBUFFER. */
export interface ReplyRoomSettings {
  resizing: boolean;
  /** How long a peak counts; negative: for ever. */
  peakResetMs: number;
}

export const PEAK_RESET_MS = 5000;

export class ReplyRoom {
  bytes = LARGEST;
  /** The most that was in it lately. A new client is given the benefit of the doubt. */
  peak = LARGEST;
  #resetAt: number;

  constructor(now: number) {
    this.#resetAt = now;
  }

  /** This much was gathered before it was written. */
  used(bytes: number): void {
    if (bytes > this.peak) this.peak = Math.min(bytes, this.bytes);
  }

  /** Once a while for every connection. */
  resize({ resizing, peakResetMs }: ReplyRoomSettings, stats: Stats, now: number): void {
    if (!resizing) return;
    if (this.bytes / 2 >= SMALLEST && this.peak < this.bytes / 2) {
      this.bytes = Math.max(SMALLEST, this.peak + 1);
      stats.replyBufferShrinks++;
    } else if (this.bytes < LARGEST && this.peak === this.bytes) {
      this.bytes = Math.min(LARGEST, this.bytes * 2);
      stats.replyBufferExpands++;
    }
    if (peakResetMs < 0 || now - this.#resetAt <= peakResetMs) return;
    this.peak = 0;
    this.#resetAt = now;
  }
}
