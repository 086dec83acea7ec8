/**
 * Random scripts that call the libraries: patterns over strings made of few letters, formats with every flag, JSON and
 * MessagePack of random values and of broken texts, binary records, sorting and shifting of tables. Every script answers
 * with what its calls gave or raised, so one script compares dozens of calls.
 */
import type { Prng } from "../prng.ts";

type Make = (prng: Prng) => string;

const times = (n: number, make: () => string): string => Array.from({ length: n }, make).join("");

/** A Lua string literal for any bytes. */
function quote(text: string): string {
  let out = '"';
  for (const char of text) {
    const code = char.charCodeAt(0);
    out += code < 32 || code > 126 || char === '"' || char === "\\" ? `\\${String(code).padStart(3, "0")}` : char;
  }
  return `${out}"`;
}

/** Calls whose results are gathered. */
function script(calls: string[]): string {
  const lines = calls.map((call) => `  {pcall(${call})},`);
  return `return {\n${lines.join("\n")}\n}`;
}

const many = (prng: Prng, make: Make): string => script(Array.from({ length: 25 }, () => make(prng)));

const SUBJECT = ["a", "b", "c", "1", "2", " ", "(", ")", "A", "_", "%", "\0", "\xff", ".", "-", "]"];

const subject: Make = (prng) => times(prng.below(12), () => prng.pick(SUBJECT));

const ITEMS = ["a", "b", "1", ".", "%a", "%d", "%s", "%w", "%A", "%p", "%z", "%.", "%%", "[ab]", "[^a]", "[a-c1-2]"];
const SETS = ["[%a_]", "[^%d%s]", "[]]", "[^]]", "[a-]", "[%]a]", "[%-b]", " ", "A", "%(", "%x", "%u", "%l", "%c"];
const SPECIAL = [
  "%b()",
  "%bab",
  "%f[%a]",
  "%f[^a]",
  "%1",
  "%2",
  "()",
  "(",
  ")",
  "$",
  "^",
  "%",
  "[",
  "[a",
  "%f",
  "%b",
  "-",
];

const item: Make = (prng) => {
  const roll = prng.below(20);
  if (roll < 2) return prng.pick(SPECIAL);
  if (roll < 5) return `(${times(1 + prng.below(2), () => quantified(prng))})`;
  return quantified(prng);
};

const quantified: Make = (prng) =>
  prng.pick(prng.below(2) === 0 ? ITEMS : SETS) + prng.pick(["", "", "", "*", "+", "-", "?"]);

const pattern: Make = (prng) =>
  (prng.below(5) === 0 ? "^" : "") + times(prng.below(5), () => item(prng)) + (prng.below(6) === 0 ? "$" : "");

const REPLACEMENTS = ['"x"', '"<%0>"', '"%1"', '"%2%1"', '"%%"', '"%"', "{a = 1, b = true, ab = 2}", "5"];
const FUNCTIONS = ["function(a, b) return b or a end", "function() end", 'function(a) return "[" .. a .. "]" end'];

const matching: Make = (prng) => {
  const s = quote(subject(prng));
  const p = quote(pattern(prng));
  const init = prng.below(3) === 0 ? `, ${prng.below(20) - 8}` : "";
  switch (prng.below(4)) {
    case 0:
      return `string.find, ${s}, ${p}${init}`;
    case 1:
      return `string.match, ${s}, ${p}${init}`;
    case 2: {
      const by = prng.pick(prng.below(3) === 0 ? FUNCTIONS : REPLACEMENTS);
      return `string.gsub, ${s}, ${p}, ${by}${prng.below(4) === 0 ? `, ${prng.below(4) - 1}` : ""}`;
    }
    default:
      return `function() local t = {} for x, y in string.gmatch(${s}, ${p}) do t[#t + 1] = {x, y} end return t end`;
  }
};

const SPECIAL_NUMBERS = [
  "0",
  "-0.0",
  "1/0",
  "-1/0",
  "2^31",
  "2^32",
  "2^53",
  "2^63",
  "-2^63",
  "1e300",
  "5e-324",
  "0.5",
  "2.5",
];

const number: Make = (prng) => {
  switch (prng.below(6)) {
    case 0:
      return prng.pick(SPECIAL_NUMBERS);
    case 1:
      return String(prng.below(2000) - 1000);
    case 2:
      return `${prng.below(4096) - 2048}/${2 ** prng.below(12)}`;
    case 3:
      return `${prng.below(1e9)}e${prng.below(60) - 30}`;
    case 4:
      return `${prng.below(1e9)}*${prng.below(1e6)}`;
    default:
      return `${prng.below(2 ** 31)}/${1 + prng.below(1e6)}`;
  }
};

const formatting: Make = (prng) => {
  const flags = times(prng.below(3), () => prng.pick(["-", "+", " ", "#", "0"]));
  const width = prng.below(2) === 0 ? String(prng.below(25)) : "";
  const precision = prng.below(2) === 0 ? `.${prng.below(3) === 0 ? prng.below(100) : prng.below(20)}` : "";
  const kind = prng.pick([..."diuxXoeEfgGcsqeEfgGeEfgGy"]);
  const value = kind === "s" || kind === "q" ? quote(subject(prng)) : number(prng);
  return `string.format, "%${flags}${width}${precision}${kind}|", ${value}`;
};

const KEYS = ["a", "b", "id", "name", "status", "k1", "k2", "k3", "__index", "toString", "", "a/b"];

