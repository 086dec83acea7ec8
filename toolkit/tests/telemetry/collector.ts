/** What an OpenTelemetry collector receives: OTLP in JSON over HTTP, spans by the process that sent them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedSpan {
  readonly role: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan extends Omit<ReceivedSpan, "role" | "attributes" | "parentSpanId" | "links"> {
  readonly parentSpanId?: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly links?: ReceivedSpan["links"];
}

interface OtlpRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[];
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += String(part);
    const role = String(request.headers["x-role"]);
    const { resourceSpans } = JSON.parse(body) as OtlpRequest;
    for (const { scopeSpans } of resourceSpans) {
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push({ ...span, role, ...received(span) });
    }
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

function received({ attributes, parentSpanId = "", links = [] }: OtlpSpan) {
  const values = attributes.map(({ key, value }) => [key, Object.values(value)[0]] as const);
  return { attributes: Object.fromEntries(values), parentSpanId, links };
}
