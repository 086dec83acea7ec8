/**
 * A disk for stores in a browser: files by their whole names, in memory or in the origin's private file system (OPFS).
 *
 * The engine writes and syncs without waiting for a promise. OPFS can do that in workers, with files that are open: so a pool of files
 * is opened when the disk is, and a name is given to one of them when a file is made (as SQLite's pool does). The first block of each
 * says which name it has and since when; that block is written last and brought to disk at once, so that a name stands for a whole
 * file at any moment: the old one or the new one. Where two blocks say the same name, the later one counts, and the other was about
 * to be freed.
 */

/** One file's bytes. Reading past the end reads nothing. */
export interface DiskFile {
  readonly size: number;
  read(into: Uint8Array, from: number): number;
  write(bytes: Uint8Array, at: number): void;
  truncate(size: number): void;
  /** Brings it to disk. */
  flush(): void;
}

export interface Disk {
  names(): Iterable<string>;
  find(name: string): DiskFile | undefined;
  make(name: string): DiskFile;
  /** Gives a file another name; one that has it already is gone. */
  rename(from: string, to: string): void;
  remove(name: string): void;
  close(): void;
}

/** A problem by the code that Node's files have for it. */
export class DiskError extends Error {
  readonly code: string;
  readonly path: string;

  constructor(code: string, message: string, path: string) {
    super(`${code}: ${message}, '${path}'`);
    this.code = code;
    this.path = path;
  }
}

class MemoryFile implements DiskFile {
  size = 0;
  #bytes = new Uint8Array(1024);

  read(into: Uint8Array, from: number): number {
    const count = Math.max(0, Math.min(into.length, this.size - from));
    into.set(this.#bytes.subarray(from, from + count));
    return count;
  }

  write(bytes: Uint8Array, at: number): void {
    const end = at + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.size));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, at);
    this.size = Math.max(this.size, end);
  }

  truncate(size: number): void {
    if (size < this.size) this.#bytes.fill(0, size, this.size);
    this.size = size;
  }

  flush(): void {}
}

/** Gone with the page. */
export class MemoryDisk implements Disk {
  readonly #files = new Map<string, MemoryFile>();

  names(): Iterable<string> {
    return this.#files.keys();
  }

  find(name: string): DiskFile | undefined {
    return this.#files.get(name);
  }

  make(name: string): DiskFile {
    const made = new MemoryFile();
    this.#files.set(name, made);
    return made;
  }

  rename(from: string, to: string): void {
    this.#files.set(to, this.#files.get(from)!);
    this.#files.delete(from);
  }

  remove(name: string): void {
    this.#files.delete(name);
  }

  close(): void {}
}

/** What a block at the beginning of a pooled file has: a magic word, a number that counts names, the name's length, the name, a sum. */
const BLOCK = 4096;
const MAGIC = 0x43696e31;
const NAME_AT = 20;
const LONGEST_NAME = BLOCK - NAME_AT;
/** A rewrite of the append-only file needs seven at once. */
const POOL = 24;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function sumOf(bytes: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum >>> 0;
}

class PooledFile implements DiskFile {
  readonly #handle: FileSystemSyncAccessHandle;
  name: string | null = null;
  since = 0;

  constructor(handle: FileSystemSyncAccessHandle) {
    this.#handle = handle;
    const block = new Uint8Array(BLOCK);
    if (handle.read(block, { at: 0 }) < BLOCK) return;
    const view = new DataView(block.buffer);
    const length = view.getUint32(12);
    if (view.getUint32(0) !== MAGIC || length > LONGEST_NAME) return;
    const name = block.subarray(NAME_AT, NAME_AT + length);
    if ((sumOf(block.subarray(4, 16)) ^ sumOf(name)) >>> 0 !== view.getUint32(16)) return;
    this.since = view.getFloat64(4);
    this.name = decoder.decode(name);
  }

