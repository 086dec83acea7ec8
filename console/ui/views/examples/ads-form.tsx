/** An ad as its advertiser writes it. */
import type { SubmitEvent } from "react";
import type { AdView } from "../../../src/examples/ads.ts";
import { ActButton } from "../../acting.tsx";
import type { Wire } from "../../api.ts";
import { act } from "../../api.ts";
import { Dialog, useActions } from "../../parts.tsx";
import { microsOf, plain } from "./ads-money.ts";

const API = "/api/examples/ads";

interface Props {
  /** Null for a new one. */
  readonly of: Wire<AdView> | null;
  readonly locations: readonly string[];
  readonly close: () => void;
  readonly changed: () => void;
}

function fieldsOf(form: HTMLFormElement) {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "").trim();
  const [dailyMicros, totalMicros] = [microsOf(text("daily")), microsOf(text("total"))];
  const cap = text("cap");
  return {
    text: text("text"),
    model: text("model"),
    bidMicros: microsOf(text("bid")) ?? 0,
    locations: data.getAll("location").map(String),
    words: text("words")
      .split(/[\s,]+/)
      .filter((word) => word !== ""),
    ...(dailyMicros !== undefined && { dailyMicros }),
    ...(totalMicros !== undefined && { totalMicros }),
    ...(cap !== "" && { cap: Number(cap) }),
  };
}

export function AdDialog({ of, locations, close, changed }: Props) {
  const actions = useActions(changed);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const id = of?.id ?? String(new FormData(form).get("id"));
    if (await actions.run(async () => act("POST", `${API}/ads`, { id, ...fieldsOf(form) }))) close();
  };
  return (
    <Dialog title={of === null ? "New ad" : of.id} close={close}>
      <form className="stack ads-form" onSubmit={submit}>
        {actions.view}
        {of === null && (
          <label>
            Advertiser
            <input name="id" maxLength={40} required data-autofocus />
          </label>
        )}
        <label>
          Text
          <input name="text" maxLength={120} defaultValue={of?.text} required />
        </label>
        <div className="row">
          <label>
            Pays €
            <input name="bid" inputMode="decimal" size={6} required defaultValue={plain(of?.bidMicros)} />
          </label>
          <label>
            for
            <select name="model" defaultValue={of?.model ?? "cpc"}>
              <option value="cpc">a click</option>
              <option value="cpm">1 000 views</option>
              <option value="cpa">an action</option>
            </select>
          </label>
        </div>
        <label>
          Words of pages that it fits
          <input name="words" placeholder="coffee, beans" defaultValue={of?.words.join(", ")} />
        </label>
        <fieldset className="row" aria-label="Only in">
          <span className="dim">Only in</span>
          {locations.map((location) => (
            <label key={location} className="row">
              <input
                type="checkbox"
                name="location"
                value={location}
                defaultChecked={of?.locations.includes(location) ?? false}
              />
              {location}
            </label>
          ))}
        </fieldset>
        <div className="row">
          <label>
            A day at most €
            <input name="daily" inputMode="decimal" size={6} defaultValue={plain(of?.budget?.dailyMicros)} />
          </label>
          <label>
            In all at most €
            <input name="total" inputMode="decimal" size={6} defaultValue={plain(of?.budget?.totalMicros)} />
          </label>
          <label>
            Views an hour and person
            <input name="cap" inputMode="numeric" size={3} defaultValue={of?.cap?.views} />
          </label>
        </div>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            {of === null ? "Add" : "Change"}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
