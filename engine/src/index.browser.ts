/** Everything that a page may import. */
export { type Clock, ManualClock, systemClock } from "./core/clock.ts";
export type { Part as EnginePart } from "./core/parts.ts";
export { EmbeddedEngine as Engine, type OpenOptions } from "./embed/embedded.ts";
export type { EngineImage } from "./embed/image.ts";
export {
  CommandError,
  LocalClient,
  type LocalClientOptions,
  type PushListener,
  type ReplyValue,
} from "./embed/local-client.ts";
export type { Input } from "./embed/words.ts";
export { Buffer } from "./platform/bytes.browser.ts";
export { digest, isSame } from "./platform/digest.browser.ts";
export { type Disk, DiskError, type DiskFile, MemoryDisk, PoolDisk } from "./platform/disk.browser.ts";
export { mount } from "./platform/files.browser.ts";
export { NoSockets } from "./platform/no-sockets.browser.ts";
export { soon } from "./platform/timers.browser.ts";
