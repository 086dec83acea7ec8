/** Ads: a page with a place for one, why this one was chosen, and the advertisers with what they have spent and what is known. */
import type { Candidate } from "cinnabar/ads";
import { useState } from "react";
import type { AdView as AdData } from "../../../src/examples/ads.ts";
import { ActButton } from "../../acting.tsx";
import { act, type Wire } from "../../api.ts";
import { counted, micros as time } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { States, Table, useActions } from "../../parts.tsx";
import { AdDialog } from "./ads-form.tsx";
import { euros } from "./ads-money.ts";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { useKept, useRowKeys } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import { useVisitor } from "./visitor.tsx";
import "./ads.css";

type AdView = Wire<AdData>;

const API = "/api/examples/ads";

interface View {
  readonly ads: readonly AdView[];
  readonly pages: readonly { readonly title: string; readonly text: string }[];
  readonly locations: readonly string[];
}

interface Shown {
  readonly impression: {
    readonly id: string;
    readonly ad: string;
    readonly text: string;
    readonly model: string;
    readonly valueMicros: number;
    readonly words: readonly string[];
  } | null;
  readonly candidates: readonly Candidate[];
}

interface CrowdResult {
  readonly visitors: number;
  readonly nothing: number;
  readonly micros: number;
  readonly ads: readonly {
    readonly id: string;
    readonly shown: number;
    readonly clicks: number;
    readonly chargedMicros: number;
  }[];
}

type Actions = ReturnType<typeof useActions>;

const MODELS: Readonly<Record<string, string>> = { cpm: "for 1 000 views", cpc: "a click", cpa: "an action" };
const WHY: Readonly<Record<string, string>> = {
  budget: "its budget is used up",
  "daily-budget": "today's budget is used up",
  pace: "it is ahead of its pace",
  cap: "you have seen it often enough",
  "no-user": "nobody to count its views for",
  excluded: "not wanted here",
};

/** The words of the page that the ad is for stand out. */
function Marked({ text, words }: { text: string; words: readonly string[] }) {
  return (
    <p className="ads-text">
      {text
        .split(/(\p{L}+)/u)
        .map((part, nth) => (words.includes(part.toLowerCase()) ? <mark key={nth}>{part}</mark> : part))}
    </p>
  );
}

function Slot({
  shown,
  charged,
  report,
}: {
  shown: Shown;
  charged: string;
  report: (kind: "click" | "action") => void;
}) {
  const { impression } = shown;
  if (impression === null) return <p className="dim">No ad can be shown here.</p>;
  return (
    <>
      <span className="tag">Ad</span>
      <b>{impression.ad}</b>
      <p>{impression.text}</p>
      <div className="row">
        <ActButton type="button" className="main" onClick={() => report("click")}>
          Click on it
        </ActButton>
        <ActButton type="button" onClick={() => report("action")}>
          Buy
        </ActButton>
        <span className="dim" role="status">
          {charged}
        </span>
      </div>
    </>
  );
}

function Candidates({ candidates, chosen }: { candidates: readonly Candidate[]; chosen: string | undefined }) {
  return (
    <Table
      label="What was considered"
      rows={candidates.map((each, rank) => ({ ...each, rank }))}
      // By rank, so that rows stay where they are and only what they say changes.
      id={({ rank }) => rank}
      columns={[
        {
          title: "Considered",
          wide: true,
          cell: ({ ad, reason, bonusMicros }) => (
            <>
              {ad === chosen ? <b>{ad}</b> : ad}
              {reason !== null && <div className="dim">{WHY[reason]}</div>}
              {reason === null && bonusMicros !== 0 && <div className="dim">{euros(bonusMicros)} for its words</div>}
            </>
          ),
        },
        { title: "eCPM", numeric: true, cell: ({ ecpmMicros }) => euros(ecpmMicros) },
        { title: "Drawn", numeric: true, cell: ({ valueMicros }) => (valueMicros === null ? "" : euros(valueMicros)) },
      ]}
    />
  );
}

function Reader({ view, actions }: { view: View; actions: Actions }) {
  const [location, setLocation] = useState(view.locations[0]!);
  const [page, setPage] = useState(0);
  const [shown, setShown] = useState<Shown | null>(null);
  const [charged, setCharged] = useState("");
  const { title, text } = view.pages[page]!;
  const open = () =>
    actions.run(async () => {
      setShown(await act<Shown>("POST", `${API}/show`, { location, page }));
      setCharged("");
    });
  const report = (kind: "click" | "action") =>
    actions.run(async () => {
      const body = { impression: shown!.impression!.id, kind };
      const { chargedMicros } = await act<{ chargedMicros: number }>("POST", `${API}/events`, body);
      setCharged(chargedMicros > 0 ? `charged ${euros(chargedMicros)}` : "counted, nothing to pay");
    });
  return (
    <section className="card ads-reader" aria-label="A page">
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          void open();
        }}
      >
        <select
          aria-label="Page"
          data-search
          value={page}
          onChange={(event) => setPage(Number(event.currentTarget.value))}
        >
          {view.pages.map((each, nth) => (
            <option key={each.title} value={nth}>
              {each.title}
            </option>
          ))}
        </select>
        <select aria-label="Read in" value={location} onChange={(event) => setLocation(event.currentTarget.value)}>
          {view.locations.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <ActButton type="submit" className="main">
          Open the page
        </ActButton>
      </form>
      <h2>{title}</h2>
      <Marked text={text} words={shown?.impression?.words ?? []} />
      <div className="ads-slot">
        {shown === null ? (
          <p className="dim">Here is a place for an ad.</p>
        ) : (
          <Slot shown={shown} charged={charged} report={report} />
        )}
      </div>
      {shown && <Candidates candidates={shown.candidates} chosen={shown.impression?.ad} />}
    </section>
  );
}

