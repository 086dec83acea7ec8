/**
 * Runs the suite, or the files that are named, at four fixed times, to find tests that depend on the hour, the day, the month or
 * the zone: `npm run test:times`, `npm run test:times -- toolkit/src/components/ads`. It takes four times as long as the suite;
 * `--at 2027-10` runs it at those times alone that begin like this.
 *
 * All processes of a run (Node, redis-server) read the same clock, which goes on from the given time: the system's, moved by
 * Debian's libfaketime. It is moved by an offset, not set: each process would begin anew at a fixed time. Monotonic clocks are
 * untouched. Pages in Chromium have dates that are moved likewise (console/tests/browser.ts).
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const TIMES = [
  { at: "2027-12-31T23:59:30Z", zone: "UTC", why: "the year ends" },
  { at: "2028-02-29T00:00:05Z", zone: "America/New_York", why: "a leap day begins, in UTC only" },
  {
    at: "2027-03-27T11:30:00Z",
    zone: "Asia/Kolkata",
    why: "before noon, on the eve of a night that has no 02:30 in Europe",
  },
  { at: "2027-10-31T00:30:00Z", zone: "Europe/Berlin", why: "02:30 in a night that has it twice" },
];

/**
 * Redis's allocator (jemalloc) asks for the time while libfaketime looks for the functions that it replaces, which needs memory:
 * neither gets on. With libc in front, its allocator serves both.
 */
function preload() {
  const asked = spawnSync("faketime", ["2020-01-01", "/bin/sh", "-c", "echo $LD_PRELOAD"], { encoding: "utf8" });
  const library = asked.stdout?.trim();
  if (asked.status !== 0 || !library) throw new Error("faketime is not installed (Debian: faketime)");
  return `${library} libc.so.6`;
}

const LD_PRELOAD = preload();
const { values, positionals } = parseArgs({ options: { at: { type: "string" } }, allowPositionals: true });
const wanted = TIMES.filter(({ at }) => at.startsWith(values.at ?? ""));
if (wanted.length === 0) throw new Error(`no time begins with ${values.at}: ${TIMES.map(({ at }) => at).join(", ")}`);
const results = wanted.map(({ at, zone, why }) => {
  console.log(`\n${at} in ${zone}: ${why}`);
  const offset = Math.round((Date.parse(at) - Date.now()) / 1_000);
  const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...positionals], {
    stdio: "inherit",
    env: {
      ...process.env,
      LD_PRELOAD,
      FAKETIME: `${offset < 0 ? "" : "+"}${offset}s`,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      TZ: zone,
    },
  });
  return { at, zone, passed: status === 0 };
});

console.log("");
for (const { at, zone, passed } of results) console.log(`${passed ? "passed" : "FAILED"}  ${at}  ${zone}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
