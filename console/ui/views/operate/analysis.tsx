/** What is in the store: memory by prefix and type, the largest and the most used keys, expiry, encodings; and what to do about it. */
import "../../keys.css";
import {
  IconAlertTriangle,
  IconBulb,
  IconChartTreemap,
  IconCopy,
  IconFileDownload,
  IconPlayerPlay,
} from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import { literally } from "../../../src/operate/prefixes.ts";
import type { Analysis } from "../../../src/operate/survey.ts";
import { useAddress } from "../../address.ts";
import { endpoint } from "../../base.ts";
import { bytes, counted, duration, number, sendable, shown } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, Loading, Scroll, States, Table, toast } from "../../parts.tsx";
import { ScanBar, useIsSmall, useSurvey } from "./survey.tsx";

const ICON = { size: 16, stroke: 1.6 } as const;
const percent = (part: number, whole: number): string => {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  return `${share >= 10 || share === 0 ? Math.round(share) : share.toFixed(1)} %`;
};

interface Bar {
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
  readonly href?: string;
}

/** Bars by memory, or by count where that is what matters. */
function Bars({
  label,
  rows,
  by,
  colour = "c1",
}: {
  label: string;
  rows: readonly Bar[];
  by: "bytes" | "count";
  colour?: string;
}) {
  const most = Math.max(1, ...rows.map((row) => row[by]));
  return (
    <Scroll label={label}>
      <table className="bars" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{label}</th>
            <th scope="col" className="num">
              Keys
            </th>
            <th scope="col" className="num">
              Memory
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td className="wide">
                {row.href ? (
                  <a href={row.href}>
                    <code>{row.name}</code>
                  </a>
                ) : (
                  <code>{row.name}</code>
                )}
                <svg className="bar" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 4">
                  <rect className={colour} width={(100 * row[by]) / most} height="4" rx="1" />
                </svg>
              </td>
              <td className="num">{number(row.count)}</td>
              <td className="num">{bytes(row.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Figure({ title, value, children }: { title: string; value: string; children?: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span className="figure">{value}</span>
        <small>{children}</small>
      </dd>
    </div>
  );
}

function AdviceList({ advice }: { advice: Analysis["advice"] }) {
  if (advice.length === 0) {
    return (
      <Empty title="Nothing stands out." icon={IconBulb}>
        No key is very large, and no prefix mixes keys that expire with keys that do not.
      </Empty>
    );
  }
  const copy = (command: string) => void navigator.clipboard?.writeText(command).then(() => toast("Copied command."));
  return (
    <ul className="advice">
      {advice.map(({ level, title, text, command }) => (
        <li key={title} className={level}>
          {level === "warning" ? (
            <IconAlertTriangle {...ICON} aria-label="Warning" />
          ) : (
            <IconBulb {...ICON} aria-label="Hint" />
          )}
          <div>
            <strong>{title}</strong>
            <p>{text}</p>
            {command !== null && (
              <div className="command">
                <code>{command}</code>
                <button
                  type="button"
                  className="icon"
                  aria-label="Copy command"
                  title="Copy command"
                  onClick={() => copy(command)}
                >
                  <IconCopy size={14} stroke={1.6} />
                </button>
              </div>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

const keyHref = (key: Analysis["biggest"][number]["key"]): string => `#/keys?key=${encodeURIComponent(sendable(key))}`;

type Ranked = Analysis["biggest"][number] & { readonly at: number };

function Keys({
  label,
  keys,
  extra,
}: {
  label: string;
  keys: Analysis["biggest"];
  extra?: { readonly title: string; cell(at: number): ReactNode };
}) {
  const rows = keys.map((facts, at): Ranked => ({ ...facts, at }));
  return (
    <Table<Ranked>
      label={label}
      rows={rows}
      id={({ key }) => sendable(key)}
      columns={[
        {
          title: "Key",
          wide: true,
          cell: ({ key }) => (
            <a href={keyHref(key)}>
              <code>{shown(key)}</code>
            </a>
          ),
        },
        { title: "Type", cell: ({ type }) => <span className={`tag ${type}`}>{type}</span> },
        ...(extra ? [{ title: extra.title, numeric: true, cell: ({ at }: { at: number }) => extra.cell(at) }] : []),
        { title: "Memory", numeric: true, cell: ({ bytes: size }) => (size === null ? "" : bytes(size)) },
        { title: "Expires in", numeric: true, cell: ({ ttlMs }) => (ttlMs === null ? "never" : duration(ttlMs)) },
      ]}
    />
  );
}

function Hot({ analysis }: { analysis: Analysis }) {
  const { hottest, policy } = analysis;
  if (hottest === null) {
    return (
      <Empty title="This server does not count how often keys are used.">
        {`It does with an LFU policy; maxmemory-policy is ${policy ?? "not known"}. `}
        <code>CONFIG SET maxmemory-policy allkeys-lfu</code>
        {" turns it on, and lets the server evict any key once maxmemory is reached."}
      </Empty>
    );
  }
  if (hottest.length === 0) return <Empty title="No key was counted." />;
  return (
    <Keys label="Hot keys" keys={hottest} extra={{ title: "LFU counter", cell: (at) => hottest[at]!.frequency }} />
  );
}

const SHOWN = 10;

function Section({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section className="analysis-section">
      <h2>{title}</h2>
      {note && <p className="note">{note}</p>}
      {children}
    </section>
  );
}

function Figures({ analysis }: { analysis: Analysis }) {
  const { matched, bytes: size, lasting, biggest } = analysis;
  const [first] = biggest;
  return (
    <dl className="figures">
      <Figure title="Keys" value={number(matched)}>
        {analysis.exact ? "counted one by one" : "some may be counted twice"}
      </Figure>
      <Figure title="Memory of keys" value={bytes(size)}>
        {matched === 0 ? "" : `${bytes(size / matched)} a key`}
      </Figure>
      <Figure title="Without expiry" value={percent(lasting.count, matched)}>
        {`${counted(lasting.count, "key")}, ${bytes(lasting.bytes)}`}
      </Figure>
      <Figure title="Biggest key" value={first?.bytes == null ? "none" : bytes(first.bytes)}>
        {first === undefined ? "" : `${first.type}, ${percent(first.bytes ?? 0, size)} of all`}
      </Figure>
    </dl>
  );
}

function Found({ analysis, separator }: { analysis: Analysis; separator: string }) {
  const [isAll, setAll] = useState(false);
  const { prefixes } = analysis;
  const bars = prefixes.map(({ name, count, bytes: size }) => ({
    name,
    count,
    bytes: size,
    href: `#/keys?${new URLSearchParams({ match: `${literally(name)}*`, ...(separator !== ":" && { sep: separator }) })}`,
  }));
  const ttls = [...analysis.ttls, { name: "does not expire", ...analysis.lasting }];
  return (
    <>
      <Figures analysis={analysis} />
      <Section title="Advice">
        <AdviceList advice={analysis.advice} />
      </Section>
      <div className="analysis-grid">
        <Section title="Memory by prefix">
          {bars.length === 0 ? (
            <Empty title={`No name has a “${separator}” in it.`}>Choose another separator above.</Empty>
          ) : (
            <Bars label="Prefix" rows={isAll ? bars : bars.slice(0, SHOWN)} by="bytes" />
          )}
          {bars.length > SHOWN && (
            <button type="button" className="more" onClick={() => setAll(!isAll)}>
              {isAll ? `Show ${SHOWN}` : `Show all ${bars.length}`}
            </button>
          )}
        </Section>
        <div>
          <Section title="Memory by type">
            <Bars label="Type" rows={analysis.types} by="bytes" colour="c2" />
          </Section>
          <Section title="Time to live">
            <Bars label="Range" rows={ttls} by="count" colour="c3" />
          </Section>
          <Section title="Encodings">
            <Bars label="Encoding" rows={analysis.encodings} by="bytes" colour="c4" />
          </Section>
        </div>
      </div>
      <Section title="Biggest keys">
        <Keys label="Biggest keys" keys={analysis.biggest.slice(0, 20)} />
      </Section>
      <Section title="Hot keys">
        <Hot analysis={analysis} />
      </Section>
    </>
  );
}

const REPORTS = { markdown: "Markdown", html: "HTML", json: "JSON" } as const;
const WAIT_MS = 400;

export function AnalysisPage() {
  const address = useAddress();
  const { keys, isSmall } = useIsSmall();
  const [match, separator] = [address.get("match"), address.get("sep") || ":"];
  const [typed, setTyped] = useState({ match, separator });
  // A large store is scanned when somebody asks for it.
  const isWanted = isSmall || address.get("run") === "on";
  const survey = useSurvey(isWanted ? (match === "" ? {} : { match }) : null, { separator });
  // The last scan that is over stays in sight while the next is under way.
  const [id, setId] = useState<string | null>(null);
  const [isOver, current] = [!survey.isRunning, survey.progress?.id];
  useEffect(() => {
    if (isOver && current !== undefined) setId(current);
  }, [isOver, current]);
  useEffect(() => setId(null), [match, separator]);
  const loaded = useLoad<Analysis>(id === null ? null : `/api/surveys/${id}`);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (typed.match !== match || typed.separator !== separator)
        address.replace({ match: typed.match, sep: typed.separator === ":" ? null : typed.separator });
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <>
      <Head title="Analysis" note={keys === undefined ? "" : `${counted(keys, "key")} in the store`}>
        {id !== null &&
          (Object.keys(REPORTS) as (keyof typeof REPORTS)[]).map((format) => (
            <a
              key={format}
              className="button with-icon"
              href={endpoint(`/api/surveys/${id}/report?format=${format}`)}
              download
            >
              <IconFileDownload {...ICON} /> {REPORTS[format]}
            </a>
          ))}
      </Head>
      <div className="row analysis-filters">
        <input
          type="search"
          data-search
          aria-label="Pattern of keys"
          placeholder="All keys, or a pattern: user:*"
          value={typed.match}
          onChange={(event) => setTyped({ ...typed, match: event.currentTarget.value })}
        />
        <label className="check">
          <span className="dim">Separator</span>
          <input
            className="short"
            value={typed.separator}
            maxLength={10}
            onChange={(event) => setTyped({ ...typed, separator: event.currentTarget.value })}
          />
        </label>
        {isWanted && <ScanBar survey={survey} what={["key", "keys"]} />}
      </div>
      {!isWanted && keys !== undefined && (
        <Empty
          title={`${counted(keys, "key is", "keys are")} looked at one by one.`}
          icon={IconChartTreemap}
          action={
            <button type="button" className="main with-icon" onClick={() => address.replace({ run: "on" })}>
              <IconPlayerPlay {...ICON} /> Analyse keys
            </button>
          }
        >
          It runs in the background, in steps of a few milliseconds, and can be stopped.
        </Empty>
      )}
      {(keys === undefined || (isWanted && id === null && survey.error === null)) && <Loading />}
      {id !== null && (
        <States of={loaded}>
          {(analysis) =>
            analysis.matched === 0 ? (
              <Empty title={match === "" ? "The store is empty." : "No key fits."} icon={IconChartTreemap}>
                {match === ""
                  ? "There is something to analyse as soon as somebody writes a key."
                  : "Patterns are as for SCAN: * ? [a-z]."}
              </Empty>
            ) : (
              <Found analysis={analysis} separator={separator} />
            )
          }
        </States>
      )}
    </>
  );
}