  /** Says what it is called, at once and for good; null: nothing, it is free. */
  call(name: string | null, since: number): void {
    const block = new Uint8Array(BLOCK);
    if (name !== null) {
      const bytes = encoder.encode(name);
      if (bytes.length > LONGEST_NAME) throw new DiskError("ENAMETOOLONG", "name too long", name);
      const view = new DataView(block.buffer);
      view.setUint32(0, MAGIC);
      view.setFloat64(4, since);
      view.setUint32(12, bytes.length);
      block.set(bytes, NAME_AT);
      view.setUint32(16, (sumOf(block.subarray(4, 16)) ^ sumOf(bytes)) >>> 0);
    }
    if (this.#handle.write(block, { at: 0 }) < BLOCK)
      throw new DiskError("ENOSPC", "no space left on device", name ?? "");
    if (name === null) this.#handle.truncate(BLOCK);
    this.#handle.flush();
    this.name = name;
    this.since = since;
  }

  get size(): number {
    return Math.max(0, this.#handle.getSize() - BLOCK);
  }

  read(into: Uint8Array<ArrayBuffer>, from: number): number {
    return from >= this.size ? 0 : this.#handle.read(into, { at: BLOCK + from });
  }

  write(bytes: Uint8Array<ArrayBuffer>, at: number): void {
    let written: number;
    try {
      written = this.#handle.write(bytes, { at: BLOCK + at });
    } catch (error) {
      throw refusal(error, this.name);
    }
    if (written < bytes.length) throw new DiskError("ENOSPC", "no space left on device", this.name ?? "");
  }

  truncate(size: number): void {
    this.#handle.truncate(BLOCK + size);
  }

  flush(): void {
    try {
      this.#handle.flush();
    } catch (error) {
      throw refusal(error, this.name);
    }
  }

  close(): void {
    this.#handle.close();
  }
}

/** What was thrown, as an error; a DOMException is one. */
export const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** What the browser says in the words of files. */
function refusal(error: unknown, name: string | null): DiskError {
  const { name: kind, message } = errorOf(error);
  if (kind === "QuotaExceededError") return new DiskError("ENOSPC", "no space left on device", name ?? "");
  return new DiskError("EIO", message, name ?? "");
}

/** In the origin's private file system; only in workers. */
export class PoolDisk implements Disk {
  readonly #files = new Map<string, PooledFile>();
  readonly #free: PooledFile[] = [];
  #since = 0;

  private constructor() {}

  /** Opens, or makes, the pool with this name. Rejects with a NoModificationAllowedError while somebody else has it open. */
  static async open(name: string): Promise<PoolDisk> {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle(name, { create: true });
    const disk = new PoolDisk();
    const opened: PooledFile[] = [];
    try {
      for (let nth = 0; nth < POOL; nth++) {
        const file = await folder.getFileHandle(`file-${nth}`, { create: true });
        opened.push(new PooledFile(await file.createSyncAccessHandle()));
      }
    } catch (error) {
      for (const file of opened) file.close();
      throw error;
    }
    for (const file of opened) disk.#admit(file);
    return disk;
  }

  #admit(file: PooledFile): void {
    const { name } = file;
    if (name === null) {
      this.#free.push(file);
      return;
    }
    this.#since = Math.max(this.#since, file.since);
    const other = this.#files.get(name);
    const [later, earlier] = other === undefined || other.since < file.since ? [file, other] : [other, file];
    this.#files.set(name, later);
    if (earlier !== undefined) this.#release(earlier);
  }

  #release(file: PooledFile): void {
    file.call(null, 0);
    this.#free.push(file);
  }

  names(): Iterable<string> {
    return this.#files.keys();
  }

  find(name: string): DiskFile | undefined {
    return this.#files.get(name);
  }

  make(name: string): DiskFile {
    const file = this.#free.pop();
    if (file === undefined) throw new DiskError("ENFILE", "too many files", name);
    file.call(name, ++this.#since);
    this.#files.set(name, file);
    return file;
  }

  rename(from: string, to: string): void {
    const file = this.#files.get(from)!;
    const before = this.#files.get(to);
    file.call(to, ++this.#since);
    this.#files.delete(from);
    this.#files.set(to, file);
    if (before !== undefined) this.#release(before);
  }

  remove(name: string): void {
    const file = this.#files.get(name);
    if (file === undefined) return;
    this.#files.delete(name);
    this.#release(file);
  }

  close(): void {
    for (const file of [...this.#files.values(), ...this.#free]) file.close();
  }
}
