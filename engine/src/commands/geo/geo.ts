/** Commands on positions, which are kept as scores of a sorted set (geohash.ts says how). */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import { NIL_ARRAY, type Reply } from "../../core/reply.ts";
import { decodePosition, distance, encodePosition, geohashText } from "../../lib/geohash.ts";
import { formatDouble } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { group, type KeySpec, key, READ_KEY } from "../../table/command.ts";
import { ZsetValue } from "../../types/zset/index.ts";
import { CH, NX, putScores, XX } from "../zsets/zadd.ts";
import { distanceReply, geoSearch, positionReply, readPosition, readUnit } from "./geo-search.ts";

const FLAGS: ReadonlyMap<string, number> = new Map(Object.entries({ nx: NX, xx: XX, ch: CH }));

/** GEOADD is ZADD with scores made from positions, and is propagated as such. */
function add(client: Client, args: Args): Reply {
  const name = args.next();
  const propagated: string[] = [];
  let flags = 0;
  for (let word = args.peek(); word !== undefined; word = args.peek()) {
    const flag = FLAGS.get(word.toLowerCase());
    if (flag === undefined) break;
    flags |= flag;
    propagated.push(args.next());
  }
  if (!args.more || args.left % 3 !== 0 || (flags & (NX | XX)) === (NX | XX)) throw SYNTAX;
  const scores: number[] = [];
  const members: string[] = [];
  while (args.more) {
    const score = encodePosition(readPosition(args));
    const member = args.next();
    scores.push(score);
    members.push(member);
    propagated.push(formatDouble(score), member);
  }
  const { dirty } = client.engine.effects;
  const reply = putScores(client, name, scores, members, flags);
  if (client.engine.effects.dirty !== dirty) client.propagate.asZadd(name, propagated);
  return reply;
}

const stored = (keyword: string, startFrom: number): KeySpec => ({
  flags: ["OW", "update"],
  begin: { keyword, startFrom },
  find: { last: 0, step: 1, limit: 0 },
});

const RADIUS_OPTIONS = "[WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]";
const SEARCH_SHAPE =
  "<FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>>";
const SEARCH_COST = "O(N + log M) for N members in the cells around the shape and M in the key";

export const geo = group("geo", [
  {
    name: "geoadd",
    arity: -5,
    flags: ["write", "denyoom"],
    keys: [key(["RW", "update"])],
    since: "3.2.0",
    summary: "Adds members with positions, or moves them, creating the key if needed.",
    syntax: "key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]",
    reply: "number",
    complexity: "O(log N) for each member",
    run: add,
  },
  {
    name: "geodist",
    arity: -4,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "3.2.0",
    summary: "Returns the distance between two members.",
    syntax: "key member1 member2 [M | KM | FT | MI]",
    reply: "string | null",
    complexity: "O(1)",
    run({ db }, args) {
      const [name, one, two] = args.take(3);
      const unit = args.left === 1 ? readUnit(args) : 1;
      args.end();
      const zset = db.get(name, ZsetValue);
      const from = zset?.score(one);
      const to = zset?.score(two);
      if (from === undefined || to === undefined) return null;
      return distanceReply(distance(decodePosition(from), decodePosition(to)), unit);
    },
  },
  {
    name: "geohash",
    arity: -2,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "3.2.0",
    summary: "Returns members' positions as standard geohash texts.",
    syntax: "key [member [member ...]]",
    reply: "(string | null)[]",
    complexity: "O(1) for each member",
    run({ db }, args) {
      const zset = db.get(args.next(), ZsetValue);
      return args.rest().map((member) => {
        const score = zset?.score(member);
        return score === undefined ? null : geohashText(score);
      });
    },
  },
  {
    name: "geopos",
    arity: -2,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "3.2.0",
    summary: "Returns members' longitudes and latitudes.",
    syntax: "key [member [member ...]]",
    reply: "([string, string] | null)[]",
    complexity: "O(1) for each member",
    run({ db }, args) {
      const zset = db.get(args.next(), ZsetValue);
      return args.rest().map((member) => {
        const score = zset?.score(member);
        return score === undefined ? NIL_ARRAY : positionReply(decodePosition(score));
      });
    },
  },
  {
    name: "geosearch",
    arity: -7,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "6.2.0",
    summary: "Returns the members within a circle or a box.",
    syntax: `key ${SEARCH_SHAPE} [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]`,
    reply: { otherwise: "string[]", WITHCOORD: "Reply[]", WITHDIST: "Reply[]", WITHHASH: "Reply[]" },
    complexity: SEARCH_COST,
    run: (client, args) => geoSearch(client, args, { center: "options", stores: "never" }),
  },
  {
    name: "geosearchstore",
    arity: -8,
    flags: ["write", "denyoom"],
    keys: [key(["OW", "update"]), key(["RO", "access"], 2)],
    since: "6.2.0",
    summary: "Keeps the members within a circle or a box in another key.",
    syntax: `destination source ${SEARCH_SHAPE} [ASC | DESC] [COUNT count [ANY]] [STOREDIST]`,
    reply: "number",
    complexity: SEARCH_COST,
    run: (client, args) => geoSearch(client, args, { center: "options", stores: "first" }),
  },
  {
    name: "georadius",
    arity: -6,
    flags: ["write", "denyoom", "movablekeys"],
    keys: [...READ_KEY, stored("STORE", 6), stored("STOREDIST", 6)],
    since: "3.2.0",
    deprecated: { since: "6.2.0", use: "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument" },
    summary: "Returns or stores the members within a radius of a position.",
    syntax: `key longitude latitude radius M | KM | FT | MI ${RADIUS_OPTIONS} [STORE key] [STOREDIST key]`,
    reply: "Reply[] | number",
    complexity: SEARCH_COST,
    run: (client, args) => geoSearch(client, args, { center: "position", stores: "options" }),
  },
  {
    name: "georadius_ro",
    arity: -6,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "3.2.10",
    deprecated: { since: "6.2.0", use: "`GEOSEARCH` with the `BYRADIUS` argument" },
    summary: "Returns the members within a radius of a position.",
    syntax: `key longitude latitude radius M | KM | FT | MI ${RADIUS_OPTIONS}`,
    reply: "Reply[]",
    complexity: SEARCH_COST,
    run: (client, args) => geoSearch(client, args, { center: "position", stores: "never" }),
  },
  {
    name: "georadiusbymember",
    arity: -5,
    flags: ["write", "denyoom", "movablekeys"],
    keys: [...READ_KEY, stored("STORE", 5), stored("STOREDIST", 5)],
    since: "3.2.0",
    deprecated: {
      since: "6.2.0",
      use: "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
    },
    summary: "Returns or stores the members within a radius of a member.",
    syntax: `key member radius M | KM | FT | MI ${RADIUS_OPTIONS} [STORE key] [STOREDIST key]`,
    reply: "Reply[] | number",
    complexity: SEARCH_COST,
    run: (client, args) => geoSearch(client, args, { center: "member", stores: "options" }),
  },
  {
    name: "georadiusbymember_ro",
    arity: -5,
    flags: ["readonly"],
    keys: READ_KEY,
    since: "3.2.10",
    deprecated: { since: "6.2.0", use: "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments" },
    summary: "Returns the members within a radius of a member.",
    syntax: `key member radius M | KM | FT | MI ${RADIUS_OPTIONS}`,
    reply: "Reply[]",
    complexity: SEARCH_COST,
    run: (client, args) => geoSearch(client, args, { center: "member", stores: "never" }),
  },
]);
