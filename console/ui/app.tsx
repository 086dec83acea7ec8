/** The frame: menu, banner, keyboard, sign-in; inside it one view. */
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { act, type Failure, get, whenSignInIsNeeded } from "./api.ts";
import { startLive, useHealth } from "./live.ts";
import { Dialog } from "./parts.tsx";
import { go, usePlace } from "./router.ts";
import { choose, useTheme } from "./theme.ts";
import { EXAMPLE_VIEWS } from "./views/examples/index.ts";
import { Caches } from "./views/operate/caches.tsx";
import { ChatsView } from "./views/operate/chats.tsx";
import { Clients } from "./views/operate/clients.tsx";
import { CommandLine } from "./views/operate/command-line.tsx";
import { Configuration } from "./views/operate/configuration.tsx";
import { Files } from "./views/operate/files.tsx";
import { Indexes } from "./views/operate/indexes.tsx";
import { Keys } from "./views/operate/keys.tsx";
import { Locks } from "./views/operate/locks.tsx";
import { Measures } from "./views/operate/measures.tsx";
import { Overview } from "./views/operate/overview.tsx";
import { Queues } from "./views/operate/queues.tsx";
import { RateLimits } from "./views/operate/rate-limits.tsx";
import { Scripts } from "./views/operate/scripts.tsx";
import { Sessions } from "./views/operate/sessions.tsx";
import { Shards } from "./views/operate/shards.tsx";
import { SlowLog } from "./views/operate/slow-log.tsx";
import { TimelinesView } from "./views/operate/timelines.tsx";

const VIEWS = [
  { path: "", key: "o", title: "Overview", view: Overview },
  { path: "keys", key: "k", title: "Keys", view: Keys },
  { path: "command", key: "c", title: "Command line", view: CommandLine },
  { path: "slow", key: "s", title: "Slow log", view: SlowLog },
  { path: "clients", key: "l", title: "Clients", view: Clients },
  { path: "config", key: "n", title: "Configuration", view: Configuration },
  { path: "files", key: "f", title: "Snapshots and files", view: Files },
  { path: "scripts", key: "r", title: "Scripts", view: Scripts },
  { path: "queues", key: "q", title: "Queues", view: Queues },
  { path: "locks", key: "x", title: "Locks", view: Locks },
  { path: "sessions", key: "i", title: "Sessions", view: Sessions },
  { path: "caches", key: "h", title: "Caches", view: Caches },
  { path: "limits", key: "t", title: "Rate limits", view: RateLimits },
  { path: "chats", key: "a", title: "Chats", view: ChatsView },
  { path: "timelines", key: "w", title: "Timelines", view: TimelinesView },
  { path: "indexes", key: "b", title: "Indexes", view: Indexes },
  { path: "shards", key: "d", title: "Shards", view: Shards },
  { path: "measures", key: "m", title: "Measures", view: Measures },
] as const;

const COMPONENTS_FROM = VIEWS.findIndex(({ path }) => path === "queues");

interface View {
  readonly path: string;
  readonly key: string;
  readonly title: string;
}

/** The view of a place: its own, or that of its first part. */
const viewAt = (path: string) =>
  EXAMPLE_VIEWS.find((each) => each.path === path) ??
  VIEWS.find((each) => each.path === path.split("/")[0]) ??
  EXAMPLE_VIEWS.find((each) => path.startsWith(`${each.path}/`)) ??
  VIEWS[0];

function Banner() {
  const health = useHealth();
  if (health.is === "well" || health.is === "connecting") return null;
  const text =
    health.is === "console lost"
      ? "The console does not answer. What you see may be old; trying again each second."
      : `The console cannot reach its store (${health.reason}). What you see may be old; trying again each second.`;
  return (
    <div class="banner" role="status">
      {text}
    </div>
  );
}

