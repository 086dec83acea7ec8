/**
 * GEOSEARCH, GEOSEARCHSTORE and the GEORADIUS family: one search with options that differ. Options are read in Redis's
 * order, which looks the key up first and lets an unknown member speak before a bad option behind it.
 */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import {
  BOX_NEGATIVE,
  GEO_ANY_WITHOUT_COUNT,
  GEO_COUNT_NOT_POSITIVE,
  GEO_NO_MEMBER,
  geoOriginMissing,
  geoShapeMissing,
  geoStoreConflict,
  HEIGHT_NOT_NUMERIC,
  invalidPosition,
  RADIUS_NEGATIVE,
  RADIUS_NOT_NUMERIC,
  UNKNOWN_UNIT,
  WIDTH_NOT_NUMERIC,
} from "../../core/rare-errors.ts";
import { Coordinate, EMPTY, type Reply } from "../../core/reply.ts";
import { exactMath } from "../../lib/exact-math.ts";
import {
  cellsCovering,
  decodePosition,
  distance,
  distanceWithin,
  type Extent,
  isValidPosition,
  type Position,
  type Shape,
} from "../../lib/geohash.ts";
import { formatFixed } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { ZsetValue } from "../../types/zset/index.ts";
import { partialSort } from "../keys/partial-sort.ts";

const METERS: ReadonlyMap<string, number> = new Map(Object.entries({ m: 1, km: 1000, ft: 0.3048, mi: 1609.34 }));

export function readUnit(args: Args): number {
  const meters = METERS.get(args.option());
  if (meters === undefined) throw UNKNOWN_UNIT;
  return meters;
}

export function readPosition(args: Args): Position {
  const position = { longitude: args.float(), latitude: args.float() };
  if (isValidPosition(position)) return position;
  throw invalidPosition(formatFixed(position.longitude, 6), formatFixed(position.latitude, 6));
}

export const positionReply = ({ longitude, latitude }: Position): Reply => [
  new Coordinate(longitude),
  new Coordinate(latitude),
];

export const distanceReply = (meters: number, unit: number): string => formatFixed(meters / unit, 4);

/** What a command of the family is called with. */
export interface SearchForm {
  readonly center: "position" | "member" | "options";
  /** STORE and STOREDIST are options (GEORADIUS), the first word is the target (GEOSEARCHSTORE), or there is none. */
  readonly stores: "options" | "first" | "never";
}

interface Query {
  center: Position | undefined;
  extent: Extent | undefined;
  withDistance: boolean;
  withHash: boolean;
  withPosition: boolean;
  any: boolean;
  order: "none" | "asc" | "desc";
  count: number;
  target: string | undefined;
  storesDistance: boolean;
}

interface Found {
  readonly member: string;
  readonly score: number;
  readonly position: Position;
  readonly meters: number;
}

// ------------------------------------------------------------------------------------------------ options

function readRadius(args: Args): Extent {
  const radius = args.float(RADIUS_NOT_NUMERIC);
  if (radius < 0) throw RADIUS_NEGATIVE;
  return { kind: "circle", radius, unit: readUnit(args) };
}

function readBox(args: Args): Extent {
  const width = args.float(WIDTH_NOT_NUMERIC);
  const height = args.float(HEIGHT_NOT_NUMERIC);
  if (width < 0 || height < 0) throw BOX_NEGATIVE;
  return { kind: "box", width, height, unit: readUnit(args) };
}

function positionOf(zset: ZsetValue, member: string): Position {
  const score = zset.score(member);
  if (score === undefined) throw GEO_NO_MEMBER;
  return decodePosition(score);
}

/** Centre and extent when there is no key to find a member in; nothing is searched then. */
const NOWHERE: Position = { longitude: 0, latitude: 0 };
const NOTHING: Extent = { kind: "circle", radius: 0, unit: 1 };

const newQuery = (target: string | undefined): Query => ({
  center: undefined,
  extent: undefined,
  withDistance: false,
  withHash: false,
  withPosition: false,
  any: false,
  order: "none",
  count: 0,
  target,
  storesDistance: false,
});

/** Centre and radius of the GEORADIUS family, which stand before the options. */
function readFixedPart(query: Query, args: Args, form: SearchForm, zset: ZsetValue | undefined): void {
  if (form.center === "position") {
    query.center = readPosition(args);
    query.extent = readRadius(args);
  } else if (zset === undefined) {
    args.take(3);
    query.center = NOWHERE;
    query.extent = NOTHING;
  } else {
    query.center = positionOf(zset, args.next());
    query.extent = readRadius(args);
  }
}

/** Options that every form has; false if the next word is none of them. */
function readCommonOption(query: Query, args: Args): boolean {
  if (args.accept("withdist")) query.withDistance = true;
  else if (args.accept("withhash")) query.withHash = true;
  else if (args.accept("withcoord")) query.withPosition = true;
  else if (args.accept("any")) query.any = true;
  else if (args.accept("asc")) query.order = "asc";
  else if (args.accept("desc")) query.order = "desc";
  else if (args.left >= 2 && args.accept("count")) {
    query.count = args.int();
    if (query.count <= 0) throw GEO_COUNT_NOT_POSITIVE;
  } else return false;
  return true;
}

