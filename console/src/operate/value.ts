/** One value, of a string or of an element of a collection, in the form that is asked for, a piece at a time. */
import { createHash } from "node:crypto";
import type { Reply, Store, Word } from "cinnabar";
import { decode, FORMS, type Form, KNOWN_FORMS, MOST_BYTES, shownAs } from "../decode/index.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, integer, nullable, object, oneOf, string, type Typed } from "../schema.ts";
import { entriesIn, wordOf } from "../values.ts";

const SHOWN = object({
  size: integer({ description: "Bytes that are stored." }),
  bytes: integer({ description: "Bytes that the compression holds; as stored where there is none." }),
  forms: array(oneOf(FORMS), {}),
  known: array(oneOf(FORMS)),
  text: string(),
  length: integer({ description: "Of the whole text." }),
  next: nullable(integer({ description: "Where the next piece begins." })),
  digest: nullable(string({ description: "SHA-1 of what is stored, for PUT /api/key; null where it is too large." })),
});
export type ShownValue = Typed<typeof SHOWN>;

interface Asked {
  readonly key: string;
  readonly field?: string | undefined;
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly as: Form;
  readonly from: number;
}

/** A piece of text; what has parts comes whole up to here, so that it can be shown as a tree. */
const PIECE = 262_144;
const MOST_TREE = 1_572_864;
const PARTED: ReadonlySet<Form> = new Set(["json", "msgpack", "protobuf", "java", "php"]);

const gone = () => new Problem(404, "NO_VALUE", "there is no such value any more");

async function elementOf(store: Store, { key, field, index, id }: Asked): Promise<Buffer> {
  const name = wordOf(key);
  const ask = async (...words: Word[]): Promise<Reply> => store.send(words, { buffers: true });
  if (id !== undefined) {
    const [entry] = entriesIn(await ask("XRANGE", name, id, id));
    const flat = entry?.[1] ?? [];
    const wanted = wordOf(field ?? "");
    const bytes = typeof wanted === "string" ? Buffer.from(wanted) : wanted;
    const at = flat.findIndex((each, nth) => nth % 2 === 0 && each.equals(bytes));
    if (at === -1) throw gone();
    return flat[at + 1]!;
  }
  if (index !== undefined) return found(await ask("LINDEX", name, index));
  const type = await store.call("TYPE", name);
  const word = wordOf(field ?? "");
  if (type === "hash") {
    if (Number(await store.call("HSTRLEN", name, word)) > MOST_BYTES) throw tooLarge();
    return found(await ask("HGET", name, word));
  }
  // A member of a set is what it is called.
  return typeof word === "string" ? Buffer.from(word) : word;
}

function found(reply: Reply): Buffer {
  if (!Buffer.isBuffer(reply)) throw gone();
  return reply;
}

const tooLarge = () =>
  new Problem(
    422,
    "TOO_LARGE",
    `values of more than ${MOST_BYTES / 1_048_576} MB are shown as text, hex or base64 only`,
  );

/** A string that is too large to be decoded: a piece of it as it is. */
async function pieceOf(store: Store, key: Word, size: number, as: Form, from: number): Promise<ShownValue> {
  const end = Math.min(size, from + PIECE);
  let bytes = found(await store.send(["GETRANGE", key, from, end - 1], { buffers: true }));
  // Half a character at the end belongs to the next piece.
  for (let cut = 0; cut < 4 && end < size && ((bytes.at(-1) ?? 0) & 0x80) !== 0; cut++) {
    const isLead = ((bytes.at(-1) ?? 0) & 0xc0) === 0xc0;
    bytes = bytes.subarray(0, -1);
    if (isLead) break;
  }
  const isText = as === "auto" ? bytes.toString("utf8").includes("\ufffd") === false : as === "text";
  const form = as === "auto" ? (isText ? "text" : "hex") : as;
  if (form !== "text" && form !== "hex" && form !== "base64") throw tooLarge();
  const whole = form === "text" ? bytes : found(await store.send(["GETRANGE", key, from, end - 1], { buffers: true }));
  const read = from + whole.length;
  const text = shownAs(form, whole);
  return {
    size,
    bytes: size,
    forms: [form],
    known: [...KNOWN_FORMS],
    text,
    length: size,
    next: read < size ? read : null,
    digest: null,
  };
}

async function shown({ store }: Context, asked: Asked): Promise<ShownValue> {
  const key = wordOf(asked.key);
  const isString = asked.field === undefined && asked.index === undefined && asked.id === undefined;
  let bytes: Buffer;
  if (isString) {
    const size = Number(await store.send(["STRLEN", key]));
    if (size > MOST_BYTES) return pieceOf(store, key, size, asked.as, asked.from);
    bytes = found(await store.send(["GET", key], { buffers: true }));
  } else bytes = await elementOf(store, asked);
  if (bytes.length > MOST_BYTES) throw tooLarge();
  const { forms, text, bytes: inside } = await decode(bytes, asked.as);
  const most = PARTED.has(forms.at(-1)!) && text.length <= MOST_TREE ? MOST_TREE : PIECE;
  const piece = text.slice(asked.from, asked.from + most);
  const read = asked.from + piece.length;
  const next = read < text.length ? read : null;
  return {
    size: bytes.length,
    bytes: inside,
    forms: [...forms],
    known: [...KNOWN_FORMS],
    text: piece,
    length: text.length,
    next,
    digest: createHash("sha1").update(bytes).digest("hex"),
  };
}

export const VALUE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/key/value",
    group: "Keys",
    summary: "One value in the form that is asked for: decompressed, decoded, as text, hexadecimal or base64.",
    query: object(
      {
        key: string({ maxLength: 1_000_000 }),
        field: string({ maxLength: 1_000_000, description: "Of a hash, or of a stream's entry; or a member." }),
        index: integer({ description: "Of a list." }),
        id: string({ maxLength: 42, pattern: "^\\d+-\\d+$", description: "Of a stream's entry." }),
        as: oneOf(FORMS, "`auto` finds it out."),
        from: integer({ default: 0, minimum: 0 }),
      },
      ["field", "index", "id"],
    ),
    answers:
      "The text, and the forms that it went through. What has parts is JSON text; numbers are as they were stored.",
    answer: SHOWN,
    run: (context, { query }) => shown(context, query),
  }),
];
