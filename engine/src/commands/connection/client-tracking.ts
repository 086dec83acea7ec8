/** CLIENT TRACKING and what belongs to it: the switches of client-side caching (tracking.ts). */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import {
  BCAST_SWITCH,
  BCAST_WITH_OPT,
  CACHING_NO_WITHOUT_OPTOUT,
  CACHING_WITHOUT_TRACKING,
  CACHING_YES_WITHOUT_OPTIN,
  OPT_SWITCH,
  OPTIN_AND_OPTOUT,
  overlapsExisting,
  overlapsGiven,
  PREFIX_WITHOUT_BCAST,
  REDIRECT_TO_NOBODY,
  REDIRECT_TWICE,
} from "../../core/rare-errors.ts";
import { MapReply, OK, type Reply, SetReply } from "../../core/reply.ts";
import type { TrackingOptions } from "../../core/tracking.ts";
import type { Args } from "../../table/args.ts";
import type { Flag, Row } from "../../table/command.ts";

interface Request extends TrackingOptions {
  readonly prefixes: readonly string[];
}

function readRequest(client: Client, args: Args): Request {
  const request = { redirect: 0, bcast: false, optin: false, optout: false, noloop: false };
  const prefixes: string[] = [];
  while (args.more) {
    const option = args.option();
    if (option === "redirect" && args.more) {
      if (request.redirect !== 0) throw REDIRECT_TWICE;
      request.redirect = args.int();
      if (!client.engine.clients.has(request.redirect)) throw REDIRECT_TO_NOBODY;
    } else if (option === "prefix" && args.more) prefixes.push(args.next());
    else if (option === "bcast" || option === "optin" || option === "optout" || option === "noloop") {
      request[option] = true;
    } else throw SYNTAX;
  }
  return { ...request, prefixes };
}

/** Refuses what contradicts itself or what the client has switched on already. */
function check(client: Client, { bcast, optin, optout, prefixes }: Request): void {
  const { tracking } = client;
  if (!bcast && prefixes.length > 0) throw PREFIX_WITHOUT_BCAST;
  if (tracking !== null && tracking.bcast !== bcast) throw BCAST_SWITCH;
  if (bcast && (optin || optout)) throw BCAST_WITH_OPT;
  if (optin && optout) throw OPTIN_AND_OPTOUT;
  if (tracking !== null && ((optin && tracking.optout) || (optout && tracking.optin))) throw OPT_SWITCH;
  if (bcast) checkOverlaps(sorted(tracking?.prefixes ?? []), prefixes);
}

function checkOverlaps(existing: readonly string[], given: readonly string[]): void {
  const overlap = (a: string, b: string) => a.startsWith(b) || b.startsWith(a);
  given.forEach((prefix, i) => {
    for (const other of existing) if (overlap(prefix, other)) throw overlapsExisting(prefix, other);
    for (const other of given.slice(i + 1)) if (overlap(prefix, other)) throw overlapsGiven(prefix, other);
  });
}

const sorted = (words: Iterable<string>) => [...words].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

function tracking(client: Client, args: Args): Reply {
  const state = args.option();
  const request = readRequest(client, args);
  if (state === "on") {
    check(client, request);
    const { prefixes, ...options } = request;
    client.engine.tracking.enable(client, options, prefixes);
  } else if (state === "off") client.engine.tracking.disable(client);
  else throw SYNTAX;
  return OK;
}

function caching(client: Client, args: Args): Reply {
  const { tracking: state } = client;
  if (state === null) throw CACHING_WITHOUT_TRACKING;
  const answer = args.option();
  if (answer === "yes") {
    if (!state.optin) throw CACHING_YES_WITHOUT_OPTIN;
  } else if (answer === "no") {
    if (!state.optout) throw CACHING_NO_WITHOUT_OPTOUT;
  } else throw SYNTAX;
  state.caching = true;
  return OK;
}

function trackingInfo({ tracking: state }: Client): Reply {
  const flags: string[] = [];
  if (state === null) flags.push("off");
  else {
    flags.push("on");
    if (state.bcast) flags.push("bcast");
    if (state.optin) flags.push("optin");
    if (state.optin && state.caching) flags.push("caching-yes");
    if (state.optout) flags.push("optout");
    if (state.optout && state.caching) flags.push("caching-no");
    if (state.noloop) flags.push("noloop");
    if (state.redirectBroken) flags.push("broken_redirect");
  }
  return new MapReply([
    "flags",
    new SetReply(flags),
    "redirect",
    state?.redirect ?? -1,
    "prefixes",
    sorted(state?.prefixes ?? []),
  ]);
}

const PLAIN: Flag[] = ["noscript", "loading", "stale"];

export const clientTracking: readonly Row[] = [
  {
    name: "caching",
    arity: 3,
    flags: PLAIN,
    since: "6.0.0",
    summary: "Says whether the keys of the next command are remembered (OPTIN and OPTOUT).",
    syntax: "<YES | NO>",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1)",
    run: caching,
  },
  {
    name: "getredir",
    arity: 2,
    flags: PLAIN,
    since: "6.0.0",
    summary: "Tells which client gets the invalidation messages: 0 for this one, -1 for none.",
    syntax: "",
    reply: "number",
    complexity: "O(1)",
    run: (client) => client.tracking?.redirect ?? -1,
  },
  {
    name: "tracking",
    arity: -3,
    flags: PLAIN,
    since: "6.0.0",
    summary: "Switches messages about changed keys on or off, for caches in the client.",
    syntax: "<ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
    reply: '"OK"',
    ownConnection: true,
    complexity: "O(1), with PREFIX O(N) for N prefixes",
    run: tracking,
  },
  {
    name: "trackinginfo",
    arity: 2,
    flags: PLAIN,
    since: "6.2.0",
    summary: "Tells how client-side caching is set up for this connection.",
    syntax: "",
    reply: "Map<string, Reply>",
    complexity: "O(1)",
    run: trackingInfo,
  },
];
