/**
 * One process of a traced application, with the real OpenTelemetry SDK: `web` answers an HTTP request by adding a job, `worker` works
 * off one job and ends. Spans go to a collector by OTLP over HTTP.
 *
 *   node --conditions=source --import tsx program.ts '{"role": "web", "url": …, "collector": …}'
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { context, propagation, SpanKind, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { Locks } from "../../src/components/locks/index.ts";
import { Queue, Worker } from "../../src/components/queues/index.ts";
import { open } from "../../src/index.ts";
import { instrument } from "../../src/opentelemetry/index.ts";

const { role, url, collector } = JSON.parse(process.argv[2] ?? "{}") as Record<"role" | "url" | "collector", string>;

const exporter = new OTLPTraceExporter({ url: `${collector}/v1/traces`, headers: { "x-role": role } });
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
provider.register();
const tracer = trace.getTracer("application");

const db = await open(url);
instrument(db);
const mails = new Queue<{ to: string }, string>(db, "mails");

async function end(): Promise<void> {
  await db.close();
  await provider.shutdown();
}

function web(): void {
  const server = createServer((request, response) => {
    const incoming = propagation.extract(context.active(), request.headers);
    const span = tracer.startSpan("GET /sign-up", { kind: SpanKind.SERVER }, incoming);
    context.with(trace.setSpan(incoming, span), async () => {
      const { id } = await mails.add({ to: "ann@example.com" }, { name: "welcome" });
      span.end();
      response.end(id, async () => {
        server.close();
        await end();
      });
    });
  });
  server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
}

function work(): void {
  const worker = new Worker(mails, async ({ data }) => {
    const span = tracer.startSpan("send mail");
    await context.with(trace.setSpan(context.active(), span), () => db.set(`sent:${data.to}`, "1"));
    await new Locks(db).using(data.to, {}, async () => {});
    span.end();
    return `sent to ${data.to}`;
  });
  worker.on("done", () => void worker.stop().then(end));
  worker.start();
}

if (role === "web") web();
else work();
