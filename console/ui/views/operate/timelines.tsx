/** Social networks: what is left to deliver, and how the timeline of a user or a list is kept. */
import type { AuthorState, Backlog, SocialCounts, TimelineState, User, UserList } from "cinnabar/social";
import { type SubmitEvent, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { duration, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";
import { go, usePlace } from "../../router.ts";

type Network = Backlog & { readonly prefix: string };

interface Look {
  readonly subject: string;
  readonly user?: User;
  readonly list?: UserList;
  readonly counts?: SocialCounts;
  readonly author?: AuthorState;
  readonly timeline: TimelineState;
}

const linkOf = (network: string): string => `#/timelines?${new URLSearchParams({ network })}`;

function All() {
  const loaded = useLoad<{ networks: Network[]; complete: boolean }>("/api/timelines", {}, 3_000);
  return (
    <>
      <Head title="Timelines" />
      <States of={loaded}>
        {({ networks, complete }) =>
          networks.length === 0 ? (
            <Empty title="No social network was used here.">new Social(db) makes one; social.worker() delivers.</Empty>
          ) : (
            <>
              {!complete && <p className="note">There are many keys: some networks may be missing.</p>}
              <Table
                label="Social networks"
                rows={networks}
                id={({ prefix }) => prefix}
                columns={[
                  { title: "Network", wide: true, cell: ({ prefix }) => <a href={linkOf(prefix)}>{prefix}</a> },
                  { title: "Waiting", numeric: true, cell: ({ jobs }) => number(jobs.waiting + jobs.delayed) },
                  { title: "Active", numeric: true, cell: ({ jobs }) => number(jobs.active) },
                  {
                    title: "Given up",
                    numeric: true,
                    cell: ({ jobs }) => (jobs.dead === 0 ? "0" : <span className="tag warn">{number(jobs.dead)}</span>),
                  },
                  { title: "Calls open", numeric: true, cell: ({ open }) => number(open) },
                ]}
              />
            </>
          )
        }
      </States>
    </>
  );
}

const WAYS: Readonly<Record<AuthorState["mode"], string>> = {
  push: "delivered to followers",
  pull: "merged in when timelines are read",
  toPull: "on the way to being merged in",
  toPush: "on the way to being delivered",
};

function Facts({ of }: { of: Look }) {
  const { subject, user, list, counts, author, timeline } = of;
  const rows: [string, string][] = [["Id", subject]];
  if (user) rows.push(["Login", `@${user.login}`], ["Name", user.name]);
  if (list) rows.push(["List", list.name], ["Owner", list.owner], ["Members", number(list.members)]);
  if (counts) {
    rows.push(["Statuses", number(counts.statuses)], ["Followers", number(counts.followers)]);
    rows.push(["Follows", number(counts.following)]);
  }
  if (author) rows.push(["In lists", number(author.lists)], ["Statuses are", WAYS[author.mode]]);
  rows.push(["Timeline", timeline.state]);
  if (timeline.state !== "cold") {
    rows.push([
      "In it",
      `${number(timeline.size)}${timeline.isComplete ? ", which is all" : "; older ones from profiles"}`,
    ]);
    rows.push(["Merged in", timeline.merged.length === 0 ? "nobody" : timeline.merged.join(", ")]);
    rows.push(["Muted", number(timeline.muted.length)]);
    rows.push(["Dropped, if not read, in", duration(timeline.expiresInMs)]);
  }
  return (
    <Table
      label="Timeline"
      rows={rows}
      id={([title]) => title}
      columns={[
        { title: "What", cell: ([title]) => title },
        { title: "Value", wide: true, cell: ([, value]) => value },
      ]}
    />
  );
}

function One({ network, who }: { network: string; who: string }) {
  const [asked, setAsked] = useState(who);
  const path = who === "" ? null : "/api/timelines/look";
  const loaded = useLoad<Look>(path, { network, who }, 3_000);
  const all = useLoad<{ networks: Network[] }>("/api/timelines", {}, 3_000);
  const actions = useActions(() => {
    loaded.reload();
    all.reload();
  });
  const jobs = all.data?.networks.find(({ prefix }) => prefix === network)?.jobs;
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    go("timelines", { network, who: asked.trim() });
  };
  const drop = (subject: string) =>
    actions.ask({
      title: "Drop the timeline?",
      text: "Nothing is lost: it is built anew from the profiles when it is read.",
      button: "Drop timeline",
      run: () => actions.run(() => act("POST", "/api/timelines/drop", { network, subject })),
    });
  return (
    <>
      <Head title={network} note={<a href="#/timelines">All networks</a>}>
        {jobs !== undefined && jobs.dead > 0 && (
          <ActButton
            type="button"
            data-acts="operator"
            onClick={() => void actions.run(() => act("POST", "/api/timelines/retry", { network }))}
          >
            Try {number(jobs.dead)} again
          </ActButton>
        )}
      </Head>
      {actions.view}
      {jobs && (
        <p className="note">
          {`${number(jobs.waiting + jobs.delayed)} waiting, ${number(jobs.active)} active, ${number(jobs.dead)} given up`}
        </p>
      )}
      <form className="row timelines-ask" onSubmit={submit}>
        <input
          type="search"
          aria-label="Login, or id of a user or a list"
          placeholder="login, or id of a user or a list"
          data-search
          maxLength={60}
          value={asked}
          onChange={(event) => setAsked(event.currentTarget.value)}
        />
        <ActButton type="submit" className="main" disabled={asked.trim() === ""}>
          Show timeline
        </ActButton>
        {loaded.data && loaded.data.timeline.state !== "cold" && (
          <ActButton type="button" className="danger" data-acts="operator" onClick={() => drop(loaded.data!.subject)}>
            Drop timeline
          </ActButton>
        )}
      </form>
      {who === "" ? (
        <Empty title="Whose timeline?">A login, the id of a user, or that of a list, which begins with “+”.</Empty>
      ) : (
        <States of={loaded}>{(of) => <Facts of={of} />}</States>
      )}
    </>
  );
}

export function TimelinesView() {
  const { query } = usePlace();
  const network = query.get("network") ?? "";
  const who = query.get("who") ?? "";
  return network === "" ? <All /> : <One key={`${network} ${who}`} network={network} who={who} />;
}
