/** Folders that stores are kept in: pools of files in the origin's private file system, which only workers can write to at once. */
import { DiskError, errorOf, PoolDisk } from "./disk.browser.ts";
import { mount } from "./files.browser.ts";

/** Makes a folder ready for use; resolves with what lets go of it. One store in one tab has it at a time. */
export async function openFolder(path: string): Promise<() => void> {
  if (typeof FileSystemFileHandle === "undefined" || !("createSyncAccessHandle" in FileSystemFileHandle.prototype)) {
    throw new DiskError("ENOTSUP", "a store with a folder must be opened in a worker", path);
  }
  const disk = await PoolDisk.open(`cinnabar${path.replaceAll("/", "-")}`).catch((error: unknown) => {
    throw refusal(errorOf(error), path);
  });
  const unmount = mount(path, disk);
  return () => {
    unmount();
    disk.close();
  };
}

/** What a browser says, in the words of files. In private windows some refuse any: Firefox with a SecurityError, Safari with an UnknownError. */
function refusal(error: Error, path: string): Error {
  switch (error.name) {
    case "NoModificationAllowedError":
      return new DiskError("EBUSY", "another tab or worker has this store open", path);
    case "QuotaExceededError":
      return new DiskError("ENOSPC", "this browser has no room left for files of this page", path);
    case "NotAllowedError":
    case "SecurityError":
    case "UnknownError": {
      const kept = `this browser keeps no files for this page, as in some private windows (${error.message})`;
      return new DiskError("ENOTSUP", `${kept}: a store without a folder is in memory`, path);
    }
    default:
      return error;
  }
}
