/** The cache handlers and sessions for Next.js, by Next's own types. A whole application is in examples/next.test.ts. */
import type { CacheEntry, CacheHandler } from "next/dist/server/lib/cache-handlers/types.js";
import { expect, test } from "vitest";
import { Sessions } from "../../src/components/sessions/index.ts";
import { ConnectionError } from "../../src/index.ts";
import { incrementalCacheHandler, useCacheHandler, withSession } from "../../src/integrations/next/index.ts";
import { describeBackends } from "../kit/index.ts";

const streamOf = (text: string): ReadableStream<Uint8Array> =>
  new Response(text).body as unknown as ReadableStream<Uint8Array>;

function entry(text: string, timestamp: number, tags: string[] = []): CacheEntry {
  return { value: streamOf(text), tags, stale: 30, timestamp, expire: 3_600, revalidate: 60 };
}

const textOf = async (found: CacheEntry | undefined): Promise<string | undefined> =>
  found === undefined ? undefined : new Response(found.value as never).text();

describeBackends("Next.js", { backends: ["embedded", "redis", "cluster"], audit: "tags" }, (backend) => {
  const wallMs = (): number => backend.store.clock.wallMs();

  test("`use cache` entries are those of all servers, until a tag of theirs expires", async () => {
    const one: CacheHandler = useCacheHandler(() => backend.store);
    const other: CacheHandler = useCacheHandler(() => backend.open());
    expect(await one.get("a", [])).toBeUndefined();
    await one.set("a", Promise.resolve(entry("hello", wallMs() - 10, ["products"])));
    const found = await other.get("a", []);
    expect(found).toMatchObject({ tags: ["products"], stale: 30, expire: 3_600, revalidate: 60 });
    expect(await textOf(found)).toBe("hello");
    expect(await textOf(await other.get("a", []))).toBe("hello");
    expect(await one.getExpiration(["products"])).toBe(0);
    // Stale first: it is given once more, and made anew.
    await other.updateTags(["products"], { expire: 3_600 });
    expect(await one.get("a", [])).toMatchObject({ revalidate: -1 });
    await other.updateTags(["products"]);
    expect(await one.get("a", [])).toBeUndefined();
    expect(await one.getExpiration(["products", "others"])).toBeGreaterThan(0);
    await one.set("a", Promise.resolve(entry("again", wallMs() + 60_000, ["products"])));
    expect(await textOf(await other.get("a", []))).toBe("again");
    await one.set("soft", Promise.resolve(entry("soft", wallMs() - 10)));
    await other.updateTags(["/path"]);
    expect(await one.get("soft", ["/path"])).toBeUndefined();
    await one.refreshTags();
  });

  test("who asks while an entry is written waits for it; a broken one is not kept", async () => {
    const handler = useCacheHandler(() => backend.store);
    let finish = (_entry: CacheEntry): void => {};
    const setting = handler.set(
      "slow",
      new Promise<CacheEntry>((resolve) => {
        finish = resolve;
      }),
    );
    const asking = handler.get("slow", []);
    finish(entry("done", wallMs()));
    expect(await textOf((await asking) as CacheEntry)).toBe("done");
    await setting;
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("broken")) });
    await expect(handler.set("bad", Promise.resolve({ ...entry("", wallMs()), value: broken }))).rejects.toThrow();
    expect(await handler.get("bad", [])).toBeUndefined();
  });

  test("pages of ISR keep their bytes, maps and lifetimes, and go with their tags", async () => {
    const Handler = incrementalCacheHandler(() => backend.store, { prefix: "build1" });
    const [one, other] = [new Handler(), new Handler()];
    const page = {
      kind: "APP_PAGE",
      html: "<p>hello</p>",
      rscData: Buffer.from([0, 255]),
      segmentData: new Map([["/a", Buffer.from("segment")]]),
      headers: { "x-next-cache-tags": "products,_N_T_/page" },
      status: 200,
    };
    const cacheControl = { revalidate: 60, expire: 3_600 };
    await one.set("/page", page, { cacheControl });
    const found = await other.get("/page");
    expect(found).toMatchObject({ value: page, cacheControl });
    expect(Math.abs(found!.lastModified - wallMs())).toBeLessThan(3_600_000);
    await other.revalidateTag("products", { expire: 3_600 });
    expect((await one.get("/page"))?.lastModified).toBe(1);
    await other.revalidateTag(["_N_T_/page"]);
    expect(await one.get("/page")).toBeNull();
    await one.set("fetch", { kind: "FETCH", data: { body: "x" }, revalidate: 5 }, { tags: ["api"] });
    expect(await other.get("fetch", { kind: "FETCH", softTags: [] })).not.toBeNull();
    await one.set("fetch", null);
    expect(await other.get("fetch")).toBeNull();
    expect(await new (incrementalCacheHandler(() => backend.store, { prefix: "build2" }))().get("/page")).toBeNull();
  });

  test("a store that cannot be reached is a miss, and is told", async () => {
    const told: unknown[] = [];
    const away = new ConnectionError("away", { maybeExecuted: false });
    const handler = useCacheHandler(() => Promise.reject(away), { onError: (error) => told.push(error) });
    expect(await handler.get("a", [])).toBeUndefined();
    await handler.set("a", Promise.resolve(entry("x", wallMs())));
    expect(told).toEqual([away, away]);
  });

  test("a route handler has the session of its request, and its answer the cookie", async () => {
    const route = withSession(new Sessions(backend.store), async (request, session) => {
      if (request.method === "POST") await session.signIn("ann");
      return Response.json({ user: session.user }, { headers: { "set-cookie": "mine=1" } });
    });
    const signedIn = await route(new Request("http://localhost/", { method: "POST" }), {});
    const [mine, ours] = signedIn.headers.getSetCookie();
    expect([mine, ours]).toEqual(["mine=1", expect.stringMatching(/^sid=.*HttpOnly; SameSite=Lax$/)]);
    const cookie = ours!.split(";")[0]!;
    const again = await route(new Request("http://localhost/", { headers: { cookie } }), {});
    expect(await again.json()).toEqual({ user: "ann" });
    expect(again.headers.getSetCookie()).toEqual(["mine=1"]);
    const secure = await route(new Request("https://localhost/", { method: "POST" }), {});
    expect(secure.headers.getSetCookie()[1]).toContain("; Secure");
  });
});