/** A Lua expression for a value that can be packed. */
function value(prng: Prng, depth: number): string {
  const roll = prng.below(depth > 0 ? 10 : 6);
  if (roll < 2) return number(prng);
  if (roll < 4) return quote(subject(prng));
  if (roll === 4) return prng.pick(["true", "false"]);
  if (roll === 5) return prng.pick(["cjson.null", "1", "{}"]);
  const parts = Array.from({ length: prng.below(6) }, () => {
    if (roll < 8) return value(prng, depth - 1);
    const key = prng.below(4) === 0 ? String(prng.below(6)) : quote(prng.pick(KEYS));
    return `[${key}] = ${value(prng, depth - 1)}`;
  });
  return `{${parts.join(", ")}}`;
}

function jsonText(prng: Prng, depth: number): string {
  const space = prng.pick(["", "", "", " ", "\n"]);
  const roll = prng.below(depth > 0 ? 10 : 5);
  if (roll < 2)
    return space + prng.pick(["0", "-1", "1.5", "1e5", "-0", "123456789012", "01", "0x1f", "nan", "-inf", "1e400"]);
  if (roll < 4) {
    const piece = () =>
      prng.pick(["a", "é", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\/", '\\"', " ", "\\u0000", "\\ud800"]);
    return `${space}"${times(prng.below(5), piece)}"`;
  }
  if (roll === 4) return space + prng.pick(["true", "false", "null"]);
  const parts = Array.from({ length: prng.below(7) }, () => {
    const element = jsonText(prng, depth - 1);
    return roll < 7 ? element : `"${prng.pick(KEYS)}"${space}:${element}`;
  });
  return roll < 7 ? `${space}[${parts.join(",")}]` : `${space}{${parts.join(",")}}${space}`;
}

/** Something taken out, put in or changed. */
function broken(prng: Prng, text: string): string {
  const at = prng.below(text.length + 1);
  const junk = prng.pick([
    "",
    "",
    ",",
    "]",
    "}",
    "[",
    "{",
    '"',
    "\\",
    ":",
    "x",
    "1",
    "-",
    " ",
    "null",
    "\0",
    "\x80",
    "\xff",
  ]);
  return text.slice(0, at) + junk + text.slice(at + prng.below(3));
}

const json: Make = (prng) => {
  switch (prng.below(4)) {
    case 0:
      return `cjson.encode, ${value(prng, 3)}`;
    case 1:
      return `function() return cjson.decode(cjson.encode(${value(prng, 3)})) end`;
    case 2:
      return `cjson.decode, ${quote(jsonText(prng, 3))}`;
    default:
      return `cjson.decode, ${quote(broken(prng, jsonText(prng, 2)))}`;
  }
};

const messages: Make = (prng) => {
  switch (prng.below(4)) {
    case 0:
      return `cmsgpack.pack, ${value(prng, 3)}, ${value(prng, 1)}`;
    case 1:
      return `function() return cmsgpack.unpack(cmsgpack.pack(${value(prng, 3)}, ${value(prng, 2)})) end`;
    case 2: {
      const bytes = times(prng.below(12), () =>
        String.fromCharCode(prng.below(3) === 0 ? 0x80 + prng.below(0x60) : prng.below(256)),
      );
      return `cmsgpack.unpack, ${quote(bytes)}`;
    }
    default:
      return `cmsgpack.unpack_limit, cmsgpack.pack(${value(prng, 1)}, ${value(prng, 1)}, 3), ${prng.below(4)}, ${prng.below(3)}`;
  }
};

const STRUCT = ["b", "B", "h", "H", "l", "L", "T", "i", "I", "i2", "I3", "i7", "i8", "I16", "f", "d"];

const records: Make = (prng) => {
  const options = Array.from({ length: 1 + prng.below(5) }, () => prng.pick(STRUCT));
  const format = options
    .map((option) => prng.pick(["", "", "", "<", ">", "!", "!2", "!8", "x", " "]) + option)
    .join("");
  const values = options.map(() => number(prng)).join(", ");
  if (prng.below(2) === 0) return `struct.pack, "${format}", ${values}`;
  return `function() return struct.size("${format}"), struct.unpack("${format}", struct.pack("${format}", ${values})) end`;
};

const tables: Make = (prng) => {
  const elements = Array.from({ length: prng.below(12) }, () => String(prng.below(9))).join(", ");
  const steps = times(1 + prng.below(8), () => {
    const at = prng.below(14) - 1;
    return prng.pick([
      `table.insert(t, ${at}) `,
      `table.insert(t, ${at}, "x") `,
      "out[#out + 1] = table.remove(t) ",
      `out[#out + 1] = table.remove(t, ${at}) `,
      `t[${at}] = nil `,
      `t[${at}] = ${prng.below(9)} `,
      "out[#out + 1] = #t ",
    ]);
  });
  const sort = prng.pick([
    "",
    "table.sort(t)",
    'table.sort(t, function(a, b) out[#out + 1] = tostring(a) .. "<" .. tostring(b) return a < b end)',
    "table.sort(t, function(a, b) return tostring(a) <= tostring(b) end)",
  ]);
  return `function() local t, out = {${elements}}, {} ${steps}local ok, problem = pcall(function() ${sort} end) return t, out, problem end`;
};

const bits: Make = (prng) => {
  const name = prng.pick(["band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "tohex"]);
  return `bit.${name}, ${number(prng)}, ${number(prng)}`;
};

/** A script of each kind. */
export const kinds: Record<string, Make> = {
  patterns: (prng) => many(prng, matching),
  formats: (prng) => many(prng, formatting),
  json: (prng) => many(prng, json),
  messages: (prng) => many(prng, messages),
  records: (prng) => many(prng, records),
  tables: (prng) => many(prng, tables),
  bits: (prng) => many(prng, bits),
};
