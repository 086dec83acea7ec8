/**
 * The key browser of the console by itself, for a frame in a page that has its own store: the playground of the documentation. The
 * page hands it a port to the store's worker, where the console's routes answer (src/in-page/), and tells it when to look again.
 * It asks no server for anything but these files.
 */
// First of all: what follows may refine it.
import { Look } from "../mantine.tsx";
import "../tokens.css";
import "../style.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { type Answered, type Asked, LISTENING, type Shown } from "../../src/in-page/messages.ts";
import { answerBy } from "../api.ts";
import { Boundary } from "../frame/boundary.tsx";
import { useSearchKey } from "../frame/search-key.ts";
import { lookAgain } from "../live.ts";
import { queries } from "../load.ts";
import { go } from "../router.ts";
import { showTheme } from "../theme.ts";
import { Keys } from "../views/operate/keys.tsx";

/** Where requests go, and which of them wait for an answer. */
class Line {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (answered: Answered) => void>();
  #count = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<Answered>) => {
      this.#waiting.get(data.id)?.(data);
      this.#waiting.delete(data.id);
    };
  }

  ask(asked: Omit<Asked, "id">): Promise<Answered> {
    const id = ++this.#count;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#port.postMessage({ id, ...asked } satisfies Asked);
    });
  }

  /** The store is gone, and nobody else answers for it. */
  close(): void {
    const body = JSON.stringify({ code: "LOST", detail: "this store was emptied meanwhile" });
    for (const [id, answer] of this.#waiting) answer({ id, status: 503, body });
    this.#waiting.clear();
    this.#port.postMessage(null);
    this.#port.close();
  }
}

let line: Line | undefined;
let db = 0;

answerBy(async (path, { method = "GET", body }) => {
  const answered = await line!.ask({ method, path, body: typeof body === "string" ? body : null, db });
  return new Response(answered.body, { status: answered.status });
});

function App() {
  useSearchKey();
  return (
    <main id="main" tabIndex={-1}>
      <Boundary>
        <Keys />
      </Boundary>
    </main>
  );
}

const root = createRoot(document.getElementById("app")!);
const app = (
  <QueryClientProvider client={queries}>
    <Look>
      <div className="frame embedded">
        <App />
      </div>
    </Look>
  </QueryClientProvider>
);

document.documentElement.dataset.without = "files";
addEventListener("message", ({ data, source, origin, ports: [port] }: MessageEvent<Shown>) => {
  if (source !== parent || origin !== location.origin) return;
  showTheme(data.theme);
  db = data.db;
  if (data.key === null) go("keys");
  else if (data.key !== undefined) go("keys", { key: data.key });
  if (port !== undefined) {
    line?.close();
    line = new Line(port);
    root.render(app);
  }
  lookAgain();
});
parent.postMessage(LISTENING, location.origin);
