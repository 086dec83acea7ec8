/** Rate limits: the rules, who is near or beyond them, and forgiveness. */
import type { Rule, Verdict } from "cinnabar/rate-limits";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { duration, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";
import { usePlace } from "../../router.ts";

interface Listed {
  readonly name: string;
  readonly rules: readonly Rule[];
}
type Subject = Verdict & { readonly subject: string };

const said = ({ limit, windowMs, algorithm = "gcra", burst }: Rule) =>
  `${number(limit)} in ${duration(windowMs)}, ${algorithm}${burst === undefined ? "" : `, at once ${number(burst)}`}`;

function All() {
  const loaded = useLoad<{ limiters: Listed[] }>("/api/rate-limits", {}, 5_000);
  return (
    <>
      <Head title="Rate limits" />
      <States of={loaded}>
        {({ limiters }) =>
          limiters.length === 0 ? (
            <Empty title="No limit was used in the last week.">
              new RateLimiter(db, "api", {"{ limit: 100, windowMs: 60_000 }"}).take(address) uses one.
            </Empty>
          ) : (
            <Table
              label="Rate limiters"
              rows={limiters}
              id={({ name }) => name}
              columns={[
                {
                  title: "Limiter",
                  cell: ({ name }) => <a href={`#/limits?${new URLSearchParams({ name })}`}>{name}</a>,
                },
                { title: "Rules", wide: true, cell: ({ rules }) => rules.map(said).join("; ") },
              ]}
            />
          )
        }
      </States>
    </>
  );
}

function One({ name }: { name: string }) {
  const path = `/api/rate-limits/${encodeURIComponent(name)}`;
  const loaded = useLoad<{ rules: Rule[]; subjects: Subject[]; count: number; complete: boolean }>(path, {}, 3_000);
  const actions = useActions(loaded.reload);
  const reset = (subject: string) => void actions.run(() => act("POST", `${path}/reset`, { subject }));
  return (
    <>
      <Head title={name} note={<a href="#/limits">All limits</a>} />
      {actions.view}
      <States of={loaded}>
        {({ rules, subjects, count, complete }) => (
          <>
            <p className="note">{rules.map(said).join("; ")}</p>
            {!complete && <p className="note">{`Some of ${number(count)} or more subjects.`}</p>}
            {subjects.length === 0 ? (
              <Empty title="Nobody has used anything of it lately." />
            ) : (
              <Table
                label="Subjects"
                rows={subjects}
                id={({ subject }) => subject}
                columns={[
                  { title: "Subject", wide: true, cell: ({ subject }) => <code>{subject}</code> },
                  {
                    title: "State",
                    cell: ({ allowed }) => (allowed ? "allowed" : <span className="tag warn">refused</span>),
                  },
                  {
                    title: "Left",
                    numeric: true,
                    cell: ({ remaining, limit }) => `${number(remaining)} of ${number(limit)}`,
                  },
                  {
                    title: "Again in",
                    numeric: true,
                    cell: ({ retryAfterMs }) => (retryAfterMs === 0 ? "–" : duration(retryAfterMs)),
                  },
                  { title: "Clean in", numeric: true, cell: ({ resetAfterMs }) => duration(resetAfterMs) },
                  {
                    title: "",
                    cell: ({ subject }) => (
                      <ActButton
                        type="button"
                        className="small"
                        aria-label={`Forgive ${subject}`}
                        data-acts="operator"
                        onClick={() => reset(subject)}
                      >
                        Forgive
                      </ActButton>
                    ),
                  },
                ]}
              />
            )}
          </>
        )}
      </States>
    </>
  );
}

export function RateLimits() {
  const name = usePlace().query.get("name");
  return name === null || name === "" ? <All /> : <One key={name} name={name} />;
}
