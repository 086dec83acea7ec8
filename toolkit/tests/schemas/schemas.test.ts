/** Schemas of zod, valibot and arktype, unchanged: in queues, sessions, caches and configuration, with the types that follow. */
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { Cache } from "../../src/components/cache/index.ts";
import { Config } from "../../src/components/config/index.ts";
import { Queue, Worker } from "../../src/components/queues/index.ts";
import { Sessions } from "../../src/components/sessions/index.ts";
import { type InferInput, type InferOutput, InputError, SchemaError, type StandardSchema } from "../../src/index.ts";
import { describeBackends } from "../kit/index.ts";

interface Mail {
  to: string;
  copies: number;
}

const zodMail = z.object({ to: z.string().min(3), copies: z.number().int() });
const valibotMail = v.object({ to: v.pipe(v.string(), v.minLength(3)), copies: v.pipe(v.number(), v.integer()) });
const arktypeMail = type({ to: "string >= 3", copies: "number.integer" });

/** A mail is the same in each; the annotation is part of the test. */
const MAILS: readonly (readonly [string, StandardSchema<Mail>])[] = [
  ["zod", zodMail],
  ["valibot", valibotMail],
  ["arktype", arktypeMail],
];

const good: Mail = { to: "ann", copies: 1 };
const bad = { to: "ann", copies: "many" } as unknown as Mail;

/** Whose value differs before and after. */
const withDefault = z.object({ to: z.string(), at: z.coerce.date(), copies: z.number().default(1) });

