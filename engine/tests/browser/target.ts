/**
 * The engine in Chromium, as a target of the comparisons: a page opens it, and a WebSocket for each connection that a test asks for,
 * whose bytes go to the engine over a MessagePort and back.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { createWebSocketStream, type WebSocket, WebSocketServer } from "ws";
import { launch, MOVED_DATES } from "../../../console/tests/chromium.ts";
import { browserSources } from "../../../scripts/browser-sources.js";
import { type Target, targetOf } from "../conformance/target.ts";
import { Wire } from "../conformance/wire.ts";

const ENTRY = fileURLToPath(new URL("../../src/index.browser.ts", import.meta.url));

/** The engine as a page loads it: by path, what is at /engine.js and the parts that are loaded later. */
export async function bundle(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    entryPoints: [{ in: ENTRY, out: "engine" }],
    outdir: "/",
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2023",
    minify: true,
    write: false,
    logLevel: "error",
    plugins: [browserSources],
  });
  return new Map(outputFiles.map(({ path, text }) => [path, text]));
}

/** Opens a WebSocket for each number that it gets and serves the client at the other end; `open` makes a new store first. */
const WORKER = `
  import "/dates.js";
  import { Engine } from "/engine.js";
  let engine;
  const origin = location.origin.replace("http", "ws");
  const control = new WebSocket(origin + "/control");
  control.onmessage = async ({ data }) => {
    if (data === "open") {
      await engine?.close();
      engine = await Engine.open({ config: { "enable-debug-command": "yes" } });
      control.send("opened");
      return;
    }
    const socket = new WebSocket(origin + "/client/" + data);
    socket.binaryType = "arraybuffer";
    const { port1, port2 } = new MessageChannel();
    engine.serve(port1);
    socket.onmessage = ({ data }) => port2.postMessage(data);
    socket.onclose = () => port2.postMessage(null);
    port2.onmessage = ({ data }) => (data === null ? socket.close() : socket.send(data));
  };
`;

const page = (where: Where): string =>
  `<!doctype html><meta charset="utf-8"><title>Cinnabar</title><script type="module">${
    where === "page" ? WORKER : 'new Worker("/worker.js", { type: "module" });'
  }</script>`;

/** On the page itself, or in a worker of it. */
type Where = "page" | "worker";

export interface BrowserStore {
  /** A store that nobody has used. */
  open(): Promise<Target>;
  close(): Promise<void>;
}

export async function browserStore(where: Where): Promise<BrowserStore> {
  const engine = await bundle();
  const server = createServer(({ url }, response) => {
    const script = url === "/worker.js" ? WORKER : url === "/dates.js" ? MOVED_DATES : engine.get(url ?? "");
    response
      .setHeader("content-type", script === undefined ? "text/html" : "text/javascript")
      .end(script ?? page(where));
  });
  const sockets = new WebSocketServer({ server, maxPayload: 2 ** 30 });
  const waiting = new Map<string, (socket: WebSocket) => void>();
  const arrival = (path: string) => new Promise<WebSocket>((resolve) => waiting.set(path, resolve));
  const controlled = arrival("/control");
  sockets.on("connection", (socket, { url }) => waiting.get(url ?? "")?.(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await launch();
  const tab = await browser.newPage();
  const failed = new Promise<never>((_, reject) => tab.on("pageerror", reject));
  failed.catch(() => {});
  await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const control = await Promise.race([controlled, failed]);
  return {
    async open() {
      const opened = new Promise((resolve) => control.once("message", resolve));
      control.send("open");
      await opened;
      let ports = 0;
      const connect = async (): Promise<Wire> => {
        const number = ++ports;
        const arrived = arrival(`/client/${number}`);
        control.send(String(number));
        return new Wire(createWebSocketStream(await arrived), `port:${number}`);
      };
      return targetOf("the browser", connect, async () => {});
    },
    async close() {
      await browser.close();
      sockets.close();
      server.close();
    },
  };
}
