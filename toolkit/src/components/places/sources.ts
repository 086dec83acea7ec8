/**
 * Rows out of the files that people have: CSV with two addresses or a network to a line, and GeoLite City's two files. A line that
 * makes no sense is a bad row, never the end of the load.
 */
import { callback, choice, defineOptions, listOf, text } from "../../base/options.ts";
import { type Address, type Family, fromNumber, parseAddress, parseNetwork } from "./address.ts";
import { type Line, lines, type Source } from "./lines.ts";
import type { Row } from "./loader.ts";

export type { Source };

const bad = (reason: string, line: Line): Row<never> => ({ bad: reason, line: line.join(",") });

/** How `ranges` reads its file. */
export interface RangesOptions<P> {
  /** Names of the columns behind the addresses (default `["country"]`). */
  readonly columns?: readonly string[];
  /** The family of addresses that are written as decimal numbers: 4 or 6. By default addresses are text. */
  readonly numbers?: Family;
  /**
   * Makes the place out of the columns behind the addresses; null for none, which makes a bad row. By default an object with `columns` as
   * names.
   */
  readonly place?: (columns: readonly string[]) => P | null;
}

const RANGES_OPTIONS = defineOptions<RangesOptions<unknown>>("ranges", {
  columns: listOf(text),
  numbers: choice(4, 6),
  place: callback,
});

/**
 * CSV whose lines begin with the first and the last address, as text or as decimal numbers (`numbers` says of which family), or with a
 * network like 10.0.0.0/8. What follows is the place: `place` makes it out of the other columns; by default an object with `columns` as
 * names.
 *
 * @example
 * import { Readable } from "node:stream";
 * const csv = Readable.from(["16777216,16777471,AU,Queensland\n"]);
 * const report = await new Places(db).load(ranges(csv, { columns: ["country", "region"], numbers: 4 }));
 * report.ranges; // → 1
 */
export async function* ranges<P = Readonly<Record<string, string>>>(
  source: Source,
  options: RangesOptions<P> = {},
): AsyncGenerator<Row<P>> {
  RANGES_OPTIONS.check(options);
  const { columns = ["country"], numbers } = options;
  const make = options.place ?? ((values) => named(columns, values) as P);
  const read = (text: string): Address | null =>
    numbers === undefined ? parseAddress(text) : fromNumber(text, numbers);
  let isFirst = true;
  for await (const line of lines(source)) {
    const head = line[0]?.trim() ?? "";
    const network = head.includes("/") ? parseNetwork(head) : null;
    const from = network?.from ?? read(head);
    const to = network?.to ?? read(line[1]?.trim() ?? "");
    const wasFirst = isFirst;
    isFirst = false;
    // A first line without addresses is the names of the columns.
    if (wasFirst && from === null && to === null && !/\d{2}/.test(head)) continue;
    if (from === null || to === null) {
      yield bad("there is no range of addresses in it", line);
      continue;
    }
    const place = make(line.slice(network === null ? 2 : 1));
    if (place === null) yield bad("there is no place in it", line);
    else yield { from, to, place };
  }
}

function named(columns: readonly string[], values: readonly string[]): Readonly<Record<string, string>> | null {
  const entries = columns
    .map((name, at) => [name, values[at]?.trim() ?? ""] as const)
    .filter(([, value]) => value !== "");
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** A place as GeoLite City has it. */
export interface City {
  /** Code of the country, such as "IT"; empty where it is not known. */
  readonly country: string;
  /** Code or name of the region. */
  readonly region?: string;
  /** Name of the city. */
  readonly city?: string;
  /** Postal code, as text. */
  readonly postalCode?: string;
  /** In degrees, north is positive. */
  readonly latitude?: number;
  /** In degrees, east is positive. */
  readonly longitude?: number;
}

/**
 * GeoLite City: a file of blocks and a file of locations, in the layout with numbers (startIpNum, endIpNum, locId) or the newer one
 * (network, geoname_id …). The columns are found by their names.
 *
 * @example
 * import { Readable } from "node:stream";
 * const blocks = Readable.from(["network,geoname_id\n", "2.16.0.0/16,3169070\n"]);
 * const locations = Readable.from(["geoname_id,country_iso_code,city_name\n", "3169070,IT,Rome\n"]);
 * const places = new Places<City>(db);
 * await places.load(geoLite({ blocks, locations }));
 * (await places.get("2.16.4.4"))?.place; // → { country: "IT", city: "Rome" }
 */
export async function* geoLite(files: {
  readonly blocks: Source;
  readonly locations: Source;
}): AsyncGenerator<Row<City>> {
  const cities = await readLocations(files.locations);
  let names: ReadonlyMap<string, number> | null = null;
  for await (const line of lines(files.blocks)) {
    if (names === null) {
      if (line.includes("network") || line.includes("startIpNum")) names = places(line);
      continue;
    }
    const columns = names;
    const get = (name: string): string => line[columns.get(name) ?? -1] ?? "";
    const network = get("network") === "" ? null : parseNetwork(get("network"));
    const from = network?.from ?? fromNumber(get("startIpNum"), 4);
    const to = network?.to ?? fromNumber(get("endIpNum"), 4);
    const city = cities.get(get("geoname_id") || get("registered_country_geoname_id") || get("locId"));
    if (from === null || to === null) yield bad("there is no range of addresses in it", line);
    else if (city === undefined) yield bad("its place is not among the locations", line);
    else yield { from, to, place: { ...city, ...details(get) } };
  }
}

function details(get: (name: string) => string): Partial<City> {
  const [postalCode, latitude, longitude] = [get("postal_code"), get("latitude"), get("longitude")];
  return {
    ...(postalCode === "" ? {} : { postalCode }),
    ...(latitude === "" ? {} : { latitude: Number(latitude) }),
    ...(longitude === "" ? {} : { longitude: Number(longitude) }),
  };
}

async function readLocations(source: Source): Promise<Map<string, City>> {
  const cities = new Map<string, City>();
  let names: ReadonlyMap<string, number> | null = null;
  for await (const line of lines(source)) {
    if (names === null) {
      if (line.includes("geoname_id") || line.includes("locId")) names = places(line);
      continue;
    }
    const columns = names;
    const get = (...from: string[]): string =>
      from.map((name) => line[columns.get(name) ?? -1] ?? "").find((text) => text !== "") ?? "";
    const [region, city, postalCode] = [
      get("subdivision_1_name", "region"),
      get("city_name", "city"),
      get("postalCode"),
    ];
    cities.set(get("geoname_id", "locId"), {
      country: get("country_iso_code", "country"),
      ...(region === "" ? {} : { region }),
      ...(city === "" ? {} : { city }),
      ...(postalCode === "" ? {} : { postalCode }),
      ...(get("latitude") === "" ? {} : { latitude: Number(get("latitude")), longitude: Number(get("longitude")) }),
    });
  }
  return cities;
}

function places(line: Line): ReadonlyMap<string, number> {
  return new Map(line.map((name, at) => [name.trim(), at]));
}
