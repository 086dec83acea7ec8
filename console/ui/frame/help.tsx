/** What the keyboard does. */
import { Fragment } from "react";
import { Dialog } from "../parts.tsx";
import { useSession } from "../session.ts";
import { UNDO_KEYS } from "../undo.tsx";
import { PALETTE_KEYS } from "./keyboard.ts";
import { groupsFor } from "./views.ts";

function Keys({ of }: { of: string }) {
  return (
    <dt>
      {of.split(" ").map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </dt>
  );
}

export function Help({ close }: { close: () => void }) {
  const groups = groupsFor(useSession());
  return (
    <Dialog title="Keyboard" close={close} size="lg">
      <dl className="help">
        {[
          [PALETTE_KEYS, "find pages, keys, queues and actions"],
          ["/", "search in the view"],
          [UNDO_KEYS, "undo what was just done"],
          ["?", "this help"],
          ["Esc", "close a dialog, leave a field"],
          ["t", "commands that an example sent"],
        ].map(([keys, what]) => (
          <Fragment key={what}>
            <Keys of={keys!} />
            <dd>{what}</dd>
          </Fragment>
        ))}
      </dl>
      <div className="help-groups">
        {groups.map(({ title, views }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className="help">
              {views.map((view) => (
                <Fragment key={view.path}>
                  <Keys of={`${title === "Examples" ? "e" : "g"} ${view.key}`} />
                  <dd>{view.title}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
