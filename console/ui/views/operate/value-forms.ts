/** How a value is edited: in which form its text is typed, and in which it is stored. */
import type { ShownValue } from "../../../src/operate/value.ts";
import { get } from "../../api.ts";
import { type Editable, editable } from "../../format.ts";
import { queryOf, type ValueAt } from "./value-view.tsx";

export interface Draft extends Editable {
  /** The form that the server is told. */
  readonly as: string;
  /** Of what is replaced: the server refuses where something else is there by then. */
  readonly digest?: string;
}

const PACKED: ReadonlySet<string> = new Set(["gzip", "deflate", "brotli", "zstd"]);
const TEXTS: ReadonlySet<string> = new Set(["text", "json"]);
/** More than this is not put into a field of a page. */
const MOST_CHARS = 1_048_576;

/** The value as a text to be edited. Text is as it is, also inside of a compression; anything else is in hexadecimal. */
export async function draftOf(at: ValueAt, chosen = ""): Promise<Draft> {
  const ask = (as: string) => get<ShownValue>("/api/key/value", { ...queryOf(at), as });
  let value = await ask(chosen === "" ? "auto" : chosen);
  const [outer = "text", inner] = value.forms;
  let [as, note] = ["text", ""];
  if (PACKED.has(outer) && inner !== undefined && TEXTS.has(inner)) {
    as = outer;
    note = `Stored compressed (${outer}).`;
  } else if (outer === "base64") as = "base64";
  else if (!TEXTS.has(outer)) {
    value = await ask("hex");
    as = "hex";
    note = "Bytes in hexadecimal.";
  }
  if (value.next !== null || value.text.length > MOST_CHARS)
    throw new Error("this value is too large to be edited here: more than 1 MB");
  const field = as === "hex" || as === "base64" ? plain(value.text) : editable(value.text);
  const notes = [note, field.note ?? ""].filter((text) => text !== "").join(" ");
  return { ...field, ...(notes !== "" && { note: notes }), as, ...(value.digest !== null && { digest: value.digest }) };
}

const plain = (text: string): Editable => ({ value: text, read: (typed) => typed });
