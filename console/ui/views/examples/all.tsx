/** The examples at a glance: what each shows, whether its sample is there, and one click to be rid of everything. */

import type { SampleState } from "../../../src/examples/sample.ts";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Head, States, useActions } from "../../parts.tsx";
import { Mark } from "./look.tsx";

interface Listed {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly components: readonly string[];
  readonly sample: SampleState;
}

const SAMPLE: Readonly<Record<SampleState["state"], string>> = {
  absent: "no sample data",
  present: "sample data is there",
  making: "sample data is being made",
  removing: "data is being removed",
};

export function AllExamples() {
  const loaded = useLoad<{ examples: Listed[] }>("/api/examples");
  const actions = useActions(loaded.reload);
  const each = (method: "POST" | "DELETE") =>
    actions.run(async () => {
      for (const { name } of loaded.data?.examples ?? []) await act(method, `/api/examples/${name}/sample`);
    });
  return (
    <>
      <Head title="Examples" note="Applications on this store, to use and to look below">
        <ActButton type="button" disabled={loaded.data === undefined} onClick={() => each("POST")}>
          Make all sample data
        </ActButton>
        <ActButton
          type="button"
          disabled={loaded.data === undefined}
          onClick={() =>
            actions.ask({
              title: "Remove the data of all examples?",
              text: "Every key that begins with “example:” and belongs to an example goes. Nothing else is touched.",
              button: "Remove data",
              run: () => each("DELETE"),
            })
          }
        >
          Remove all data
        </ActButton>
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ examples }) => (
          <div className="cards">
            {examples.map(({ name, title, about, components, sample }) => (
              <section key={name} className="card example-card" data-look={name}>
                <h2>
                  <Mark of={name} />
                  <a href={`#/examples/${name}`}>{title}</a>
                </h2>
                <p>{about}</p>
                <p className="dim">
                  {components.map((component) => (
                    <span key={component} className="tag">
                      {component}
                    </span>
                  ))}
                </p>
                <p className="dim">{SAMPLE[sample.state]}</p>
              </section>
            ))}
          </div>
        )}
      </States>
    </>
  );
}
