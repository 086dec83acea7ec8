import "reflect-metadata";
import { Controller, Get, Inject, Module, Param, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { Locks } from "cinnabar/locks";
import { CinnabarModule, component, InjectQueue, OnWorkerEvent, Process, Processor } from "cinnabar/nestjs";
import type { Queue, RunningJob } from "cinnabar/queues";
import { RateLimits } from "cinnabar/rate-limits";

interface Mail {
  readonly to: string;
}

const sent: string[] = [];

@Processor("mails", { concurrency: 5 })
class MailProcessor {
  @Process("welcome")
  welcome(job: RunningJob<Mail>): string {
    sent.push(job.data.to);
    return `welcome ${job.data.to}`;
  }

  @OnWorkerEvent("failed")
  failed(job: RunningJob<Mail>, error: Error): void {
    console.error(job.id, error.message);
  }
}

@Controller()
class MailController {
  readonly #mails: Queue<Mail, string>;
  readonly #locks: Locks;
  readonly #limits: RateLimits;

  constructor(
    @InjectQueue("mails") mails: Queue<Mail, string>,
    @Inject(Locks) locks: Locks,
    @Inject(RateLimits) limits: RateLimits,
  ) {
    this.#mails = mails;
    this.#locks = locks;
    this.#limits = limits;
  }

  @Post("welcome/:to")
  async welcome(@Param("to") to: string): Promise<object> {
    const { allowed } = await this.#limits.take(to);
    if (!allowed) return { status: "limited" };
    return this.#mails.addAndWait({ to }, { name: "welcome" });
  }

  @Get("sent")
  async sent(): Promise<object> {
    const lease = await this.#locks.acquire("report", { leaseMs: 5_000, waitMs: 5_000 });
    await lease?.release();
    return { sent };
  }
}

@Module({
  imports: [
    CinnabarModule.forRootAsync({ useFactory: () => ({ target: process.env.STORE ?? "memory:" }) }),
    CinnabarModule.forFeature({
      components: [Locks, component(RateLimits, { name: "mails", rules: { limit: 1, windowMs: 60_000 } })],
      queues: ["mails"],
    }),
  ],
  controllers: [MailController],
  providers: [MailProcessor],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ["error", "warn"] });
app.enableShutdownHooks();
await app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
console.log(await app.getUrl());
