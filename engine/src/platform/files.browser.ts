/**
 * Files in a browser: what the engine uses of Node's, on the disk that was mounted at the beginning of their names (disk.browser.ts).
 * Without one they are in memory. Folders are there when something is in them.
 */
import { Buffer } from "./bytes.browser.ts";
import { type Disk, DiskError, type DiskFile, errorOf, MemoryDisk } from "./disk.browser.ts";
import { basename, dirname, resolve } from "./paths.browser.ts";
import { soon } from "./timers.browser.ts";

export type FileError = Error & { code?: string | undefined };

export const constants = { O_WRONLY: 1, O_CREAT: 64, O_TRUNC: 512, O_APPEND: 1024 } as const;

const memory = new MemoryDisk();
const mounted = new Map<string, Disk>();

/** Keeps what is in this folder on a disk; returns what ends that. */
export function mount(folder: string, disk: Disk): () => void {
  const path = resolve(folder);
  mounted.set(path, disk);
  return () => mounted.delete(path);
}

function diskOf(path: string): Disk {
  for (const [folder, disk] of mounted) if (path === folder || path.startsWith(`${folder}/`)) return disk;
  return memory;
}

/** `File` is null: a folder. */
interface Opened<File extends DiskFile | null> {
  readonly path: string;
  readonly file: File;
  at: number;
  readonly appends: boolean;
}

const descriptors = new Map<number, Opened<DiskFile> | Opened<null>>();
let nextDescriptor = 3;

const missing = (path: string): DiskError => new DiskError("ENOENT", "no such file or directory", path);

function isFolder(path: string): boolean {
  const prefix = path === "/" ? path : `${path}/`;
  if (path === "/" || mounted.has(path)) return true;
  for (const name of diskOf(path).names()) if (name.startsWith(prefix)) return true;
  return false;
}

function find(name: string): DiskFile {
  const path = resolve(name);
  const file = diskOf(path).find(path);
  if (file === undefined) throw missing(path);
  return file;
}

export function openSync(name: string, flags: string | number = "r", _mode?: number): number {
  const path = resolve(name);
  const disk = diskOf(path);
  const has = (letter: string, bit: number): boolean =>
    typeof flags === "string" ? flags.startsWith(letter) : (flags & bit) !== 0;
  const appends = has("a", constants.O_APPEND);
  const truncates = has("w", constants.O_TRUNC);
  const creates = appends || truncates || has("w", constants.O_CREAT);
  let file: DiskFile | null = disk.find(path) ?? null;
  if (typeof flags === "string" && flags.includes("x") && file !== null) {
    throw new DiskError("EEXIST", "file already exists", path);
  }
  if (file === null && creates) file = disk.make(path);
  else if (file !== null && truncates) file.truncate(0);
  if (file === null && !isFolder(path)) throw missing(path);
  const descriptor = nextDescriptor++;
  descriptors.set(descriptor, { path, file, at: 0, appends });
  return descriptor;
}

function openedBy(descriptor: number): Opened<DiskFile> {
  const opened = descriptors.get(descriptor);
  if (opened === undefined) throw new DiskError("EBADF", "bad file descriptor", String(descriptor));
  if (opened.file === null) throw new DiskError("EISDIR", "illegal operation on a directory", opened.path);
  return opened;
}

export function closeSync(descriptor: number): void {
  descriptors.delete(descriptor);
}

export function readSync(
  descriptor: number,
  into: Uint8Array,
  offset = 0,
  length = into.length - offset,
  position: number | null = null,
): number {
  const opened = openedBy(descriptor);
  const count = opened.file.read(into.subarray(offset, offset + length), position ?? opened.at);
  if (position === null) opened.at += count;
  return count;
}

export function writeSync(
  descriptor: number,
  data: Uint8Array | string,
  offset?: number | null,
  lengthOrEncoding?: number | string | null,
  position: number | null = null,
): number {
  const opened = openedBy(descriptor);
  const { file } = opened;
  const isText = typeof data === "string";
  const whole = isText ? Buffer.from(data, lengthOrEncoding === "latin1" ? "latin1" : "utf8") : data;
  const start = isText ? 0 : (offset ?? 0);
  const length = isText || typeof lengthOrEncoding !== "number" ? whole.length - start : lengthOrEncoding;
  const place = isText ? (offset ?? null) : position;
  const at = opened.appends ? file.size : (place ?? opened.at);
  file.write(whole.subarray(start, start + length), at);
  if (place === null) opened.at = at + length;
  return length;
}

