/** Adding a job, one like another, or changing one that does not run. */
import { useEffect, useState } from "react";
import { ActButton } from "../../../acting.tsx";
import { act } from "../../../api.ts";
import { useLoad } from "../../../load.ts";
import { Dialog, States, toast, useActions } from "../../../parts.tsx";
import { type AnyJob, actionUrl, type Opened, pathOf, queryOf } from "./model.ts";

interface Fields {
  readonly data: string;
  readonly name: string;
  readonly delaySeconds: string;
  readonly priority: string;
  readonly attempts: string;
  readonly group: string;
}

const BLANK: Fields = { data: "{}", name: "", delaySeconds: "", priority: "", attempts: "", group: "" };

/** The fields as an existing job has them; what a job does not tell stays blank. */
const fieldsOf = (job: AnyJob): Fields => ({
  data: JSON.stringify(job.data, null, 2) ?? "null",
  name: job.name ?? "",
  delaySeconds: "",
  priority: job.priority === 0 ? "" : String(job.priority),
  attempts: String(job.attempts),
  group: job.group ?? "",
});

/** A text where the data are not JSON. */
function read(data: string): { readonly value: unknown } | string {
  try {
    return { value: JSON.parse(data) };
  } catch (error) {
    return (error as Error).message;
  }
}

function planOf(fields: Fields, before: Fields | null) {
  const changed = (name: keyof Fields) => fields[name] !== "" && fields[name] !== before?.[name];
  return {
    ...(changed("name") && { name: fields.name }),
    ...(changed("delaySeconds") && { delayMs: Math.round(Number(fields.delaySeconds) * 1_000) }),
    ...(changed("priority") && { priority: Number(fields.priority) }),
    ...(changed("attempts") && { attempts: Number(fields.attempts) }),
  };
}

interface Props {
  readonly opened: Opened;
  readonly close: () => void;
  readonly done: () => void;
}

/** `like`: the id of a job whose data and options it begins with. */
export function JobForm({ like, ...props }: Props & { like: string | null }) {
  const url = like === null ? null : `${pathOf(props.opened)}/jobs/${encodeURIComponent(like)}`;
  const loaded = useLoad<{ job: AnyJob }>(url, queryOf(props.opened));
  const title = like === null ? "Add job" : "Duplicate job";
  return (
    <Dialog title={title} close={props.close} size="lg">
      {like === null ? (
        <Form {...props} fields={BLANK} id={null} />
      ) : (
        <States of={loaded}>{({ job }) => <Form {...props} fields={fieldsOf(job)} id={null} />}</States>
      )}
    </Dialog>
  );
}

export function EditForm({ job, ...props }: Props & { job: AnyJob }) {
  // As it was when the dialog was opened: what a worker does meanwhile must not overwrite what is typed.
  const [fields] = useState(() => fieldsOf(job));
  return (
    <Dialog title={`Edit job ${job.id}`} close={props.close} size="lg">
      <Form {...props} fields={fields} id={job.id} isEnded={job.state === "done" || job.state === "dead"} />
    </Dialog>
  );
}

function Form({
  opened,
  close,
  done,
  fields: first,
  id,
  isEnded = false,
}: Props & { fields: Fields; id: string | null; isEnded?: boolean }) {
  const [fields, setFields] = useState(first);
  const actions = useActions(done);
  const data = read(fields.data);
  // The first field takes the focus, and the caret goes behind what is there.
  useEffect(() => {
    const area = document.querySelector<HTMLTextAreaElement>("textarea[data-autofocus]");
    area?.setSelectionRange(area.value.length, area.value.length);
  }, []);
  const field = (name: keyof Fields, label: string, type: "text" | "number", note?: string) => (
    <label>
      {label}
      <input
        type={type}
        value={fields[name]}
        placeholder={note}
        onChange={({ target }) => setFields({ ...fields, [name]: target.value })}
      />
    </label>
  );
  const submit = async () => {
    if (typeof data === "string") return;
    if (id !== null) {
      const body = { ...planOf(fields, first), ...(fields.data !== first.data && { data: data.value }) };
      const url = actionUrl(opened, `/jobs/${encodeURIComponent(id)}`);
      if (await actions.run(() => act("PUT", url, body), "Job changed")) close();
      return;
    }
    const body = { data: data.value, ...planOf(fields, null), ...(fields.group !== "" && { group: fields.group }) };
    const add = async () => {
      const added = await act<{ id: string }>("POST", actionUrl(opened, "/jobs"), body);
      toast(`Job ${added.id} added`);
    };
    if (await actions.run(add)) close();
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {actions.view}
      <label>
        Data (JSON)
        <textarea
          rows={9}
          spellCheck={false}
          data-autofocus
          value={fields.data}
          aria-invalid={typeof data === "string"}
          onChange={({ target }) => setFields({ ...fields, data: target.value })}
        />
      </label>
      {typeof data === "string" && <small className="bad">This is not JSON: {data}</small>}
      <div className="form-grid">
        {field("name", "Name (handler)", "text", "any handler")}
        {field("priority", "Priority (−1000 … 1000)", "number", "0")}
        {field("attempts", "Attempts", "number", "as the queue says")}
        {!isEnded &&
          field("delaySeconds", id === null ? "Delay in seconds" : "Run in seconds from now", "number", "none")}
        {id === null && field("group", "Group", "text", "none")}
      </div>
      <div className="row end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <ActButton type="submit" className="main" disabled={typeof data === "string" || actions.isBusy}>
          {id === null ? "Add job" : "Save job"}
        </ActButton>
      </div>
    </form>
  );
}
