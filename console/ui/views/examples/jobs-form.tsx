/** A job as somebody posts it. */
import { type SubmitEvent, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { Dialog, useActions } from "../../parts.tsx";
import { type Skill, SkillEditor } from "./jobs-skills.tsx";

export function JobDialog({
  cities,
  close,
  changed,
}: {
  cities: readonly string[];
  close: () => void;
  changed: () => void;
}) {
  const [requires, setRequires] = useState<readonly Skill[]>([]);
  const actions = useActions(changed);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(data.get(name)).trim();
    const optional = text("optional")
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "");
    const job = { title: text("title"), company: text("company"), city: text("city"), requires, optional };
    if (await actions.run(() => act("POST", "/api/examples/jobs/jobs", job))) close();
  };
  return (
    <Dialog title="Post a job" close={close}>
      <div className="stack jobs-form">
        {actions.view}
        <h3>What is required</h3>
        <SkillEditor skills={requires} change={setRequires} />
        <form className="stack" onSubmit={submit}>
          <label>
            Title
            <input name="title" maxLength={80} required />
          </label>
          <label>
            Company
            <input name="company" maxLength={40} required />
          </label>
          <label>
            Where
            <select name="city">
              {cities.map((city) => (
                <option key={city}>{city}</option>
              ))}
            </select>
          </label>
          <label>
            Welcome besides
            <input name="optional" placeholder="lua, design" />
          </label>
          <div className="row end">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <ActButton type="submit" className="main">
              Post job
            </ActButton>
          </div>
        </form>
      </div>
    </Dialog>
  );
}
