/** The module in real NestJS applications. */
import "reflect-metadata";
import { Inject, Injectable, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { expect, test } from "vitest";
import { Locks } from "../../src/components/locks/index.ts";
import { Queue, type RunningJob } from "../../src/components/queues/index.ts";
import { Sessions } from "../../src/components/sessions/index.ts";
import { InputError, open, Store } from "../../src/index.ts";
import {
  CinnabarModule,
  component,
  InjectQueue,
  OnWorkerEvent,
  Process,
  Processor,
  queueToken,
} from "../../src/integrations/nestjs/index.ts";
import { describeBackends } from "../kit/index.ts";

const LOGGER = { logger: false } as const;

@Injectable()
class Settings {
  readonly idleMs = 5_000;
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

interface Mail {
  readonly to: string;
}

@Processor("mails", { concurrency: 3, name: "nest" })
class MailProcessor {
  readonly seen: string[] = [];
  readonly failures: string[] = [];
  readonly locks: Locks;

  constructor(@Inject(Locks) locks: Locks) {
    this.locks = locks;
  }

  @Process("welcome")
  async welcome({ data }: RunningJob<Mail>): Promise<string> {
    const lease = await this.locks.acquire(data.to, { leaseMs: 5_000 });
    this.seen.push(data.to);
    await lease?.release();
    return `welcome ${data.to}`;
  }

  @Process()
  others({ name }: RunningJob<Mail>): string {
    if (name === "broken") throw new Error("no paper");
    return `other ${name}`;
  }

  @OnWorkerEvent("failed")
  failed(_job: RunningJob<Mail>, error: Error): void {
    this.failures.push(error.message);
  }
}

@Injectable()
class Sender {
  readonly mails: Queue<Mail, string>;

  constructor(@InjectQueue("mails") mails: Queue<Mail, string>) {
    this.mails = mails;
  }
}

describeBackends("NestJS", { backends: ["embedded", "redis"], audit: "tags" }, (backend) => {
  test("injects the store and components, runs processors by the names of jobs, and stops them", async () => {
    const store = await backend.open();
    @Module({
      imports: [
        CinnabarModule.forRoot({ store }),
        CinnabarModule.forFeature({ components: [Locks, component(Sessions, { idleMs: 7_000 })], queues: ["mails"] }),
      ],
      providers: [MailProcessor, Sender],
    })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, LOGGER);
    expect(app.get(Store)).toBe(store);
    expect(app.get(Sessions).idleMs).toBe(7_000);
    const { mails } = app.get(Sender);
    expect(mails).toBeInstanceOf(Queue);
    expect(mails).toBe(app.get(queueToken("mails")));
    expect(await mails.addAndWait({ to: "ann" }, { name: "welcome" })).toEqual({
      status: "done",
      result: "welcome ann",
    });
    expect(await mails.addAndWait({ to: "ann" }, { name: "x" })).toEqual({ status: "done", result: "other x" });
    expect(await mails.addAndWait({ to: "ann" }, { name: "broken" })).toMatchObject({ status: "dead" });
    const processor = app.get(MailProcessor);
    expect(processor.seen).toEqual(["ann"]);
    await expect.poll(() => processor.failures).toEqual(["no paper"]);
    expect((await mails.workers()).map(({ name }) => name)).toEqual(["nest"]);
    await app.close();
    // The application has opened the store itself: it is still there, and nobody works.
    await mails.add({ to: "ben" });
    expect(await mails.counts()).toMatchObject({ waiting: 1, active: 0 });
    expect(store.closed).toBe(false);
  });

  test("opens the store with options that other providers know, and closes it last", async () => {
    @Processor("slow")
    class SlowProcessor {
      ended = false;
      started = (): void => {};
      readonly isStarted = new Promise<void>((resolve) => {
        this.started = resolve;
      });
      release = (): void => {};

      @Process()
      async run(): Promise<void> {
        this.started();
        await new Promise<void>((resolve) => {
          this.release = resolve;
        });
        this.ended = true;
      }
    }
    @Module({
      imports: [
        CinnabarModule.forRootAsync({
          imports: [SettingsModule],
          inject: [Settings],
          useFactory: async (settings: Settings) => ({
            target: backend.url ?? "memory:",
            options: { timeoutMs: settings.idleMs },
          }),
        }),
        CinnabarModule.forFeature({ queues: [{ name: "slow", options: { prefix: "own" } }] }),
      ],
      providers: [SlowProcessor],
    })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, LOGGER);
    const store = app.get(Store);
    const queue = app.get<Queue>(queueToken("slow"));
    await queue.add(1);
    const processor = app.get(SlowProcessor);
    await processor.isStarted;
    const closing = app.close();
    expect(store.closed).toBe(false);
    processor.release();
    await closing;
    expect(processor.ended).toBe(true);
    expect(store.closed).toBe(true);
  });

  test("says what is missing: a queue, a handler, a known option", async () => {
    @Processor("nowhere")
    class Lost {
      @Process()
      run(): void {}
    }
    @Module({ imports: [CinnabarModule.forRoot({ store: backend.store })], providers: [Lost] })
    class LostModule {}
    const starting = NestFactory.createApplicationContext(LostModule, { ...LOGGER, abortOnError: false });
    await expect(starting).rejects.toThrow(/forFeature\(\{ queues: \["nowhere"\] \}\)/);
    @Processor("mails")
    class Idle {}
    @Module({
      imports: [CinnabarModule.forRoot({ store: backend.store }), CinnabarModule.forFeature({ queues: ["mails"] })],
      providers: [Idle],
    })
    class IdleModule {}
    const idle = NestFactory.createApplicationContext(IdleModule, { ...LOGGER, abortOnError: false });
    await expect(idle).rejects.toThrow(/Idle has no method with @Process/);
    expect(() => CinnabarModule.forRoot({ traget: "memory:" } as never)).toThrow(/did you mean "target"/);
    expect(() => CinnabarModule.forFeature({ components: ["Locks" as never] })).toThrow(InputError);
    const both = CinnabarModule.forRoot({ store: backend.store, target: "memory:" });
    @Module({ imports: [both] })
    class BothModule {}
    const wrong = NestFactory.createApplicationContext(BothModule, { ...LOGGER, abortOnError: false });
    await expect(wrong).rejects.toThrow(/store or target/);
    await (await open()).close();
  });
});
