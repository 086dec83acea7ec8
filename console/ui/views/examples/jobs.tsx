/** The job board: what you can do, what you are qualified for, what is missing for the rest; and who fits a job. */
import type { CandidateMatch, JobMatch, Page } from "cinnabar/job-search";
import { useState } from "react";
import type { JobData } from "../../../src/examples/jobs-sample.ts";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Dialog, States, useActions } from "../../parts.tsx";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { JobDialog } from "./jobs-form.tsx";
import { type Found, useFound } from "./jobs-search.ts";
import { type Skill, SkillEditor, SkillTags } from "./jobs-skills.tsx";
import { ExampleEmpty } from "./look.tsx";
import { useRowKeys } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import { useVisitor } from "./visitor.tsx";
import "./jobs.css";

const API = "/api/examples/jobs";

interface Me {
  readonly skills: readonly Skill[];
  readonly isCandidate: boolean;
  readonly jobs: number;
  readonly candidates: number;
  readonly cities: readonly string[];
}

type Match = JobMatch<JobData>;

const MISSING = ["nothing missing", "one may be missing", "two may be missing", "three may be missing"];

function CandidatesDialog({ of, close }: { of: Match; close: () => void }) {
  const path = `${API}/jobs/${encodeURIComponent(of.job.id)}/candidates`;
  const loaded = useLoad<Page<CandidateMatch<null>>>(path, { missing: 2 });
  return (
    <Dialog title={`Who fits “${of.job.data?.title}”`} close={close}>
      <div className="jobs-candidates">
        <States of={loaded}>
          {({ items: matches, qualified, nearMisses }) => (
            <>
              <p className="dim" role="status">
                {qualified} qualified, {nearMisses} nearly
              </p>
              {matches.length === 0 && <ExampleEmpty title="Nobody yet." />}
              <ul className="jobs-list">
                {matches.map((match) => (
                  <li key={match.candidate.id}>
                    <b>{match.candidate.id}</b> <SkillTags of={match} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </States>
      </div>
      <div className="row end">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function JobCard(props: { match: Match; visitor: string | undefined; who: () => void; take: () => void }) {
  const { job, qualified, missing, distanceKm } = props.match;
  const { title, company, by } = job.data ?? { title: job.id, company: "", by: "" };
  return (
    <li className={`card jobs-card ${qualified ? "qualified" : ""}`}>
      <div className="jobs-title">
        <b>{title}</b>
        <span className="dim">
          {company} · <span className="jobs-places">{job.places.join(", ")}</span>
          {distanceKm !== null && ` · ${Math.round(distanceKm)} km`} · {new Date(job.postedAt).toLocaleDateString()}
        </span>
      </div>
      <SkillTags of={props.match} />
      <div className="row jobs-foot">
        <span className={qualified ? "good" : "dim"}>
          {qualified ? "You are qualified" : `${missing.length} missing`}
        </span>
        <button type="button" className="small" data-row="" aria-label={`Who fits ${title}`} onClick={props.who}>
          Who fits
        </button>
        {by === props.visitor && (
          <ActButton type="button" className="small" aria-label={`Take down ${title}`} onClick={props.take}>
            Take down
          </ActButton>
        )}
      </div>
    </li>
  );
}

function Filters({ cities, found }: { cities: readonly string[]; found: Found }) {
  const { wanted, want } = found;
  return (
    <div className="row jobs-filters">
      <select
        aria-label="What may be missing"
        value={wanted.missing}
        onChange={(event) => want({ missing: Number(event.currentTarget.value) })}
      >
        {MISSING.map((text, count) => (
          <option key={text} value={count}>
            {text}
          </option>
        ))}
      </select>
      <input
        aria-label="Place"
        placeholder="Place, or remote"
        value={wanted.place}
        onChange={(event) => want({ place: event.currentTarget.value })}
      />
      <select aria-label="Near" value={wanted.city} onChange={(event) => want({ city: event.currentTarget.value })}>
        <option value="">anywhere</option>
        {cities.map((city) => (
          <option key={city} value={city}>
            near {city}
          </option>
        ))}
      </select>
      <select
        aria-label="Distance"
        disabled={wanted.city === ""}
        value={wanted.radiusKm}
        onChange={(event) => want({ radiusKm: Number(event.currentTarget.value) })}
      >
        {[50, 300, 1_000].map((km) => (
          <option key={km} value={km}>
            {km} km
          </option>
        ))}
      </select>
    </div>
  );
}

function Results({
  found,
  visitor,
  jobs,
  take,
}: {
  found: Found;
  visitor: string | undefined;
  jobs: number;
  take: (match: Match) => void;
}) {
  const [looking, setLooking] = useState<Match | null>(null);
  return (
    <>
      <States of={found}>
        {({ items: matches, qualified, nearMisses, examined }) => (
          <>
            <p className="dim" role="status">
              {qualified} qualified, {nearMisses} nearly; {examined} of {jobs} jobs were looked at
            </p>
            {matches.length === 0 && (
              <ExampleEmpty title="Nothing fits.">Say more of what you can, or let something be missing.</ExampleEmpty>
            )}
            <ul className="jobs-list">
              {matches.map((match) => (
                <JobCard
                  key={match.job.id}
                  match={match}
                  visitor={visitor}
                  who={() => setLooking(match)}
                  take={() => take(match)}
                />
              ))}
            </ul>
          </>
        )}
      </States>
      <div className="row">
        <button type="button" disabled={!found.canGoBack} onClick={found.back}>
          Previous
        </button>
        <button type="button" disabled={found.data?.cursor == null} onClick={found.forward}>
          Next
        </button>
      </div>
      {looking && <CandidatesDialog of={looking} close={() => setLooking(null)} />}
    </>
  );
}

export function Jobs() {
  const { name } = useVisitor();
  const [isPosting, setPosting] = useState(false);
  const [edited, setEdited] = useState<{ by: string | undefined; skills: readonly Skill[] } | null>(null);
  const me = useLoad<Me>(name === undefined ? null : `${API}/me`);
  // What somebody has not saved is theirs, and gone when the browser is somebody else's.
  const skills = (edited?.by === name ? edited?.skills : undefined) ?? me.data?.skills ?? null;
  const found = useFound(skills);
  const reload = () => {
    me.reload();
    found.reload();
  };
  const actions = useActions(reload);
  useEvents("jobs", reload);
  useRowKeys();
  const save = (next: readonly Skill[]) => actions.run(() => act("POST", `${API}/me`, { skills: next }));
  return (
    <ExamplePage name="jobs" title="Jobs" changed={reload}>
      {actions.view}
      <States of={me}>
        {({ cities, jobs, candidates, isCandidate }) => (
          <div className="jobs">
            <section className="card jobs-side" aria-label="What you can">
              <h2>What you can</h2>
              <SkillEditor skills={skills ?? []} change={(next) => setEdited({ by: name, skills: next })} />
              <div className="row">
                <ActButton type="button" onClick={() => save(skills ?? [])} disabled={(skills ?? []).length === 0}>
                  {isCandidate ? "Save" : "Save, and be found"}
                </ActButton>
                {isCandidate && (
                  <ActButton type="button" onClick={() => save([])}>
                    Do not be found
                  </ActButton>
                )}
              </div>
              <p className="dim">
                {isCandidate ? "Who posts a job finds you." : "Nobody finds you yet."} {candidates} candidates.
              </p>
              <button type="button" onClick={() => setPosting(true)}>
                Post a job
              </button>
            </section>
            <section className="jobs-main" aria-label="Jobs">
              {jobs === 0 ? (
                <NothingYet title="Nobody is looking for anybody.">
                  Post a job, or let six companies post sixty.
                </NothingYet>
              ) : (
                <>
                  <Filters cities={cities} found={found} />
                  <Results
                    found={found}
                    visitor={name}
                    jobs={jobs}
                    take={({ job }) => actions.run(() => act("DELETE", `${API}/jobs/${encodeURIComponent(job.id)}`))}
                  />
                </>
              )}
            </section>
            {isPosting && <JobDialog cities={cities} close={() => setPosting(false)} changed={reload} />}
          </div>
        )}
      </States>
    </ExamplePage>
  );
}
