/** An HTTP request adds a job, and another process works it off: one trace, as a collector gets it from the real SDK. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodeWordsOnPackages } from "../../../scripts/program.ts";
import { describeBackends } from "../kit/index.ts";
import { type Collector, type ReceivedSpan, startCollector } from "./collector.ts";

const PROGRAM = join(import.meta.dirname, "program.ts");
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CALLER_ID = "b7ad6b7169203331";
const [SERVER, CLIENT, PRODUCER, CONSUMER] = [2, 3, 4, 5];

describeBackends("a trace over processes", { backends: ["tcp", "redis"] }, (backend) => {
  let collector: Collector;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    collector = await startCollector();
  });

  afterAll(async () => {
    for (const child of children) if (child.exitCode === null) child.kill("SIGKILL");
    await collector.close();
  });

  const run = (role: string): ChildProcess => {
    const argument = JSON.stringify({ role, url: backend.url, collector: collector.url });
    const child = spawn(process.execPath, [...nodeWordsOnPackages(PROGRAM), argument], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    return child;
  };

  test("goes from the request to the job that it added", async () => {
    const worker = run("worker");
    const web = run("web");
    const workerEnd = once(worker, "exit");
    const webEnd = once(web, "exit");
    const [port] = (await once(createInterface(web.stdout!), "line")) as [string];
    const headers = { traceparent: `00-${TRACE_ID}-${CALLER_ID}-01`, connection: "close" };
    const id = await (await fetch(`http://127.0.0.1:${port}/sign-up`, { headers })).text();
    expect((await webEnd)[0]).toBe(0);
    expect((await workerEnd)[0]).toBe(0);

    const named = (role: string, name: string): ReceivedSpan => {
      const found = collector.spans.filter((span) => span.role === role && span.name === name);
      expect(found, `${name} of ${role}`).toHaveLength(1);
      return found[0]!;
    };
    const request = named("web", "GET /sign-up");
    expect(request).toMatchObject({ traceId: TRACE_ID, parentSpanId: CALLER_ID, kind: SERVER });

    const add = named("web", "add mails");
    expect(add).toMatchObject({ traceId: TRACE_ID, parentSpanId: request.spanId, kind: PRODUCER });
    expect(add.attributes).toMatchObject({
      "messaging.system": "cinnabar",
      "messaging.destination.name": "mails",
      "messaging.operation.type": "send",
      "messaging.message.id": id,
    });
    const trips = collector.spans.filter(({ role, parentSpanId }) => role === "web" && parentSpanId === add.spanId);
    expect(trips.map(({ attributes }) => attributes["db.stored_procedure.name"])).toContain("queues.add");
    for (const { kind, attributes } of trips) {
      expect(kind).toBe(CLIENT);
      expect(attributes).toMatchObject({
        "db.system.name": "redis",
        "server.address": "127.0.0.1",
        "db.namespace": "0",
      });
    }

    const process = named("worker", "process mails");
    expect(process).toMatchObject({ traceId: TRACE_ID, parentSpanId: add.spanId, kind: CONSUMER });
    expect(process.links).toEqual([expect.objectContaining({ traceId: TRACE_ID, spanId: add.spanId })]);
    expect(process.attributes).toMatchObject({
      "messaging.message.id": id,
      "cinnabar.job.name": "welcome",
      "cinnabar.job.attempt": 1,
      "cinnabar.job.outcome": "done",
    });
    const mail = named("worker", "send mail");
    expect(mail.parentSpanId).toBe(process.spanId);
    expect(named("worker", "SET").parentSpanId).toBe(mail.spanId);
    expect(named("worker", "acquire lock").parentSpanId).toBe(process.spanId);
    expect(named("worker", "hold lock").parentSpanId).toBe(process.spanId);
    // Heartbeats and the waiting of the worker belong to no trace, and have no span.
    expect(collector.spans.every(({ traceId }) => traceId === TRACE_ID)).toBe(true);
  }, 180_000);
});
