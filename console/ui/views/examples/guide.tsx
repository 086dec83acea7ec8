/** How an example works: what you see, which component does it, which keys and commands are behind it, and its source. */
import type { GuideStep } from "../../../src/examples/guides.ts";
import { useLoad } from "../../load.ts";
import { Dialog, Scroll, States } from "../../parts.tsx";
import { useTraces } from "./traces.ts";

interface Answer {
  readonly about: string;
  readonly components: readonly string[];
  readonly steps: readonly GuideStep[];
  readonly source: { readonly path: string; readonly code: string };
}

/** Commands and scripts that this page has sent, the most frequent first. */
function useCommands(name: string): readonly [string, number][] {
  const counts = new Map<string, number>();
  for (const { path, trips, times } of useTraces()) {
    if (!path.startsWith(`/api/examples/${name}/`)) continue;
    for (const { commands } of trips) {
      for (const command of commands) counts.set(command.name, (counts.get(command.name) ?? 0) + times);
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

export function Guide({ name, title, close }: { name: string; title: string; close: () => void }) {
  const loaded = useLoad<Answer>(`/api/examples/${name}/guide`);
  const commands = useCommands(name);
  return (
    <Dialog title={`How ${title} works`} close={close} size="lg">
      <States of={loaded}>
        {({ about, steps, source }) => (
          <div className="guide">
            <p>{about}</p>
            <table className="rows" aria-label="Guide">
              <thead>
                <tr>
                  <th scope="col">What you see</th>
                  <th scope="col">Component</th>
                  <th scope="col">Keys</th>
                </tr>
              </thead>
              <tbody>
                {steps.map((step, nth) => (
                  <tr key={nth}>
                    <td data-title="What you see">{step.see}</td>
                    <td data-title="Component">
                      <code>cinnabar/{step.component}</code>
                    </td>
                    <td data-title="Keys">
                      <code>{step.keys}:*</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <h3>Commands that this page has sent</h3>
            {commands.length === 0 ? (
              <p className="dim">None yet: use the page, and look again.</p>
            ) : (
              <p>
                {commands.map(([command, count]) => (
                  <span key={command} className="tag">
                    {command} × {count}
                  </span>
                ))}
              </p>
            )}
            <details>
              <summary>
                Source: <code>{source.path}</code>
              </summary>
              <Scroll label="Source">
                <pre className="source">{source.code}</pre>
              </Scroll>
            </details>
          </div>
        )}
      </States>
    </Dialog>
  );
}
