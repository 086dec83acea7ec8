/** What monitoring gets: metrics for Prometheus, probes of health, and a dashboard that asks for nothing else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { open, type Store } from "cinnabar";
import parse from "parse-prometheus-text-format";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { backends, type Served, serve } from "./support.ts";

const DASHBOARD = join(import.meta.dirname, "../../docs/grafana/cinnabar.json");
const basic = (password: string) => `Basic ${Buffer.from(`prometheus:${password}`).toString("base64")}`;

async function ask(served: Served, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${served.url}${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Everything that a store can be asked about, so that no family is without samples. */
async function use(store: Store): Promise<void> {
  await store.set("key", "1", "PX", 1_000_000);
  await store.get("key");
  await store.get("none");
  await store.call("LPUSH", "key", "x").catch(() => {});
}

const wanted = (): Set<string> => {
  const text = readFileSync(DASHBOARD, "utf8");
  return new Set(text.match(/\b(?:redis|cinnabar)_[a-z_]+\b/g) ?? []);
};

describe.each(backends(installed("redis-server") ? startRedis : undefined))("on %s", (name, start) => {
  let store: Store;
  let stop: () => Promise<void>;
  let served: Served;
  let locked: Served;

  beforeAll(async () => {
    ({ store, stop } = await start());
    served = await serve(store);
    locked = await serve(store, { password: "correct horse" });
    await use(store);
  });

  afterAll(async () => {
    await served?.console.close();
    await locked?.console.close();
    await stop?.();
  });

  test("a Prometheus parser reads the metrics, and the dashboard asks for nothing else", async () => {
    const { status, headers, text } = await ask(served, "/metrics");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const found = new Set(parse(text).map((family) => family.name));
    expect(found).toContain("redis_up");
    const missing = [...wanted()].filter((metric) => !found.has(metric));
    // Only our own server has a heap.
    expect(missing.filter((metric) => name === "our store" || !metric.startsWith("cinnabar_"))).toEqual([]);
    expect(wanted().size).toBeGreaterThan(20);
    const open = await ask(served, "/metrics", { accept: "application/openmetrics-text; version=1.0.0" });
    expect(open.text.endsWith("# EOF\n")).toBe(true);
  });

  test("a console with a password gives metrics with the password, and health without", async () => {
    const refused = await ask(locked, "/metrics");
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain("Basic");
    expect(refused.text).not.toContain("redis_up");
    expect((await ask(locked, "/metrics", { authorization: basic("wrong") })).status).toBe(401);
    for (let scrape = 0; scrape < 8; scrape++) {
      expect((await ask(locked, "/metrics", { authorization: basic("correct horse") })).status).toBe(200);
    }
    expect(await ask(locked, "/healthz")).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect(await ask(locked, "/readyz")).toMatchObject({ status: 200, text: '{"status":"ready"}' });
  });

  test("guessing the password is limited", async () => {
    const guesses = await Promise.all(
      Array.from({ length: 6 }, () => ask(locked, "/metrics", { authorization: basic("guess") })),
    );
    expect(guesses.every(({ status }) => status === 401)).toBe(true);
    expect((await ask(locked, "/metrics", { authorization: basic("correct horse") })).status).toBe(401);
  });
});

describe.runIf(installed("redis-server"))("a server that is gone", () => {
  test("leaves a console that lives, is not ready, and says that the server is down", async () => {
    const server = await startRedis();
    const store = await open(`redis://127.0.0.1:${server.port}`, { retryMs: 0, connectTimeoutMs: 1_000 });
    const served = await serve(store);
    expect((await ask(served, "/readyz")).status).toBe(200);
    await server.kill();
    await expect.poll(async () => (await ask(served, "/readyz")).status).toBe(503);
    const { text } = await ask(served, "/readyz");
    expect(text).toBe('{"status":"not-ready"}');
    expect((await ask(served, "/healthz")).status).toBe(200);
    expect(parse((await ask(served, "/metrics")).text)).toMatchObject([
      { name: "redis_up", metrics: [{ value: "0" }] },
    ]);
    await served.console.close();
    await store.close();
    await server.stop();
  });
});
