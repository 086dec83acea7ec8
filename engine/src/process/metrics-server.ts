/**
 * The port for monitoring: `/metrics` for Prometheus, `/healthz` (the process lives) and `/readyz` (it can serve).
 * It is off unless `metrics-port` is set, and listens on `metrics-bind`, the loopback address by default: it asks for no password.
 * Readiness says yes or no; why not is in the log and in the metrics.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ConfigError } from "../config/config.ts";
import type { ConfigValues } from "../config/directives.ts";
import type { Engine } from "../core/engine.ts";
import { messageOf } from "../lib/caught.ts";
import { infoFields, unreadiness } from "../lib/info-fields.ts";
import { infoMetrics, type ScrapedNode } from "../lib/info-metrics.ts";

/** What is watched: one engine, or the nodes of a Cluster by name. */
type Watched = () => readonly { readonly name: string | null; readonly core: Engine }[];

const PLAIN = "text/plain; charset=utf-8";
const LONGEST_REQUEST_MS = 10_000;

/** The port that it listens on. Rejects where the address cannot be used. */
async function serveMetrics(watched: Watched, host: string, port: number): Promise<number> {
  const server = createServer({ maxHeaderSize: 8_192, requestTimeout: LONGEST_REQUEST_MS }, (request, response) =>
    answer(watched, request, response),
  );
  await listening(server, host, port);
  // It serves beside the store and ends with it.
  server.unref();
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function answer(watched: Watched, request: IncomingMessage, response: ServerResponse): void {
  const send = (status: number, text: string, contentType = PLAIN): void => {
    response.writeHead(status, { "content-type": contentType, "cache-control": "no-store" });
    response.end(request.method === "HEAD" ? undefined : text);
  };
  const [path] = (request.url ?? "").split("?");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    send(405, "only GET\n");
  } else if (path === "/metrics") {
    const nodes = watched().map(
      (each): ScrapedNode => ({ labels: labelsOf(each.name), info: each.core.info(["everything"]) }),
    );
    const { text, contentType } = infoMetrics(nodes, request.headers.accept);
    send(200, text, contentType);
  } else if (path === "/healthz") {
    send(200, "ok\n");
  } else if (path === "/readyz") {
    const isReady = watched().every(({ core }) => unreadiness(infoFields(core.info(["everything"]))).length === 0);
    send(isReady ? 200 : 503, isReady ? "ready\n" : "not ready\n");
  } else {
    send(404, "there are /metrics, /healthz and /readyz\n");
  }
}

/** As the directives say; where they name no port, there is none. */
export async function serveMetricsAs(
  values: Pick<ConfigValues, "metrics-port" | "metrics-bind">,
  watched: Watched,
  log: (text: string) => void,
): Promise<void> {
  const { "metrics-port": port, "metrics-bind": host } = values;
  if (port === 0) return;
  try {
    log(
      `Metrics on http://${host.includes(":") ? `[${host}]` : host}:${await serveMetrics(watched, host, port)}/metrics`,
    );
  } catch (error) {
    throw new ConfigError(`metrics-port ${port} on ${host} cannot be opened: ${messageOf(error)}`);
  }
}

const labelsOf = (name: string | null): Readonly<Record<string, string>> => (name === null ? {} : { node: name });
