/** Keys into a file and out of one: written while it is downloaded, read while it is uploaded. */
import { useState } from "react";
import type { ExportState, ImportState } from "../../../src/operate/transfer.ts";
import { act, Failure } from "../../api.ts";
import { endpoint } from "../../base.ts";
import { bytes, counted, number } from "../../format.ts";
import { Dialog, Table, toast } from "../../parts.tsx";
import { TaskBar, useTask } from "../../task.tsx";
import type { ChosenKeys } from "./bulk-dialog.tsx";

const FORMATS = {
  jsonl: ["JSON lines", "One object for each key. For programs, and for cinnabar import."],
  csv: ["CSV", "For spreadsheets: key, type, expiresAt, value. Collections are JSON."],
  commands: ["Commands", "The commands that make the keys, one on a line. For redis-cli."],
  dump: ["DUMP", "Values as the server keeps them, for RESTORE on the same or a later version."],
} as const;
type Format = keyof typeof FORMATS;
const NAMES = Object.keys(FORMATS) as Format[];

function FormatField({ format, choose }: { format: Format; choose: (format: Format) => void }) {
  return (
    <label>
      Format
      <select value={format} onChange={(event) => choose(event.currentTarget.value as Format)} data-autofocus>
        {NAMES.map((name) => (
          <option key={name} value={name}>
            {FORMATS[name][0]}
          </option>
        ))}
      </select>
      <small>{FORMATS[format][1]}</small>
    </label>
  );
}

function Problem({ error }: { error: Failure | null }) {
  return (
    error && (
      <p className="bad" role="alert">
        {error.message}
      </p>
    )
  );
}

export function ExportDialog({ selection, text, close }: { selection: ChosenKeys; text: string; close: () => void }) {
  const [format, setFormat] = useState<Format>("jsonl");
  const { task, setTask, error, setError, isRunning, stop } = useTask<ExportState>("/api/exports");
  const send = async () => {
    setError(null);
    try {
      const prepared = await act<ExportState>("POST", "/api/exports", { selection, format });
      const link = document.createElement("a");
      link.href = endpoint(`/api/exports/${prepared.id}/file`);
      link.download = "";
      document.body.append(link);
      link.click();
      link.remove();
      setTask(prepared);
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <Dialog title="Export keys" close={close}>
      <div className="stack">
        <p>
          {"keys" in selection
            ? `${number(selection.keys.length)} selected keys.`
            : `${text[0]!.toUpperCase()}${text.slice(1)}.`}
        </p>
        <FormatField format={format} choose={setFormat} />
        {task !== null && isRunning && (
          <TaskBar
            label={`${counted(task.keys, "key")}, ${bytes(task.bytes)}`}
            done={task.done}
            total={task.total}
            stop={stop}
          />
        )}
        {task !== null && !isRunning && (
          <p role="status">
            {task.state === "done" ? "Exported" : "Stopped after"}{" "}
            {`${counted(task.keys, "key")}, ${bytes(task.bytes)}.`}
            {task.leftOut > 0 && ` ${number(task.leftOut)} larger than 64 MB are left out.`}
            {task.state === "failed" && <span className="bad">{` ${task.error}`}</span>}
          </p>
        )}
        <Problem error={error} />
        <div className="row end">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="button" className="main" disabled={isRunning} onClick={() => void send()}>
            Download file
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function formatOf(name: string): Format | null {
  if (/\.dump\.jsonl$/i.test(name)) return "dump";
  if (/\.(jsonl|ndjson)$/i.test(name)) return "jsonl";
  if (/\.csv$/i.test(name)) return "csv";
  return /\.(txt|redis)$/i.test(name) ? "commands" : null;
}

/** The file goes as it is; the browser reads it while it sends it. */
async function upload(file: File, query: Record<string, string>): Promise<ImportState> {
  let response: Response;
  try {
    response = await fetch(endpoint(`/api/imports?${new URLSearchParams(query)}`), {
      method: "POST",
      credentials: "same-origin",
      headers: { "x-cinnabar": "1", "content-type": "application/octet-stream" },
      body: file,
    });
  } catch {
    throw new Failure(0, "LOST", "the upload was broken off");
  }
  const body = (await response.json().catch(() => ({}))) as ImportState & { code?: string; detail?: string };
  if (response.ok) return body;
  throw new Failure(response.status, body.code ?? "", body.detail ?? `the console answered ${response.status}`);
}

export function ImportDialog({ close, done }: { close: () => void; done: () => void }) {
  const [format, setFormat] = useState<Format>("jsonl");
  const [existing, setExisting] = useState("replace");
  const [file, setFile] = useState<File | null>(null);
  const { task, setTask, error, setError, isRunning, stop } = useTask<ImportState>("/api/imports");
  const send = async () => {
    setError(null);
    const id = crypto.randomUUID?.() ?? `import-${Date.now()}`;
    const begun = { id, state: "running", done: 0, total: file!.size, imported: 0, skipped: 0, failed: 0 };
    setTask(begun as unknown as ImportState);
    try {
      const result = await upload(file!, { id, format, existing });
      setTask(result);
      toast(`Imported ${number(result.imported)}.`);
      done();
    } catch (failure) {
      setTask(null);
      setError(failure as Failure);
    }
  };
  return (
    <Dialog title="Import keys" close={close}>
      <div className="stack">
        <label>
          File
          <input
            type="file"
            onChange={(event) => {
              const chosen = event.currentTarget.files?.[0] ?? null;
              setFile(chosen);
              setTask(null);
              if (chosen !== null) setFormat(formatOf(chosen.name) ?? format);
            }}
          />
        </label>
        <FormatField format={format} choose={setFormat} />
        <label>
          Keys that exist already
          <select
            value={existing}
            disabled={format === "commands"}
            onChange={(event) => setExisting(event.currentTarget.value)}
          >
            <option value="replace">replace them</option>
            <option value="keep">leave them as they are</option>
          </select>
        </label>
        {task !== null && isRunning && (
          <TaskBar
            label={`Read ${bytes(task.done)} of ${bytes(task.total)}, imported ${number(task.imported)}`}
            done={task.done}
            total={task.total}
            stop={stop}
          />
        )}
        {task !== null && !isRunning && (
          <div role="status" className="stack">
            <p>
              {`Imported ${number(task.imported)} ${format === "commands" ? "commands" : "keys"}.`}
              {task.skipped > 0 && ` ${number(task.skipped)} were there already.`}
              {task.state === "stopped" && " Stopped before the end of the file."}
              {task.state === "failed" && <span className="bad">{` ${task.error}`}</span>}
            </p>
            {task.failed > 0 && (
              <>
                <p className="bad">{`${number(task.failed)} failed.`}</p>
                <Table
                  label="Failures"
                  rows={task.failures}
                  id={({ line }) => line}
                  columns={[
                    { title: "Record", numeric: true, cell: ({ line }) => line },
                    { title: "Reason", wide: true, cell: ({ reason }) => reason },
                  ]}
                />
              </>
            )}
          </div>
        )}
        <Problem error={error} />
        <div className="row end">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="button" className="main" disabled={file === null || isRunning} onClick={() => void send()}>
            Import file
          </button>
        </div>
      </div>
    </Dialog>
  );
}