function Crowd({ actions }: { actions: Actions }) {
  const [result, setResult] = useState<CrowdResult | null>(null);
  const [from, setFrom] = useState(0);
  const send = () =>
    actions.run(async () => {
      setResult(await act<CrowdResult>("POST", `${API}/crowd`, { visitors: 200, from }));
      setFrom(from + 200);
    });
  const [first] = result?.ads ?? [];
  return (
    <div className="row ads-crowd">
      <ActButton type="button" onClick={send}>
        Send 200 visitors
      </ActButton>
      <span className="dim" role="status">
        {result === null
          ? "They click as people do: watch what is learned."
          : `${counted(result.visitors - result.nothing, "ad")} in ${time(result.micros)}${first ? `; most often ${first.id}, ${counted(first.shown, "time")}` : ""}`}
      </span>
    </div>
  );
}

function stateOf({ state, resumesAt }: AdView): string {
  if (state === "paused") return "paused";
  if (resumesAt === null) return "";
  return resumesAt === "never" ? "no money left" : `waits until ${new Date(resumesAt).toLocaleTimeString()}`;
}

function Spent({ of: { budget, spentMicros, spentTodayMicros } }: { of: AdView }) {
  return (
    <>
      {euros(spentMicros)}
      {budget?.totalMicros !== undefined && ` of ${euros(budget.totalMicros)}`}
      {budget?.dailyMicros !== undefined && (
        <div className="dim">
          today {euros(spentTodayMicros)} of {euros(budget.dailyMicros)}
        </div>
      )}
    </>
  );
}

function rate({ today }: AdView): string {
  return today === null || today.views === 0 ? "" : `${((100 * today.clicks) / today.views).toFixed(1)} %`;
}

function Advertisers(props: { ads: readonly AdView[]; actions: Actions; edit: (ad: AdView) => void }) {
  const { ads, actions } = props;
  const path = (ad: AdView) => `${API}/ads/${encodeURIComponent(ad.id)}`;
  return (
    <Table
      label="Advertisers"
      rows={ads}
      id={({ id }) => id}
      columns={[
        {
          title: "Ad",
          wide: true,
          cell: (ad) => (
            <>
              <button type="button" className="link ads-name" data-row="" onClick={() => props.edit(ad)}>
                {ad.id}
              </button>
              {ad.words.map((word) => (
                <span key={word} className="tag">
                  {word}
                </span>
              ))}
              <div className="dim">
                {euros(ad.bidMicros)} {MODELS[ad.model]}
                {ad.locations.length > 0 && ` · ${ad.locations.join(", ")}`}
              </div>
              {stateOf(ad) !== "" && <div className="ads-state">{stateOf(ad)}</div>}
            </>
          ),
        },
        { title: "Views", numeric: true, cell: ({ today }) => today?.views ?? 0 },
        { title: "Clicked", numeric: true, cell: rate },
        { title: "eCPM", numeric: true, cell: ({ ecpmMicros }) => euros(ecpmMicros) },
        { title: "Spent", numeric: true, cell: (ad) => <Spent of={ad} /> },
        {
          title: "",
          cell: (ad) => (
            <span className="ads-buttons">
              <ActButton
                type="button"
                className="small"
                aria-label={`${ad.state === "on" ? "Pause" : "Resume"} ${ad.id}`}
                onClick={() => actions.run(() => act("POST", `${path(ad)}/state`, { paused: ad.state === "on" }))}
              >
                {ad.state === "on" ? "Pause" : "Resume"}
              </ActButton>
              <ActButton
                type="button"
                className="small"
                aria-label={`Remove ${ad.id}`}
                onClick={() =>
                  actions.ask({
                    title: `Remove ${ad.id}?`,
                    text: "With everything that is known about it.",
                    button: "Remove",
                    run: () => actions.run(() => act("DELETE", path(ad))),
                  })
                }
              >
                Remove
              </ActButton>
            </span>
          ),
        },
      ]}
    />
  );
}

export function AdsPage() {
  const { name } = useVisitor();
  const [editing, setEditing] = useState<AdView | "new" | null>(null);
  const loaded = useKept(useLoad<View>(name === undefined ? null : `${API}/view`));
  const actions = useActions(loaded.reload);
  useEvents("ads", loaded.reload);
  useRowKeys();
  return (
    <ExamplePage name="ads" title="Ads" changed={loaded.reload}>
      {actions.view}
      <States of={loaded}>
        {(view) => (
          <div className="ads">
            <Reader view={view} actions={actions} />
            <section className="ads-main" aria-label="Advertisers">
              <div className="row ads-tools">
                <Crowd actions={actions} />
                <button type="button" onClick={() => setEditing("new")}>
                  New ad
                </button>
              </div>
              {view.ads.length === 0 ? (
                <NothingYet title="Nobody advertises yet.">Make an ad, or let nine advertisers in.</NothingYet>
              ) : (
                <Advertisers ads={view.ads} actions={actions} edit={setEditing} />
              )}
            </section>
            {editing && (
              <AdDialog
                of={editing === "new" ? null : editing}
                locations={view.locations}
                close={() => setEditing(null)}
                changed={loaded.reload}
              />
            )}
          </div>
        )}
      </States>
    </ExamplePage>
  );
}
