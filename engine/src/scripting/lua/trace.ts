/**
 * Where in a script something happened, read from the JavaScript stack, so that it costs nothing until something fails.
 *
 * Generated code gets a file name of its own, and each of its lines stands for one place of the script: a Lua line and, for
 * a call, the name that was called (compiler/layout.ts lays it out). Frames of other files are helpers or native functions.
 * Lua counts a native function that calls back as a level; those go through a function named `fromNative`, and are told by
 * that name.
 */
import { noteStack, v8 } from "../../lib/stacks.ts";
import { FRAMES, type LuaError } from "./value.ts";

/** What one line of generated code stands for. */
export interface Site {
  line: number;
  /** The name by which the function called here was reached: "f" of `f()`, `t.f()` and `t:f()`. */
  name?: string | undefined;
  method?: boolean | undefined;
  /** A call whose frame Lua gives up. */
  tail?: boolean | undefined;
}

/** A piece of source that was compiled. */
export interface Chunk {
  /** As Lua names it: "@user_script", or the text itself for loadstring. */
  source: string;
  /** As messages name it: `user_script`, `[string "return 1"]`. */
  shortName: string;
  /** By line of the generated code. */
  sites: Site[];
}

/** A level of the Lua stack: a native function, a frame that a tail call gave up, or a place in a chunk. */
export type Level = "native" | "tail" | { chunk: Chunk; site: Site };

const PREFIX = "lua-chunk:";
const chunks = new Map<string, WeakRef<Chunk>>();
let nextChunk = 0;
let sweepAt = 256;

/** A file name for a chunk's code. The chunk is forgotten when its code is. */
export function registerChunk(chunk: Chunk): string {
  if (chunks.size >= sweepAt) {
    for (const [name, ref] of chunks) if (ref.deref() === undefined) chunks.delete(name);
    sweepAt = Math.max(256, chunks.size * 2);
  }
  const name = PREFIX + nextChunk++;
  chunks.set(name, new WeakRef(chunk));
  return name;
}

/** What V8 tells of a frame on the stack. */
interface Frame {
  getScriptNameOrSourceURL(): string | null | undefined;
  getLineNumber(): number | null;
  getFunctionName(): string | null;
}

/** The Lua levels on an error's stack, from where it was raised. A native function that raised it is not among them. */
export function levelsOf(error: { stack?: unknown }): Level[] {
  return levelsOfFrames(framesOf(error));
}

function levelsOfFrames(frames: Frame[]): Level[] {
  const levels: Level[] = [];
  let aboveIsLua = false;
  for (const frame of frames) {
    const level = placeOfFrame(frame);
    if (level !== undefined) {
      levels.push(level.site.tail && aboveIsLua ? "tail" : level);
      aboveIsLua = true;
      // The name of a property: those of functions do not survive a bundler that makes programs small.
    } else if (frame.getFunctionName() === "fromNative") {
      levels.push("native");
      aboveIsLua = false;
    }
  }
  return levels;
}

/** The place in a script that a frame is at; undefined for frames of the host. */
function placeOfFrame(frame: Frame): { chunk: Chunk; site: Site } | undefined {
  const file = frame.getScriptNameOrSourceURL();
  if (!file?.startsWith(PREFIX)) return undefined;
  const chunk = chunks.get(file)?.deref();
  const site = chunk?.sites[frame.getLineNumber() ?? 0];
  return chunk === undefined || site === undefined ? undefined : { chunk, site };
}

/**
 * Where the stack overflowed. V8 notices at the start of the function that did not fit any more; to Lua it happens where
 * that one was called.
 */
export function overflowPlace(error: RangeError): { chunk: Chunk; site: Site } | undefined {
  const frames = framesOf(error);
  const places = frames.map(placeOfFrame);
  const called = places[0] === undefined ? 0 : 1;
  return places.slice(called).find((place) => place !== undefined);
}

/** None where the runtime is not V8: errors of scripts then lack their place. */
function framesOf(error: { stack?: unknown }): Frame[] {
  const before = v8.prepareStackTrace;
  v8.prepareStackTrace = (_: unknown, frames: unknown) => frames;
  try {
    const { stack } = error;
    return Array.isArray(stack) ? stack : [];
  } finally {
    v8.prepareStackTrace = before;
  }
}

/** How far to look when an error's own frames do not reach: natives that recurse may have put many on top. */
const FURTHER = 2000;

/** A level of the stack on which an error has just been made; asked while that stack still stands. */
export function levelAt(error: LuaError, level: number): Level | undefined {
  const frames = framesOf(error);
  let levels = levelsOfFrames(frames);
  if (levels.length <= level && frames.length >= FRAMES) {
    const here: { stack?: unknown } = {};
    noteStack(here, levelAt, FURTHER);
    levels = levelsOf(here);
  }
  const place = levels.find((one) => typeof one === "object");
  if (typeof place === "object") error.place = { source: place.chunk.source, line: place.site.line };
  return levels[level];
}

/** `user_script:3: ` for a place in a script, nothing for other levels. */
export function prefixOf(level: Level | undefined): string {
  return typeof level === "object" ? `${level.chunk.shortName}:${level.site.line}: ` : "";
}

/** The place in a script where an error was raised, for the report of an error that nobody caught. */
export function placeOf(error: LuaError): { source: string; line: number } | undefined {
  if (error.place === undefined) {
    const level = levelsOf(error).find((one) => typeof one === "object");
    if (typeof level === "object") error.place = { source: level.chunk.source, line: level.site.line };
  }
  return error.place;
}

/** A chunk's name as messages show it: `@file` is a file, `=name` a name, anything else the source text itself. */
export function shortName(source: string, room = 60): string {
  if (source.startsWith("=")) return source.slice(1, room);
  if (source.startsWith("@")) {
    const file = source.slice(1);
    const most = room - " '...' ".length - 1;
    return file.length > most ? `...${file.slice(file.length - most)}` : file;
  }
  const most = room - ' [string "..."] '.length - 1;
  const end = source.search(/[\n\r]/);
  let line = (end < 0 ? source : source.slice(0, end)).slice(0, most);
  if (line.length < source.length) line += "...";
  return `[string "${line}"]`;
}