function Menu({ at, close, leave }: { at: string; close: () => void; leave: (() => void) | undefined }) {
  const theme = useTheme();
  const link = ({ path, title, key }: View) => (
    <a key={path} data-key={key} href={`#/${path}`} aria-current={at === path ? "page" : undefined} onClick={close}>
      {title}
    </a>
  );
  return (
    <>
      {VIEWS.slice(0, COMPONENTS_FROM).map(link)}
      <h2>Components</h2>
      {VIEWS.slice(COMPONENTS_FROM).map(link)}
      <h2>Examples</h2>
      {EXAMPLE_VIEWS.map((each) => link({ ...each, key: `e ${each.key}` }))}
      <div class="foot">
        <button type="button" class="plain" onClick={() => choose(theme === "dark" ? "light" : "dark")}>
          {theme === "dark" ? "Light" : "Dark"}
        </button>
        {leave && (
          <button type="button" class="plain" onClick={leave}>
            Sign out
          </button>
        )}
        <a class="api" href="/api/openapi.json" target="_blank" rel="noreferrer">
          API
        </a>
      </div>
    </>
  );
}

function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keyboard" close={close}>
      <dl class="help">
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>search in the view</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>this help</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>close, leave a field</dd>
        {VIEWS.map(({ key, title }) => (
          <>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </>
        ))}
        {EXAMPLE_VIEWS.map(({ key, title }) => (
          <>
            <dt>
              <kbd>e</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </>
        ))}
        <dt>
          <kbd>t</kbd>
        </dt>
        <dd>commands that an example sent</dd>
      </dl>
      <div class="row end">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);

/** `/`, `?`, and `g` or `e` with a letter; nothing while somebody types or a dialog is open. */
function useKeyboard(help: () => void): void {
  // With the first picture, not after it: who sees the page may type.
  useLayoutEffect(() => {
    let going: readonly View[] | null = null;
    const pressed = (event: KeyboardEvent) => {
      if (event.key === "Escape" && isField(event.target)) (event.target as HTMLElement).blur();
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isField(event.target) ||
        document.querySelector("dialog[open]")
      )
        return;
      if (going) {
        const view = going.find(({ key }) => key === event.key);
        going = null;
        if (view === undefined) return;
        event.preventDefault();
        go(view.path);
      } else if (event.key === "g") going = VIEWS;
      else if (event.key === "e") going = EXAMPLE_VIEWS;
      else if (event.key === "?") help();
      else if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLElement>("[data-search]")?.focus();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

function SignIn({ done }: { done: () => void }) {
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget as HTMLFormElement).get("password"));
    try {
      await act("POST", "/api/login", { password });
      done();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>Cinnabar</h1>
        <label>
          Password
          <input type="password" name="password" autocomplete="current-password" required autofocus />
        </label>
        {error && <p role="alert">{error.message}</p>}
        <button type="submit" class="main">
          Sign in
        </button>
      </form>
    </main>
  );
}

function Frame({ leave }: { leave: (() => void) | undefined }) {
  const { path } = usePlace();
  const [menu, setMenu] = useState(false);
  const [help, setHelp] = useState(false);
  useKeyboard(() => setHelp(true));
  useEffect(startLive, []);
  const at = viewAt(path);
  useEffect(() => {
    document.title = `${at.title} · Cinnabar`;
    document.querySelector(".links [aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <nav class={menu ? "menu open" : "menu"} aria-label="Views">
        <div class="brand">
          <a href="#/">Cinnabar</a>
          <button type="button" class="plain" aria-label="Keyboard help" onClick={() => setHelp(true)}>
            ?
          </button>
          <button type="button" class="plain burger" aria-expanded={menu} onClick={() => setMenu(!menu)}>
            Menu
          </button>
        </div>
        <div class="links">
          <Menu at={at.path} close={() => setMenu(false)} leave={leave} />
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        <Banner />
        <at.view />
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </div>
  );
}

export function App() {
  const [door, setDoor] = useState<"unknown" | "open" | "shut">("unknown");
  const [locked, setLocked] = useState(false);
  useEffect(() => {
    whenSignInIsNeeded(() => setDoor("shut"));
    get<{ signedIn: boolean; locked: boolean }>("/api/session").then(
      (session) => {
        setLocked(session.locked);
        setDoor(session.signedIn ? "open" : "shut");
      },
      () => setDoor("open"),
    );
  }, []);
  const leave = () => void act("POST", "/api/logout").finally(() => setDoor("shut"));
  if (door === "unknown") return null;
  return door === "shut" ? <SignIn done={() => setDoor("open")} /> : <Frame leave={locked ? leave : undefined} />;
}
