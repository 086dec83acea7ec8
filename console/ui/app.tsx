/** The frame: menu, banner, keyboard, palette, sign-in; inside it one view. */
import { IconError404 } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { act, get, whenSignInIsNeeded } from "./api.ts";
import { IS_EMBEDDED } from "./base.ts";
import { Boundary } from "./frame/boundary.tsx";
import { Help } from "./frame/help.tsx";
import { useKeyboard } from "./frame/keyboard.ts";
import { Navigation, useRail } from "./frame/navigation.tsx";
import { SignIn } from "./frame/sign-in.tsx";
import { viewAt } from "./frame/views.ts";
import { startLive, useHealth } from "./live.ts";
import { Empty, Head, Loading } from "./parts.tsx";
import { usePlace } from "./router.ts";
import { type Session, setSession, useSession } from "./session.ts";

const Palette = lazy(async () => ({ default: (await import("./frame/palette.tsx")).Palette }));

function Banner() {
  const health = useHealth();
  if (health.is === "well" || health.is === "connecting") return null;
  const text =
    health.is === "console lost"
      ? "The console does not answer. What you see may be old; trying again each second."
      : `The console cannot reach its store (${health.reason}). What you see may be old; trying again each second.`;
  return (
    <div className="banner" role="status">
      {text}
    </div>
  );
}

function Nowhere({ path }: { path: string }) {
  return (
    <>
      <Head title="Page not found" />
      <Empty
        title={`This console has no page at “${path}”.`}
        icon={IconError404}
        action={<a href="#/">Open overview</a>}
      >
        The link may be of another version, or mistyped.
      </Empty>
    </>
  );
}

function Frame({ leave }: { leave: (() => void) | undefined }) {
  const { path, query } = usePlace();
  const [isRail, toggleRail] = useRail();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const help = () => setHelpOpen(true);
  const palette = () => setPaletteOpen(true);
  useKeyboard({ help, palette });
  useEffect(startLive, []);
  // The page around this one may want to know; only one of our own origin is told.
  useEffect(() => {
    if (!IS_EMBEDDED || parent === window) return;
    parent.postMessage({ source: "cinnabar", view: path, key: query.get("key") }, location.origin);
  }, [path, query]);
  const at = viewAt(path);
  useEffect(() => {
    document.title = `${at?.title ?? "Page not found"} · Cinnabar`;
    document.querySelector(".links [aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <div className={IS_EMBEDDED ? "frame embedded" : isRail ? "frame with-rail" : "frame"}>
      {!IS_EMBEDDED && (
        <>
          <button type="button" className="skip" onClick={() => document.getElementById("main")?.focus()}>
            Skip to content
          </button>
          <Navigation at={at} leave={leave} isRail={isRail} toggleRail={toggleRail} help={help} palette={palette} />
        </>
      )}
      <main id="main" tabIndex={-1}>
        <Banner />
        <Boundary key={at?.path}>
          <Suspense fallback={<Loading />}>{at === undefined ? <Nowhere path={path} /> : <at.view />}</Suspense>
        </Boundary>
      </main>
      {isHelpOpen && <Help close={() => setHelpOpen(false)} />}
      {isPaletteOpen && (
        <Suspense>
          <Palette close={() => setPaletteOpen(false)} help={help} leave={leave} />
        </Suspense>
      )}
    </div>
  );
}

export function App() {
  const [door, setDoor] = useState<"unknown" | "open" | "shut">("unknown");
  const { locked, named } = useSession();
  const ask = () =>
    get<Session>("/api/session").then(
      (session) => {
        setSession(session);
        setDoor(session.signedIn ? "open" : "shut");
      },
      () => setDoor("open"),
    );
  useEffect(() => {
    whenSignInIsNeeded(() => setDoor("shut"));
    void ask();
  }, []);
  const leave = () => void act("POST", "/api/logout").finally(() => setDoor("shut"));
  if (door === "unknown") return null;
  return door === "shut" ? <SignIn isNamed={named} done={ask} /> : <Frame leave={locked ? leave : undefined} />;
}
