/**
 * What monitoring asks for: `/metrics` for Prometheus, from what INFO says on every primary; `/healthz` (the console lives) and `/readyz` (the
 * store behind it can be used). The last two ask for no password and say nothing but that. Metrics ask for the password, as a session or
 * as HTTP's basic authentication, which Prometheus can send.
 */
import { infoMetrics, type ScrapedNode } from "@cinnabar/engine";
import type { Health, HealthCode } from "cinnabar";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Target } from "./access/targets.ts";
import { Problem } from "./route.ts";

/** A store that has one of these is not asked anything; with others it still answers. */
const UNREADY: readonly HealthCode[] = ["LOADING", "CLUSTER_DOWN"];
/** Visitors without a password cannot make the store answer more often than this. */
const REMEMBERED_MS = 1_000;
const TIMEOUT_MS = 2_000;

export function serveMonitoring(
  app: FastifyInstance,
  target: Target,
  admits: (request: FastifyRequest) => Promise<boolean>,
): void {
  app.get("/healthz", async (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));

  const health = remembered(target);
  app.get("/readyz", async (_request, reply) => {
    const isReady = isUsable(await health());
    return reply
      .code(isReady ? 200 : 503)
      .header("cache-control", "no-store")
      .send({ status: isReady ? "ready" : "not-ready" });
  });

  app.get("/metrics", async (request, reply) => {
    if (!(await admits(request))) {
      reply.header("www-authenticate", 'Basic realm="cinnabar", charset="UTF-8"');
      throw new Problem(401, "SIGN_IN", "these metrics ask for the console's password, by basic authentication");
    }
    const { text, contentType } = infoMetrics(await scraped(target), request.headers.accept);
    return reply.header("cache-control", "no-store").type(contentType).send(text);
  });
}

const isUsable = ({ status, reasons }: Verdict): boolean =>
  status !== "unreachable" && !reasons.some(({ code }) => UNREADY.includes(code));

/** So much of a store's health decides. */
type Verdict = Pick<Health, "status" | "reasons">;

const UNREACHED: Verdict = { status: "unreachable", reasons: [] };

function remembered(target: Target): () => Promise<Verdict> {
  let last: { readonly atMs: number; readonly health: Promise<Verdict> } | null = null;
  return () => {
    if (!target.isOpen) return Promise.resolve(UNREACHED);
    const { store } = target;
    const atMs = store.clock.monotonicMs();
    if (last === null || atMs - last.atMs > REMEMBERED_MS) {
      last = { atMs, health: store.health({ timeoutMs: TIMEOUT_MS }) };
    }
    return last.health;
  };
}

/** What every primary says; one that cannot be reached is down, and so are all where nobody answers. */
async function scraped(target: Target): Promise<ScrapedNode[]> {
  if (!target.isOpen) return [{ labels: {}, info: null }];
  const { store } = target;
  const names = store.topology === "cluster" ? store.servers().map(({ server }) => server) : [null];
  const labels = (name: string | null) => (name === null ? {} : { node: name });
  try {
    const answers = await store.sendToAll(["INFO", "everything"]);
    return answers.map((info, at) => ({
      labels: labels(names.length === 1 ? names[0]! : (names[at] ?? String(at))),
      info: typeof info === "string" ? info : null,
    }));
  } catch {
    return names.map((name) => ({ labels: labels(name), info: null }));
  }
}
