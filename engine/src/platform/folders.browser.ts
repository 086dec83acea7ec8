/** Folders that stores are kept in: pools of files in the origin's private file system, which only workers can write to at once. */
import { DiskError, PoolDisk } from "./disk.browser.ts";
import { mount } from "./files.browser.ts";

/** Makes a folder ready for use; resolves with what lets go of it. One store in one tab has it at a time. */
export async function openFolder(path: string): Promise<() => void> {
  if (typeof FileSystemFileHandle === "undefined" || !("createSyncAccessHandle" in FileSystemFileHandle.prototype)) {
    throw new DiskError("ENOTSUP", "a store with a folder must be opened in a worker", path);
  }
  const disk = await PoolDisk.open(`cinnabar${path.replaceAll("/", "-")}`).catch((error: unknown) => {
    const { name } = error as DOMException;
    if (name !== "NoModificationAllowedError") throw error;
    throw new DiskError("EBUSY", "another tab or worker has this store open", path);
  });
  const unmount = mount(path, disk);
  return () => {
    unmount();
    disk.close();
  };
}
