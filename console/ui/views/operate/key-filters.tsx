/** Which keys the page shows: by name, type, time to live and size, all of it in the address. */
import { IconAdjustmentsHorizontal } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import type { Address } from "../../address.ts";
import { sizeIn, timeIn } from "./amounts.ts";
import type { FilterBody } from "./survey.tsx";

const TYPES = ["string", "hash", "list", "set", "zset", "stream"];
/** What only a scan can find. */
const RANGES = ["ttl", "ttlFrom", "ttlTo", "sizeFrom", "sizeTo"] as const;

export interface KeyFilter {
  readonly body: FilterBody;
  /** Whether it asks for what only a scan can find. */
  readonly needsScan: boolean;
  readonly isEmpty: boolean;
  /** What is wrong with what was typed; empty: nothing. */
  readonly problem: string;
  /** In words. */
  readonly text: string;
}

const patternOf = (typed: string) => (typed === "" || /[*?[]/.test(typed) ? typed : `*${typed}*`);

export function filterIn(address: Address): KeyFilter {
  const [match, type] = [patternOf(address.get("match")), address.get("type")];
  const ttl = address.get("ttl") as FilterBody["ttl"] | "";
  const typed = RANGES.slice(1).map((name) => address.get(name));
  const read = [timeIn, timeIn, sizeIn, sizeIn].map((of, nth) => (typed[nth] === "" ? undefined : of(typed[nth]!)));
  const wrong = read.indexOf(null);
  const [minTtlMs, maxTtlMs, minBytes, maxBytes] = read.map((value) => value ?? undefined);
  const body: FilterBody = {
    ...(match !== "" && { match }),
    ...(type !== "" && { type }),
    ...((ttl === "none" || ttl === "some") && { ttl }),
    ...(minTtlMs !== undefined && { minTtlMs }),
    ...(maxTtlMs !== undefined && { maxTtlMs }),
    ...(minBytes !== undefined && { minBytes }),
    ...(maxBytes !== undefined && { maxBytes }),
  };
  const needsScan = Object.keys(body).some((name) => name !== "match" && name !== "type");
  const words = [
    match === "" ? "" : `named ${match}`,
    type === "" ? "" : `of type ${type}`,
    ttl === "none" ? "that do not expire" : ttl === "some" ? "that expire" : "",
    typed[0] || typed[1] ? `with a time to live ${between(typed[0]!, typed[1]!)}` : "",
    typed[2] || typed[3] ? `of ${between(typed[2]!, typed[3]!)}` : "",
  ].filter((word) => word !== "");
  return {
    body,
    needsScan,
    isEmpty: words.length === 0,
    problem:
      wrong === -1 ? "" : `“${typed[wrong]}” is no ${wrong < 2 ? "time: 90, 5m, 2h, 1d" : "size: 500, 10KB, 1MB"}`,
    text: words.length === 0 ? "all keys" : `all keys ${words.join(", ")}`,
  };
}

const between = (from: string, to: string): string =>
  from !== "" && to !== "" ? `from ${from} to ${to}` : from === "" ? `at most ${to}` : `at least ${from}`;

const WAIT_MS = 200;

/** A field whose text goes into the address when nobody types any more. */
function Typed({
  address,
  name,
  label,
  placeholder,
  isSearch,
}: {
  address: Address;
  name: string;
  label: string;
  placeholder: string;
  isSearch?: boolean;
}) {
  const there = address.get(name);
  const [typed, setTyped] = useState(there);
  useEffect(() => setTyped(there), [there]);
  useEffect(() => {
    if (typed === there) return;
    const timer = setTimeout(() => address.replace({ [name]: typed }), WAIT_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      type={isSearch ? "search" : "text"}
      {...(isSearch && { "data-search": true })}
      placeholder={placeholder}
      aria-label={label}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

export function KeyFilters({ address, problem }: { address: Address; problem: string }) {
  const isUsed = RANGES.some((name) => address.get(name) !== "") || address.get("sep") !== "";
  const isOpen = address.get("filters") === "open" || isUsed;
  const isTree = address.get("view") !== "list";
  return (
    <>
      <div className="row filters">
        <Typed address={address} name="match" label="Name or pattern" placeholder="Name or pattern  /" isSearch />
        <select
          aria-label="Type"
          value={address.get("type")}
          onChange={(event) => address.replace({ type: event.currentTarget.value })}
        >
          <option value="">all types</option>
          {TYPES.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="with-icon"
          aria-expanded={isOpen}
          aria-label="More filters"
          title="More filters: time to live, size, separator"
          onClick={() =>
            address.replace(
              isOpen
                ? { filters: null, sep: null, ...Object.fromEntries(RANGES.map((name) => [name, null])) }
                : { filters: "open" },
            )
          }
        >
          <IconAdjustmentsHorizontal size={16} stroke={1.6} />
        </button>
        <button type="button" aria-pressed={isTree} onClick={() => address.replace({ view: isTree ? "list" : null })}>
          Tree
        </button>
      </div>
      {isOpen && (
        <div className="more-filters">
          <select
            aria-label="Expiry"
            value={address.get("ttl")}
            onChange={(event) => address.replace({ ttl: event.currentTarget.value })}
          >
            <option value="">any expiry</option>
            <option value="none">does not expire</option>
            <option value="some">expires</option>
          </select>
          <fieldset aria-label="Time to live">
            <Typed address={address} name="ttlFrom" label="Time to live from" placeholder="TTL from, 5m" />
            <Typed address={address} name="ttlTo" label="Time to live to" placeholder="to, 1d" />
          </fieldset>
          <fieldset aria-label="Size">
            <Typed address={address} name="sizeFrom" label="Size from" placeholder="Size from, 10KB" />
            <Typed address={address} name="sizeTo" label="Size to" placeholder="to, 1MB" />
          </fieldset>
          <span className="check">
            <span className="dim">Separator</span>
            <Typed address={address} name="sep" label="Separator" placeholder=":" />
          </span>
          {problem !== "" && (
            <p className="bad" role="alert">
              {problem}
            </p>
          )}
        </div>
      )}
    </>
  );
}
