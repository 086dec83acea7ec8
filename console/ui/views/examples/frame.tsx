/** What every example page has: title, who you are, sample data, a guide, and below it the drawer with the commands it sent. */
import { type ReactNode, useState } from "react";
import { Head, Trouble } from "../../parts.tsx";
import { Drawer } from "./drawer.tsx";
import { Guide } from "./guide.tsx";
import { LookOf, lineOf, Mark } from "./look.tsx";
import { SampleButtons, SampleOf, useSample } from "./sample.tsx";
import { useVisitor, VisitorButton } from "./visitor.tsx";

interface Props {
  /** As the server has it: /api/examples/<name>/… */
  readonly name: string;
  readonly title: string;
  readonly note?: ReactNode;
  /** Called when everything may be different: the sample was made or removed, or the visitor is somebody else. */
  readonly changed: () => void;
  /** Instead of the visitor's name, where an example has its own way to know people. */
  readonly who?: ReactNode;
  readonly children: ReactNode;
}

export function ExamplePage({ name, title, note, changed, who, children }: Props) {
  const sample = useSample(name, changed);
  const visitor = useVisitor();
  const [isGuideOpen, setGuideOpen] = useState(false);
  return (
    <SampleOf.Provider value={sample}>
      <LookOf.Provider value={name}>
        <div className="example" data-look={name}>
          <div className="example-body">
            <Head title={title} note={note} mark={<Mark of={name} />} line={lineOf(name)}>
              {who ?? <VisitorButton changed={changed} />}
              <SampleButtons title={title} />
              <button type="button" onClick={() => setGuideOpen(true)}>
                How it works
              </button>
            </Head>
            {sample.error && (
              <div className="notice" role="alert">
                {sample.error.message}
                <button type="button" className="plain" aria-label="Close" onClick={sample.forget}>
                  ×
                </button>
              </div>
            )}
            {visitor.name !== undefined && children}
            {visitor.error && <Trouble error={visitor.error} again={visitor.again} />}
          </div>
          <Drawer name={name} />
          {isGuideOpen && <Guide name={name} title={title} close={() => setGuideOpen(false)} />}
        </div>
      </LookOf.Provider>
    </SampleOf.Provider>
  );
}
