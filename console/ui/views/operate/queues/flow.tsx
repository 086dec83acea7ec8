/** The flow that a job belongs to, as a tree: every job with its state, and a link to it. */
import type { JobState } from "cinnabar/queues";
import { useLoad } from "../../../load.ts";
import { Scroll, States } from "../../../parts.tsx";
import { MEANINGS, type Opened, pathOf, queryOf } from "./model.ts";

interface Node {
  readonly queue: string;
  readonly id: string;
  readonly name: string | null;
  readonly state: JobState | "not-found";
  readonly error: string | null;
  readonly children: readonly Node[];
  readonly hiddenChildren: number;
}

function Branch({ node, here }: { node: Node; here: string }) {
  const isHere = `${node.queue} ${node.id}` === here;
  return (
    <li>
      <a
        className={`flow-node ${MEANINGS[node.state]}`}
        href={`#/queues?${new URLSearchParams({ name: node.queue, job: node.id })}`}
        aria-current={isHere ? "true" : undefined}
      >
        <span className="flow-title">
          <i className={`dot ${MEANINGS[node.state]}`} aria-hidden="true" />
          {node.name ?? node.queue}
        </span>
        <code>{node.id}</code>
        <span className={`badge ${MEANINGS[node.state]}`}>
          {node.state === "not-found" ? "no longer known" : node.state.replaceAll("-", " ")}
        </span>
        {node.error !== null && <span className="bad">{node.error}</span>}
      </a>
      {(node.children.length > 0 || node.hiddenChildren > 0) && (
        <ul>
          {node.children.map((child) => (
            <Branch key={`${child.queue} ${child.id}`} node={child} here={here} />
          ))}
          {node.hiddenChildren > 0 && <li className="dim">and {node.hiddenChildren} more</li>}
        </ul>
      )}
    </li>
  );
}

export function Flow({ opened, id }: { opened: Opened; id: string }) {
  const loaded = useLoad<{ flow: Node }>(
    `${pathOf(opened)}/jobs/${encodeURIComponent(id)}/flow`,
    queryOf(opened),
    3_000,
  );
  return (
    <>
      <h2 className="section">Flow</h2>
      <States of={loaded}>
        {({ flow }) => (
          <Scroll label="Flow">
            <ul className="flow">
              <Branch node={flow} here={`${opened.name} ${id}`} />
            </ul>
          </Scroll>
        )}
      </States>
    </>
  );
}