export function write(
  descriptor: number,
  data: Uint8Array,
  offset: number,
  length: number,
  position: number | null,
  done: (error: FileError | null, written: number) => void,
): void {
  let written = 0;
  let failed: FileError | null = null;
  try {
    written = writeSync(descriptor, data, offset, length, position);
  } catch (error) {
    failed = errorOf(error);
  }
  soon(() => done(failed, written));
}

export function fsyncSync(descriptor: number): void {
  descriptors.get(descriptor)?.file?.flush();
}

/** There is no way to sync less. */
export function fdatasyncSync(descriptor: number): void {
  fsyncSync(descriptor);
}

export function fdatasync(descriptor: number, done: (error: FileError | null) => void): void {
  let failed: FileError | null = null;
  try {
    fsyncSync(descriptor);
  } catch (error) {
    failed = errorOf(error);
  }
  soon(() => done(failed));
}

interface Stats {
  readonly size: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

const statsOf = (file: DiskFile | null): Stats => ({
  size: file?.size ?? 0,
  isFile: () => file !== null,
  isDirectory: () => file === null,
});

export const fstatSync = (descriptor: number): Stats => statsOf(openedBy(descriptor).file);

export function statSync(name: string): Stats;
export function statSync(name: string, options: { readonly throwIfNoEntry: false }): Stats | undefined;
export function statSync(name: string, options?: { readonly throwIfNoEntry: false }): Stats | undefined {
  const path = resolve(name);
  const file = diskOf(path).find(path);
  if (file !== undefined) return statsOf(file);
  if (isFolder(path)) return statsOf(null);
  if (options?.throwIfNoEntry === false) return undefined;
  throw missing(path);
}

export const existsSync = (name: string): boolean => statSync(name, { throwIfNoEntry: false }) !== undefined;

export function ftruncateSync(descriptor: number, length = 0): void {
  openedBy(descriptor).file.truncate(length);
}

/** Folders are there when something is in them. */
export function mkdirSync(_name: string, _options?: { readonly recursive?: boolean }): void {}

export function readdirSync(name: string): string[] {
  const folder = resolve(name);
  const names = new Set<string>();
  for (const path of diskOf(folder).names()) {
    for (let at = path; at !== "/"; at = dirname(at)) if (dirname(at) === folder) names.add(basename(at));
  }
  return [...names].sort();
}

export function readFileSync(name: string): Buffer;
export function readFileSync(name: string, encoding: "latin1" | "utf8"): string;
export function readFileSync(name: string, encoding?: "latin1" | "utf8"): Buffer | string {
  const file = find(name);
  const bytes = Buffer.alloc(file.size);
  file.read(bytes, 0);
  return encoding === undefined ? bytes : bytes.toString(encoding);
}

export function writeFileSync(name: string, data: string | Uint8Array, options?: { readonly flag?: string }): void {
  const descriptor = openSync(name, options?.flag ?? "w");
  try {
    writeSync(descriptor, data);
  } finally {
    closeSync(descriptor);
  }
}

export function renameSync(from: string, to: string): void {
  const [old, path] = [resolve(from), resolve(to)];
  find(old);
  diskOf(old).rename(old, path);
}

export function rmSync(name: string, options: { readonly force?: boolean } = {}): void {
  const path = resolve(name);
  if (options.force !== true) find(path);
  diskOf(path).remove(path);
}

export function unlink(name: string, done: (error: FileError | null) => void): void {
  rmSync(name, { force: true });
  soon(() => done(null));
}

/** There are no links. */
export function linkSync(_from: string, to: string): void {
  throw new DiskError("ENOTSUP", "operation not supported", to);
}

export function readlinkSync(path: string): string {
  throw missing(path);
}

export const opened = async (name: string, flags: string): Promise<number> => openSync(name, flags);
export const synced = async (descriptor: number): Promise<void> => fsyncSync(descriptor);
export const closed = async (descriptor: number): Promise<void> => closeSync(descriptor);

export interface ReadHandle {
  read(into: Uint8Array, at: number, length: number, from: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

export async function openForReading(name: string): Promise<ReadHandle> {
  const descriptor = openSync(name, "r");
  return {
    read: async (into, at, length, from) => ({ bytesRead: readSync(descriptor, into, at, length, from) }),
    close: async () => closeSync(descriptor),
  };
}
