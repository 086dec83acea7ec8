/** Sessions: who is there, since when, and the means to end one or all of a user. */
import { ActButton } from "../../acting.tsx";
import { useTyped } from "../../address.ts";
import { act } from "../../api.ts";
import { duration, moment, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";

interface Live {
  readonly handle: string;
  readonly user: string | null;
  readonly createdAt: string;
  readonly seenAt: string;
  readonly endsAt: string;
}

export function Sessions() {
  const loaded = useLoad<{ count: number; sessions: Live[] }>("/api/sessions", {}, 3_000);
  const actions = useActions(loaded.reload);
  const [filter, setFilter] = useTyped("user");
  const end = ({ handle, user }: Live) =>
    actions.ask({
      title: "End this session?",
      text: `${user ?? "The visitor"} has to sign in again in that browser.`,
      button: "End session",
      run: () => actions.run(() => act("POST", "/api/sessions/end", { handle })),
    });
  const signOut = (user: string) =>
    actions.ask({
      title: `Sign ${user} out everywhere?`,
      text: "All of their sessions end at once, on every device.",
      button: "Sign out",
      run: () => actions.run(() => act("DELETE", `/api/sessions/of/${encodeURIComponent(user)}`)),
    });
  const since = (at: string) => duration(Math.max(0, Date.now() - Date.parse(at)));
  return (
    <>
      <Head title="Sessions" note={loaded.data && `about ${number(loaded.data.count)} live`}>
        <input
          type="search"
          data-search
          placeholder="User"
          aria-label="Show users whose name contains"
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ sessions }) => {
          const rows = sessions.filter(({ user }) => (user ?? "").toLowerCase().includes(filter.toLowerCase()));
          if (sessions.length === 0) {
            return <Empty title="Nobody has a session.">new Sessions(db).create() begins a session.</Empty>;
          }
          if (rows.length === 0) return <Empty title="None of the latest sessions is of such a user." />;
          return (
            <Table
              label="Sessions"
              rows={rows}
              id={({ handle }) => handle}
              columns={[
                { title: "User", wide: true, cell: ({ user }) => user ?? <span className="nil">not signed in</span> },
                { title: "Begun", cell: ({ createdAt }) => moment(Date.parse(createdAt)) },
                { title: "Last used", numeric: true, cell: ({ seenAt }) => `${since(seenAt)} ago` },
                { title: "Ends at the latest", cell: ({ endsAt }) => moment(Date.parse(endsAt)) },
                {
                  title: "",
                  cell: (session) => (
                    <span className="row">
                      <ActButton type="button" className="small" data-acts="operator" onClick={() => end(session)}>
                        End session
                      </ActButton>
                      {session.user !== null && (
                        <ActButton
                          type="button"
                          className="small"
                          data-acts="operator"
                          onClick={() => signOut(session.user!)}
                        >
                          Sign out everywhere
                        </ActButton>
                      )}
                    </span>
                  ),
                },
              ]}
            />
          );
        }}
      </States>
    </>
  );
}
