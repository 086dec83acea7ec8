/**
 * nodes.conf (cluster-config-file): what a node knows of its Cluster, in Redis's own format, so that Redis's tools and
 * Redis itself can read it. A line for each node as CLUSTER NODES has it, and one with the epochs. It is replaced as a
 * whole: a new file beside it, synced, takes its name.
 */

import { codeOf } from "../lib/caught.ts";
import { SLOTS } from "../lib/key-slot.ts";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "../platform/files.ts";
import { ownPid } from "../platform/process.ts";
import { type Describer, nodesText } from "./describe.ts";
import { ClusterNode, ClusterState } from "./state.ts";

export interface NodesConf {
  readonly state: ClusterState;
  /** The id of the node whose file it is. */
  readonly self: string;
  readonly migrating: ReadonlyMap<number, string>;
  readonly importing: ReadonlyMap<number, string>;
}

export function formatNodesConf(view: Describer): string {
  return `${nodesText(view)}vars currentEpoch ${view.state.currentEpoch} lastVoteEpoch 0\n`;
}

const FLAW = "Unrecoverable error: corrupted cluster config file";

interface Line {
  readonly node: ClusterNode;
  readonly primaryId: string;
  readonly slots: readonly string[];
}

const ADDRESS = /^(.*):(\d+)@(\d+)(?:,(.*))?$/;

function parseNode(words: readonly string[], text: string): Line {
  const [id, address, flags, primaryId, , , epoch, , ...slots] = words;
  const [, ip, port, busPort, hostname = ""] = ADDRESS.exec(address ?? "") ?? [];
  if (id === undefined || !/^[0-9a-f]{40}$/.test(id) || ip === undefined || flags === undefined) {
    throw new Error(`${FLAW}: "${text}"`);
  }
  const node = new ClusterNode(id);
  Object.assign(node, { ip, port: Number(port), busPort: Number(busPort), hostname });
  node.configEpoch = Number(epoch);
  return { node, primaryId: primaryId ?? "-", slots };
}

/** The slots of one word: `5`, `5-9`. */
function* slotsIn(word: string): Generator<number> {
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  const [from, to] = [Number(first), Number(last ?? first)];
  if (!(to < SLOTS)) throw new Error(`${FLAW}: "${word}"`);
  for (let slot = from; slot <= to; slot++) yield slot;
}

/** Throws where the text is no nodes.conf. */
export function parseNodesConf(text: string): NodesConf {
  const state = new ClusterState();
  const migrating = new Map<number, string>();
  const importing = new Map<number, string>();
  const lines: Line[] = [];
  let self = "";
  for (const line of text.split("\n")) {
    const words = line.split(" ").filter((word) => word !== "");
    if (words.length === 0) continue;
    if (words[0] === "vars") {
      const at = words.indexOf("currentEpoch");
      if (at > 0) state.currentEpoch = Number(words[at + 1]);
      continue;
    }
    const parsed = parseNode(words, line);
    lines.push(parsed);
    state.add(parsed.node);
    if (words[2]!.split(",").includes("myself")) self = parsed.node.id;
  }
  for (const { node, primaryId, slots } of lines) {
    node.primary = primaryId === "-" ? null : (state.nodes.get(primaryId) ?? null);
    const owned: number[] = [];
    for (const word of slots) {
      const [, slot, way, id] = /^\[(\d+)-([<>])-([0-9a-f]{40})\]$/.exec(word) ?? [];
      if (slot === undefined) owned.push(...slotsIn(word));
      else (way === ">" ? migrating : importing).set(Number(slot), id!);
    }
    state.assign(owned, node);
  }
  if (self === "") throw new Error(`${FLAW}: no line is this node's`);
  return { state, self, migrating, importing };
}

/** What a file says; null where there is none, or nothing in it. */
export function readNodesConf(file: string): NodesConf | null {
  let text: string;
  try {
    text = readFileSync(file, "latin1");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
  return text.trim() === "" ? null : parseNodesConf(text);
}

export function writeNodesConf(file: string, view: Describer): void {
  const temporary = `${file}.tmp-${ownPid}`;
  const handle = openSync(temporary, "w", 0o644);
  try {
    writeSync(handle, formatNodesConf(view), null, "latin1");
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
}
