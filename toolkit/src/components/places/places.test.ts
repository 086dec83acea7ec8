import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { InputError } from "../../base/errors.ts";
import { formatAddress, fromNumber, parseAddress, parseNetwork } from "./address.ts";
import { geoLite, Places, type Row, ranges } from "./index.ts";

const data = dirname(createRequire(import.meta.url).resolve("@ip-location-db/geo-whois-asn-country/package.json"));
const real = (family: 4 | 6): string => join(data, `geo-whois-asn-country-ipv${family}.csv`);
const csv = (text: string): Readable => Readable.from([Buffer.from(text)]);

function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

describe("addresses", () => {
  test.each([
    "0.0.0.0",
    "255.255.255.255",
    "1.2.3.4",
    "::",
    "::1",
    "1::",
    "2001:db8::1",
    "fe80::1:0:0:2",
    "1:0:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8",
  ])("%s is written as it was read", (text) => {
    expect(formatAddress(parseAddress(text)!)).toBe(text);
  });

  test("of IPv6 at random are written as the URL standard has them", () => {
    const random = seeded(9);
    for (let nth = 0; nth < 500; nth++) {
      const words = Array.from({ length: 8 }, () => (random(2) ? 0 : random(65_536)).toString(16)).join(":");
      const address = parseAddress(words)!;
      if (address.family === 6) expect(`[${formatAddress(address)}]`).toBe(new URL(`http://[${words}]`).hostname);
    }
  });

  test("of IPv4 in the clothes of IPv6 are IPv4", () => {
    expect(parseAddress("::ffff:1.2.3.4")).toEqual(parseAddress("1.2.3.4"));
    expect(parseAddress("::ffff:102:304")).toEqual(parseAddress("1.2.3.4"));
    expect(parseAddress("64:ff9b::1.2.3.4")!.family).toBe(6);
    expect(parseAddress("fe80::1%eth0")).toEqual(parseAddress("fe80::1"));
  });

  test.each(["", "1.2.3", "1.2.3.256", "x", "1:2", "::g", "1.2.3.4.5", "12345::"])("%j is none", (text) => {
    expect(parseAddress(text)).toBeNull();
  });

  test("networks and numbers", () => {
    const shown = (text: string) => {
      const { from, to } = parseNetwork(text)!;
      return [formatAddress(from), formatAddress(to)];
    };
    expect(shown("10.1.2.3/8")).toEqual(["10.0.0.0", "10.255.255.255"]);
    expect(shown("1.2.3.4/32")).toEqual(["1.2.3.4", "1.2.3.4"]);
    expect(shown("0.0.0.0/0")).toEqual(["0.0.0.0", "255.255.255.255"]);
    expect(shown("2001:db8::/33")).toEqual(["2001:db8::", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"]);
    for (const text of ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/8/8", "x/8", "::/129"])
      expect(parseNetwork(text)).toBeNull();
    expect(formatAddress(fromNumber("16777216", 4)!)).toBe("1.0.0.0");
    expect(fromNumber("4294967296", 4)).toBeNull();
    expect(fromNumber("-1", 4)).toBeNull();
  });
});

describeBackends("places", { audit: "tags" }, (backend) => {
  test("addresses of both families are found in one call, and what is in no range is not", async () => {
    const places = new Places(backend.store);
    expect(await places.get("1.0.0.1")).toBeNull();
    const text = "1.0.0.0,1.0.0.255,AU\n1.0.1.0,1.0.3.255,CN\n2001:db8::,2001:db8::ffff,JP\n";
    expect(await places.load(ranges(csv(text)))).toMatchObject({ ranges: 3, places: 3, bad: { count: 0 } });
    const asked = [
      "1.0.0.0",
      "1.0.3.255",
      "1.0.4.0",
      "0.255.255.255",
      "2001:db8::5",
      "2001:db8::1:0",
      "::ffff:1.0.1.7",
    ];
    expect(
      (await places.getMany(asked)).map((found) => (found?.place as { country: string } | undefined)?.country),
    ).toEqual(["AU", "CN", undefined, undefined, "JP", undefined, "CN"]);
    expect(await places.get("1.0.2.2")).toEqual({ place: { country: "CN" }, from: "1.0.1.0", to: "1.0.3.255" });
    expect(await places.inspect()).toMatchObject({ ranges: 3, places: 3 });
  });

  test("equal a naive search over many random ranges", async () => {
    const random = seeded(4);
    const naive: { from: number; to: number; name: string }[] = [];
    let at = 1_000;
    let text = "";
    for (let nth = 0; nth < 3_000; nth++) {
      const from = at + random(1_000);
      const to = from + random(5_000);
      at = to + 1;
      naive.push({ from, to, name: `place ${random(700)}` });
      text += `${from},${to},"${naive.at(-1)!.name}"\n`;
    }
    const places = new Places<{ name: string }>(backend.store);
    await places.load(ranges(csv(text), { columns: ["name"], numbers: 4 }));
    const asked = Array.from({ length: 1_200 }, (_, nth) => {
      const { from, to } = naive[random(3_000)]!;
      return [from, to, from - 1, to + 1, random(at)][nth % 5]!;
    });
    const found = await places.getMany(asked.map((number) => formatAddress(fromNumber(String(number), 4)!)));
    expect(found.map((each) => each?.place.name)).toEqual(
      asked.map((number) => naive.find(({ from, to }) => from <= number && number <= to)?.name),
    );
  });

  test("of ranges that lie in one another the one that begins last has the address", async () => {
    const random = seeded(8);
    const naive = Array.from({ length: 400 }, (_, nth) => {
      const from = random(3_000);
      return { from, to: Math.min(4_000, from + random(nth % 3 ? 20 : 900)), name: `n${nth}` };
    }).sort((a, b) => a.from - b.from);
    const text = naive.map(({ from, to, name }) => `${from},${to},${name}`).join("\n");
    const places = new Places<{ name: string }>(backend.store);
    expect((await places.load(ranges(csv(text), { columns: ["name"], numbers: 4 }))).bad.count).toBe(0);
    const all = Array.from({ length: 4_100 }, (_, number) => number);
    const found = await places.getMany(all.map((number) => formatAddress(fromNumber(String(number), 4)!)));
    expect(found.map((each) => each?.place.name)).toEqual(
      all.map((number) => naive.findLast(({ from, to }) => from <= number && number <= to)?.name),
    );
  });

  test("ranges reach to the ends of what can be addressed", async () => {
    const places = new Places(backend.store);
    await places.load(
      ranges(csv("0.0.0.0,255.255.255.255,all\n255.255.255.255,255.255.255.255,last\n::,ffff::,six\n")),
    );
    const found = await places.getMany(["0.0.0.0", "255.255.255.254", "255.255.255.255", "::", "ffff::", "ffff::1"]);
    expect(found.map((each) => (each?.place as { country: string } | undefined)?.country)).toEqual([
      "all",
      "all",
      "last",
      "six",
      "six",
      undefined,
    ]);
  });

  test("bad rows are counted with examples, and are no reason to stop", async () => {
    const text =
      "start,end,country\n1.0.0.0,1.0.0.255,AU\nnonsense\n1.0.2.0,1.0.1.0,CN\n0.9.0.5,0.9.0.9,XX\n1.0.3.0,::1,YY\n1.0.4.0,1.0.4.9,\n1.0.5.0,1.0.5.9,DE\n";
    const places = new Places(backend.store);
    const report = await places.load(ranges(csv(text)), { minGood: 0 });
    expect(report).toMatchObject({ ranges: 2, bad: { count: 5 } });
    expect(report.bad.examples.map(({ reason }) => reason)).toEqual([
      "there is no range of addresses in it",
      "the range ends before it begins",
      "the range is out of order",
      "the two addresses are of different families",
      "there is no place in it",
    ]);
  });

  test("a load that is mostly bad, broken off or empty changes nothing and leaves nothing", async () => {
    const places = new Places(backend.store);
    await places.load(ranges(csv("1.0.0.0,1.0.0.255,AU\n")));
    const size = async () => (await keysIn(backend.store)).length;
    const before = await size();
    await expect(places.load(ranges(csv("x,y,z\nq\nr\n")))).rejects.toThrow(InputError);
    await expect(places.load([])).rejects.toThrow(InputError);
    async function* breaking() {
      yield* ranges(csv("2.0.0.0,2.0.0.255,BE\n"));
      throw new Error("cut");
    }
    await expect(places.load(breaking())).rejects.toThrow("cut");
    await expect(places.load(ranges("/nowhere/at/all.csv"))).rejects.toThrow("ENOENT");
    expect(await places.get("1.0.0.1")).not.toBeNull();
    expect(await places.get("2.0.0.1")).toBeNull();
    expect(await size()).toBe(before);
  });

  test("a new table takes the place of the old in one step, under look-ups, and the old one is gone", async () => {
    const places = new Places<{ country: string }>(backend.store);
    const table = (name: string): Readable =>
      csv(Array.from({ length: 1_200 }, (_, n) => `${n * 10},${n * 10 + 9},${name}`).join("\n"));
    await places.load(ranges(table("old"), { numbers: 4 }));
    const size = async () => (await keysIn(backend.store)).length;
    const before = await size();
    let isOver = false;
    const seen: string[] = [];
    const reader = (async () => {
      const other = new Places<{ country: string }>(await backend.open());
      while (!isOver) {
        const found = await other.getMany(["0.0.0.1", "0.0.20.0", "0.0.46.200"]);
        const names = new Set(found.map((each) => each?.place.country));
        expect(names.size).toBe(1);
        seen.push([...names][0]!);
        // The embedded store answers at once: without a pause nothing else would run.
        await new Promise(setImmediate);
      }
    })();
    await places.load(ranges(table("new"), { numbers: 4 }));
    isOver = true;
    await reader;
    expect(seen.indexOf("new")).toBeGreaterThanOrEqual(-1);
    expect(seen.slice(Math.max(0, seen.indexOf("new"))).includes("old") && seen.includes("new")).toBe(false);
    expect((await places.get("0.0.0.1"))!.place.country).toBe("new");
    expect(await size()).toBe(before);
    await places.clear();
    expect(await size()).toBe(0);
  });

  test("progress is told, and a load can be broken off", async () => {
    const places = new Places(backend.store);
    const text = Array.from({ length: 25_000 }, (_, n) => `${n * 2},${n * 2},x`).join("\n");
    const progress: number[] = [];
    await places.load(ranges(csv(text), { numbers: 4 }), { onProgress: ({ rows }) => progress.push(rows) });
    expect(progress).toEqual([10_000, 20_000, 25_000]);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(places.load(ranges(csv(text), { numbers: 4 }), { signal })).rejects.toThrow("enough");
    expect(await places.inspect()).toMatchObject({ ranges: 25_000, places: 1 });
  });

  test("text that is not an address is refused", async () => {
    const places = new Places(backend.store);
    await expect(places.get("1.2.3")).rejects.toThrow(InputError);
    await expect(places.getMany(["1.2.3.4", null as never])).rejects.toThrow(InputError);
  });

  test("GeoLite City, in its old and its new layout", async () => {
    const oldBlocks =
      'Copyright (c)\nstartIpNum,endIpNum,locId\n"16777216","16777471","17"\n"16777472","16778239","99"\n';
    const oldLocations =
      'Copyright\nlocId,country,region,city,postalCode,latitude,longitude,metroCode,areaCode\n17,"AU","07","Melbourne","3000",-37.8,144.9,,\n';
    const places = new Places(backend.store);
    const report = await places.load(geoLite({ blocks: csv(oldBlocks), locations: csv(oldLocations) }));
    expect(report).toMatchObject({ ranges: 1, bad: { count: 1 } });
    expect((await places.get("1.0.0.7"))!.place).toEqual({
      country: "AU",
      region: "07",
      city: "Melbourne",
      postalCode: "3000",
      latitude: -37.8,
      longitude: 144.9,
    });
    const blocks =
      "network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,is_anonymous_proxy,is_satellite_provider,postal_code,latitude,longitude,accuracy_radius\n" +
      "1.0.0.0/24,2077456,2077456,,0,0,,-33.4940,143.2104,1000\n2001:200::/32,1861060,1861060,,0,0,100-0001,35.6,139.7,500\n";
    const locations =
      "geoname_id,locale_code,continent_code,continent_name,country_iso_code,country_name,subdivision_1_iso_code,subdivision_1_name,subdivision_2_iso_code,subdivision_2_name,city_name,metro_code,time_zone,is_in_european_union\n" +
      '2077456,en,OC,Oceania,AU,Australia,,,,,,,Australia/Sydney,0\n1861060,en,AS,Asia,JP,Japan,13,"Tokyo",,,"Chiyoda",,Asia/Tokyo,0\n';
    await places.load(geoLite({ blocks: csv(blocks), locations: csv(locations) }));
    expect((await places.get("2001:200::1"))!.place).toMatchObject({
      country: "JP",
      city: "Chiyoda",
      postalCode: "100-0001",
    });
    expect((await places.get("1.0.0.1"))!.place).toMatchObject({ country: "AU", latitude: -33.494 });
  });
});

/** The whole files are long: half a million ranges. PLACES_WHOLE=1 takes all of them and tells the figures. */
const isWhole = process.env.PLACES_WHOLE === "1";
const LINES = isWhole ? Number.POSITIVE_INFINITY : 40_000;

/** The first lines of a real file, each as its columns. */
async function linesOf(family: 4 | 6): Promise<string[][]> {
  const found: string[][] = [];
  for await (const line of createInterface(createReadStream(real(family)))) {
    if (found.push(line.split(",")) >= LINES) break;
  }
  return found;
}

describeBackends(
  "places out of a real file",
  { backends: ["embedded", "redis"], flush: "suite", audit: false },
  (backend) => {
    /** Bytes that the server says these keys take. */
    async function usedBytes(pattern: string): Promise<number> {
      const keys = (await backend.store.call("KEYS", pattern)) as string[];
      const sizes = await backend.store.pipeline(
        keys.map((key) => ["MEMORY", "USAGE", key, "SAMPLES", "0"] as [string, string, string, string, string]),
      );
      return sizes.reduce((sum: number, size) => sum + Number(size), 0);
    }

    /** What the same ranges take in a sorted set by the first address and a hash of places. */
    async function usedByNotes(lines: readonly string[][]): Promise<number> {
      for (let at = 0; at < lines.length; at += 1_000) {
        const words = lines.slice(at, at + 1_000).flatMap(([from, , country], nth) => {
          const number = parseAddress(from!)!.bytes.readUInt32BE(0);
          return [String(number), `${country}_${at + nth}`];
        });
        await backend.store.call("ZADD", "notes:ip2place", ...words);
      }
      const countries = [...new Set(lines.map(([, , country]) => country!))];
      await backend.store.call("HSET", "notes:places", ...countries.flatMap((each) => [each, JSON.stringify([each])]));
      const used = await usedBytes("notes:*");
      await backend.store.call("UNLINK", "notes:ip2place", "notes:places");
      return used;
    }

    test("are loaded and found as the file has them, and take little memory", async () => {
      const places = new Places<{ country: string }>(backend.store, { remember: 100 });
      const lines = { 4: await linesOf(4), 6: await linesOf(6) };
      async function* both(): AsyncGenerator<Row<{ country: string }>> {
        for (const family of [4, 6] as const) {
          // The files themselves where they are wanted whole: that way the reading is measured too.
          if (isWhole) yield* ranges<{ country: string }>(real(family));
          else yield* ranges<{ country: string }>(csv(lines[family].map((words) => words.join(",")).join("\n")));
        }
      }
      const started = performance.now();
      const report = await places.load(both());
      const seconds = (performance.now() - started) / 1_000;
      expect(report.ranges).toBeGreaterThan(isWhole ? 500_000 : 70_000);
      // Two addresses as text and their country, in a sorted set, would be more than a hundred.
      expect(report.bytes / report.ranges).toBeLessThan(25);
      expect(report.bad.count).toBe(0);
      for (const family of [4, 6] as const) {
        const bytes = lines[family].map(
          ([from, to]) => [parseAddress(from!)!.bytes, parseAddress(to!)!.bytes] as const,
        );
        const random = seeded(family);
        const asked = Array.from({ length: 100 }, (_, nth) => lines[family][random(bytes.length)]![nth % 2]!);
        const naive = asked.map((text) => {
          const address = parseAddress(text)!.bytes;
          const at = bytes.findLastIndex(
            ([from, to]) => Buffer.compare(from, address) <= 0 && Buffer.compare(address, to) <= 0,
          );
          return lines[family][at]![2];
        });
        expect((await places.getMany(asked)).map((each) => each!.place.country)).toEqual(naive);
      }
      const first = lines[4][0]!;
      // Once asked for, it is answered out of memory, and is the same.
      expect(await places.get(first[0]!)).toEqual(await places.get(first[0]!));
      if (backend.name !== "redis") return;
      const used = await usedBytes("*");
      const four = lines[4].length;
      const byNotes = (await usedByNotes(lines[4])) / four;
      expect(used / report.ranges).toBeLessThan(byNotes / 2);
      console.log(
        `places: ${report.ranges} ranges in ${seconds.toFixed(1)} s, ${(report.bytes / report.ranges).toFixed(1)} bytes ` +
          `a range; MEMORY USAGE ${(used / report.ranges).toFixed(1)} a range, in a sorted set ${byNotes.toFixed(1)} (IPv4)`,
      );
    }, 240_000);
  },
);
