/** The files of a folder with backups: a snapshot each (RDB), and beside it what is known of it (JSON). */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure } from "../command.ts";

export interface Manifest {
  readonly takenAt: string;
  /** Where from, without credentials. */
  readonly source: string;
  readonly keys: number;
  readonly sha256: string;
}

export interface Backup {
  readonly name: string;
  readonly file: string;
}

const NAME = /^cinnabar-(\d{8}T\d{6}\d{3}Z)\.rdb$/;

/** The oldest first. */
export function backupsIn(folder: string): Backup[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => NAME.test(name));
  return names.sort().map((name) => ({ name, file: join(folder, name) }));
}

export function newBackup(folder: string, at: Date): Backup {
  const name = `cinnabar-${at.toISOString().replace(/[-:.]/g, "")}.rdb`;
  return { name, file: join(folder, name) };
}

const manifestOf = (file: string): string => file.replace(/\.rdb$/, ".json");

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

export function writeManifest(file: string, manifest: Manifest): void {
  const path = manifestOf(file);
  writeFileSync(`${path}.new`, `${JSON.stringify(manifest, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}

/** What is known of a backup; a file that is not what was written is refused. */
export async function checkedManifest(file: string): Promise<Manifest> {
  if (!existsSync(file))
    throw new CommandFailure(`there is no file ${file}`, "cinnabar backup list FOLDER shows what there is");
  const path = manifestOf(file);
  if (!existsSync(path)) {
    throw new CommandFailure(
      `${file} has no ${path} beside it: it is no backup of ours, or was not finished`,
      `load it as it is: cinnabar import ${file} TO`,
    );
  }
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  if ((await sha256Of(file)) === manifest.sha256) return manifest;
  throw new CommandFailure(
    `${file} is damaged: its SHA-256 is not the one that was noted when it was taken`,
    "restore another one: cinnabar backup list FOLDER",
  );
}

export function deleteBackup({ file }: Backup): void {
  rmSync(manifestOf(file), { force: true });
  rmSync(file, { force: true });
}