describe("types", () => {
  test("are inferred from each library", () => {
    expectTypeOf<InferOutput<typeof zodMail>>().toEqualTypeOf<Mail>();
    expectTypeOf<InferOutput<typeof valibotMail>>().toEqualTypeOf<Mail>();
    expectTypeOf<InferOutput<typeof arktypeMail>>().toEqualTypeOf<Mail>();
    expectTypeOf<InferInput<typeof withDefault>["copies"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<InferOutput<typeof withDefault>["copies"]>().toEqualTypeOf<number>();
  });
});

describeBackends("schemas", { backends: ["embedded", "redis"], audit: "tags" }, (backend) => {
  describe.each(MAILS)("of %s", (_library, schema) => {
    test("refuse the data of a job before it is added, with the issues", async () => {
      const mails = new Queue(backend.store, "mails", { schema });
      expectTypeOf(mails.add).parameter(0).toEqualTypeOf<Mail>();
      const error = await mails.add(bad).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SchemaError);
      expect(error).toMatchObject({ code: "SCHEMA", issues: [{ message: expect.any(String) }] });
      expect((error as Error).message).toMatch(/^the data of a job does not match its schema: .*copies/);
      await expect(mails.addMany([{ data: good }, { data: bad }])).rejects.toThrow(SchemaError);
      expect(await mails.counts()).toMatchObject({ waiting: 0 });
      const { id } = await mails.add(good);
      await expect(mails.update(id, { data: bad })).rejects.toThrow(SchemaError);
      expect((await mails.get(id))?.data).toEqual(good);
    });

    test("fail a job with stored data or a result that does not match", async () => {
      const loose = new Queue<unknown, unknown>(backend.store, "mails");
      const mails = new Queue(backend.store, "mails", { schema, resultSchema: schema });
      const handled: Mail[] = [];
      await using worker = new Worker(mails, ({ data }) => {
        expectTypeOf(data).toEqualTypeOf<Mail>();
        handled.push(data);
        return data.to === "bad result" ? bad : data;
      });
      const seen: unknown[] = [];
      worker.on("failed", (job) => seen.push(job.data));
      worker.start();
      const wrong = await loose.addAndWait({ to: "x", copies: 1 });
      expect(wrong).toMatchObject({ status: "dead", error: { name: "SchemaError", code: "SCHEMA" } });
      expect(handled).toEqual([]);
      expect(seen).toEqual([{ to: "x", copies: 1 }]);
      const answered = await mails.addAndWait({ to: "bad result", copies: 2 });
      expect(answered).toMatchObject({ status: "dead", error: { name: "SchemaError" } });
      const outcome = await mails.addAndWait(good);
      if (outcome.status === "done") expectTypeOf(outcome.result).toEqualTypeOf<Mail | null>();
      expect(outcome).toEqual({ status: "done", result: good });
    });

    test("let no wrong value into a cache, and take a stored one that is wrong for a miss", async () => {
      const cache = new Cache(backend.store, "mails", { schema, staleMs: 60_000 });
      const old = new Cache<unknown>(backend.store, "mails", { staleMs: 60_000 });
      expectTypeOf(cache.getEntry).returns.resolves.toHaveProperty("value").toEqualTypeOf<Mail>();
      await expect(cache.set("a", bad)).rejects.toThrow(SchemaError);
      await expect(cache.get("a", () => bad)).rejects.toThrow(SchemaError);
      expect(await cache.get("a")).toBeNull();
      await old.set("a", { to: "old form" });
      expect(await cache.get("a")).toBeNull();
      expect(await cache.get("a", () => good)).toEqual(good);
      expect(await old.get("a")).toEqual(good);
    });

    test("keep a configuration that does not match from becoming current", async () => {
      await using config = new Config(backend.store, "mail", { defaults: good, schema });
      expectTypeOf(config.value).toEqualTypeOf<Mail>();
      await config.start();
      await expect(config.set(bad)).rejects.toThrow(/the new value is not valid.*copies/);
      await config.set({ to: "ben", copies: 2 });
      expect(config.value).toEqual({ to: "ben", copies: 2 });
      await using other = new Config<unknown>(backend.store, "mail", { defaults: {}, validate: (value) => value });
      await other.set({ to: "broken" });
      await config.refresh();
      expect(config.inspect()).toMatchObject({ state: "invalid" });
      expect(config.value).toEqual({ to: "ben", copies: 2 });
      const defaults = bad;
      expect(() => new Config(backend.store, "mail", { defaults, schema })).toThrow(/the defaults are not valid/);
    });
  });

  test("type and check each piece of a session's data", async () => {
    const sessions = new Sessions(backend.store, {
      schema: {
        theme: z.enum(["dark", "light"]),
        visits: v.pipe(v.number(), v.integer()),
        since: z.coerce.date(),
        tags: type("string[]"),
      },
    });
    const { token, data } = await sessions.create({ data: { theme: "dark", since: "2026-01-02" } });
    expectTypeOf(data.theme).toEqualTypeOf<"dark" | "light" | undefined>();
    expectTypeOf(data.visits).toEqualTypeOf<number | undefined>();
    expectTypeOf(data.since).toEqualTypeOf<Date | undefined>();
    expectTypeOf(data.tags).toEqualTypeOf<string[] | undefined>();
    expect(data).toEqual({ theme: "dark", since: new Date("2026-01-02") });
    await expect(sessions.update(token, { visits: 1.5 })).rejects.toThrow(/^"visits" does not match its schema/);
    await expect(sessions.update(token, { theem: "dark" } as object)).rejects.toThrow(/did you mean "theme"/);
    await sessions.update(token, { visits: 2, tags: ["a"], theme: undefined });
    expect((await sessions.load(token))?.data).toEqual({ visits: 2, tags: ["a"], since: new Date("2026-01-02") });
    // Another program has other pieces.
    const others = new Sessions(backend.store);
    await others.update(token, { visits: "many", cart: 1 });
    expect((await sessions.load(token))?.data).toEqual({ tags: ["a"], since: new Date("2026-01-02") });
    const signedIn = await sessions.signIn(token, "ann");
    expect(signedIn.data.tags).toEqual(["a"]);
  });

  test("give handlers what the schema makes of the data, and callers what it makes of the result", async () => {
    const mails = new Queue(backend.store, "mails", {
      schema: withDefault,
      resultSchema: z.object({ sent: z.string().transform((text) => text.length) }),
    });
    expectTypeOf(mails.add).parameter(0).toEqualTypeOf<InferInput<typeof withDefault>>();
    await using worker = new Worker(mails, ({ data }) => {
      expectTypeOf(data.at).toEqualTypeOf<Date>();
      return { sent: `${data.to} ${data.copies} ${data.at.toISOString()}` };
    });
    worker.start();
    const outcome = await mails.addAndWait({ to: "ann", at: "2026-01-02" });
    expect(outcome).toEqual({ status: "done", result: { sent: "ann 1 2026-01-02T00:00:00.000Z".length } });
    // A schedule that is changed in part keeps what it was given.
    const everyHour = { everyMs: 3_600_000 };
    await mails.schedule("daily", everyHour, { to: "ben", at: "2026-03-04" });
    expect(await mails.updateSchedule("daily", { options: { priority: 5 } })).toBe(true);
    expect((await mails.getSchedule("daily"))?.data).toEqual({ to: "ben", at: new Date("2026-03-04"), copies: 1 });
  });

  test("of a handler that returns nothing are asked too", async () => {
    const jobs = new Queue<unknown, unknown, unknown, unknown>(backend.store, "jobs", { resultSchema: z.string() });
    await using worker = new Worker(jobs, () => undefined);
    worker.start();
    expect(await jobs.addAndWait(1)).toMatchObject({ status: "dead", error: { name: "SchemaError" } });
  });

  test("that refuse what they have made are refused with the first value of a cache", async () => {
    const cache = new Cache(backend.store, "lengths", { schema: z.date() });
    await expect(cache.set("a", new Date())).rejects.toThrow(/could never be read/);
    const dates = new Cache(backend.store, "dates", { schema: z.coerce.date() });
    await dates.set("a", new Date(5));
    expect(await dates.get("a")).toEqual(new Date(5));
  });

  test("are told from values that are not schemas", () => {
    expect(() => new Queue(backend.store, "q", { schema: {} as never })).toThrow(
      /schema must be a schema that implements/,
    );
    expect(() => new Sessions(backend.store, { schema: { a: 1 as never } })).toThrow(InputError);
    expect(() => new Config(backend.store, "c", { defaults: 1 })).toThrow(/validate or schema is missing/);
  });

  test("that answer with a promise are refused", async () => {
    const schema = z.string().refine(async () => true);
    await expect(new Queue(backend.store, "q", { schema }).add("a")).rejects.toThrow(InputError);
  });
});