function readStoreOption(query: Query, args: Args): void {
  const storesDistance = args.accept("storedist");
  if (args.left < (storesDistance ? 1 : 2) || (!storesDistance && !args.accept("store"))) throw SYNTAX;
  query.target = args.next();
  query.storesDistance = storesDistance;
}

function readOptions(query: Query, args: Args, form: SearchForm, zset: ZsetValue | undefined): void {
  let shape = "";
  let origin = "";
  while (args.more) {
    if (readCommonOption(query, args)) continue;
    if (form.center !== "options") {
      if (form.stores === "never") throw SYNTAX;
      readStoreOption(query, args);
    } else if (args.left >= 2 && origin !== "fromlonlat" && args.accept("frommember")) {
      origin = "frommember";
      const member = args.next();
      query.center = zset === undefined ? NOWHERE : positionOf(zset, member);
    } else if (args.left >= 3 && origin !== "frommember" && args.accept("fromlonlat")) {
      origin = "fromlonlat";
      query.center = readPosition(args);
    } else if (args.left >= 3 && shape !== "bybox" && args.accept("byradius")) {
      shape = "byradius";
      query.extent = readRadius(args);
    } else if (args.left >= 4 && shape !== "byradius" && args.accept("bybox")) {
      shape = "bybox";
      query.extent = readBox(args);
    } else if (form.stores === "first" && args.accept("storedist")) query.storesDistance = true;
    else throw SYNTAX;
  }
}

/** Checks options against each other; returns what they mean to search. */
function shapeOf(query: Query, form: SearchForm, command: string): Shape {
  if (query.target !== undefined && (query.withDistance || query.withHash || query.withPosition)) {
    throw geoStoreConflict(form.stores === "first" ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS");
  }
  const { center, extent } = query;
  if (center === undefined) throw geoOriginMissing(command);
  if (extent === undefined) throw geoShapeMissing(command);
  if (query.any && query.count === 0) throw GEO_ANY_WITHOUT_COUNT;
  return { ...extent, center };
}

// ------------------------------------------------------------------------------------------------ searching

function search(zset: ZsetValue, shape: Shape, most: number): Found[] {
  const found: Found[] = [];
  for (const cell of cellsCovering(shape)) {
    if (found.length >= most) break;
    const { from, to } = zset.scoreInterval({ ...cell, minOpen: false, maxOpen: true });
    zset.visit(from, to, false, (member, score) => {
      const position = decodePosition(score);
      const meters = distanceWithin(shape, position);
      if (meters === undefined) return true;
      return found.push({ member, score, position, meters }) < most;
    });
  }
  return found;
}

/** Nearest or farthest first; all of them, or only as many as are wanted, in the way that Redis leaves equal ones. */
function sort(found: Found[], order: Query["order"], wanted: number): void {
  if (order === "none") return;
  const sign = order === "asc" ? 1 : -1;
  const compare = (a: Found, b: Found) => sign * (a.meters - b.meters);
  if (wanted === 0 || wanted >= found.length) found.sort(compare);
  else partialSort(found, compare, 0, wanted);
}

function answer(query: Query, found: readonly Found[], unit: number): Reply {
  const plain = !query.withDistance && !query.withHash && !query.withPosition;
  return found.map(({ member, score, position, meters }) => {
    if (plain) return member;
    const item: Reply[] = [member];
    if (query.withDistance) item.push(distanceReply(meters, unit));
    if (query.withHash) item.push(Math.trunc(score));
    if (query.withPosition) item.push(positionReply(position));
    return item;
  });
}

function store({ db }: Client, target: string, members: string[], scores: number[], event: string): Reply {
  if (members.length === 0) db.delete(target);
  else db.put(target, ZsetValue.from(members, scores, db.limits), { event, changes: members.length });
  return members.length;
}

/** Runs a command of the family. */
export function geoSearch(client: Client, args: Args, form: SearchForm): Reply {
  const query = newQuery(form.stores === "first" ? args.next() : undefined);
  const zset = client.db.get(args.next(), ZsetValue);
  if (form.center !== "options") readFixedPart(query, args, form, zset);
  readOptions(query, args, form, zset);
  const shape = shapeOf(query, form, args.at(0));
  const event = form.center === "options" ? "geosearchstore" : "georadiusstore";
  if (zset === undefined) return query.target === undefined ? EMPTY : store(client, query.target, [], [], event);

  // The nearest so many cannot be told without sorting; any so many can.
  if (query.count > 0 && query.order === "none" && !query.any) query.order = "asc";
  let found = search(zset, shape, query.any ? query.count : Number.POSITIVE_INFINITY);
  sort(found, query.order, query.count);
  if (query.count > 0) found = found.slice(0, query.count);
  if (query.target === undefined) return answer(query, found, shape.unit);
  const scores = found.map(({ score, position }) =>
    query.storesDistance ? distance(shape.center, position, exactMath) / shape.unit : score,
  );
  return store(
    client,
    query.target,
    found.map(({ member }) => member),
    scores,
    event,
  );
}
