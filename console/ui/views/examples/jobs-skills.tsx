/** Skills: to be written, and to be looked at. */

import type { Explanation } from "cinnabar/job-search";
import type { SubmitEvent } from "react";
import { ActButton } from "../../acting.tsx";

export interface Skill {
  readonly skill: string;
  readonly level?: number;
  readonly years?: number;
}

const LEVELS = ["any level", "beginner", "good", "very good", "expert", "master"];

const said = ({ level = 0, years = 0 }: Skill): string =>
  [level > 0 && LEVELS[level], years > 0 && `${years} y`].filter(Boolean).join(", ");

/** What is met, what is missing and how much of it is there, what is welcome besides. */
export function SkillTags({ of: { met, missing, bonus } }: { of: Explanation }) {
  return (
    <div className="jobs-tags">
      {met.map((each) => (
        <span key={each.skill} className="tag jobs-met" title="Met">
          ✓ {each.skill} <span>{said(each)}</span>
        </span>
      ))}
      {missing.map((each) => (
        <span key={each.skill} className="tag jobs-missing" title="Missing">
          ✗ {each.skill} <span>{said(each)}</span>
          {each.has && <span> (only {said(each.has as Skill) || "the skill as such"})</span>}
        </span>
      ))}
      {bonus.map((skill) => (
        <span key={skill} className="tag jobs-bonus" title="Welcome besides">
          + {skill}
        </span>
      ))}
    </div>
  );
}

export function SkillEditor({
  skills,
  change,
}: {
  skills: readonly Skill[];
  change: (skills: readonly Skill[]) => void;
}) {
  const add = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const skill = String(data.get("skill")).trim().toLowerCase();
    if (skill === "") return;
    const years = Number(data.get("years") || 0);
    change([...skills.filter((each) => each.skill !== skill), { skill, level: Number(data.get("level")), years }]);
    form.reset();
    form.querySelector("input")?.focus();
  };
  return (
    <>
      <form className="row jobs-skill" onSubmit={add}>
        <input
          name="skill"
          aria-label="Skill"
          data-search
          placeholder="Skill"
          maxLength={40}
          required
          list="jobs-known"
        />
        <select name="level" aria-label="Level">
          {LEVELS.map((text, level) => (
            <option key={text} value={level}>
              {text}
            </option>
          ))}
        </select>
        <input name="years" aria-label="Years" type="number" min={0} max={60} step={0.5} placeholder="Years" />
        <ActButton type="submit">Add</ActButton>
      </form>
      <datalist id="jobs-known">
        {[
          "TypeScript",
          "Redis",
          "SQL",
          "CSS",
          "Python",
          "Kafka",
          "Linux",
          "Kubernetes",
          "Go",
          "C",
          "Lua",
          "Design",
        ].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {skills.length === 0 && <p className="dim">Nothing yet. What can you do, how well, and for how long?</p>}
      <ul className="jobs-mine">
        {skills.map((each) => (
          <li key={each.skill}>
            <span>
              <b>{each.skill}</b> <span className="dim">{said(each)}</span>
            </span>
            <ActButton
              type="button"
              className="small"
              aria-label={`Remove ${each.skill}`}
              onClick={() => change(skills.filter(({ skill }) => skill !== each.skill))}
            >
              ×
            </ActButton>
          </li>
        ))}
      </ul>
    </>
  );
}
