/** Texts for scrapers, read back by a parser that is not ours. */
import parse from "parse-prometheus-text-format";
import { expect, test } from "vitest";
import { exposition } from "./exposition.ts";
import { infoFields, unreadiness } from "./info-fields.ts";
import { infoMetrics } from "./info-metrics.ts";

const FAMILY = {
  name: "things_total",
  type: "counter",
  help: 'back\\slash, "quotes" and\na line',
  samples: [
    { labels: { path: 'C:\\data\n"x"' }, value: 17 },
    { labels: {}, value: Number.POSITIVE_INFINITY },
  ],
} as const;

test("label values and help are escaped", () => {
  const { text, contentType } = exposition([FAMILY]);
  expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(text.split("\n")).toEqual([
    '# HELP things_total back\\\\slash, "quotes" and\\na line',
    "# TYPE things_total counter",
    'things_total{path="C:\\\\data\\n\\"x\\""} 17',
    "things_total +Inf",
    "",
  ]);
  expect(parse(text)).toMatchObject([
    {
      name: "things_total",
      type: "COUNTER",
      metrics: [{ value: "17", labels: { path: 'C:\\data\n"x"' } }, { value: "+Inf" }],
    },
  ]);
});

test("a scraper that asks for OpenMetrics gets it", () => {
  const { text, contentType } = exposition([FAMILY], "application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
  expect(contentType).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
  expect(text).toContain("# TYPE things counter\nthings_total{");
  expect(text).toContain('\\"quotes\\"');
  expect(text.endsWith("\n# EOF\n")).toBe(true);
});

test("INFO of several nodes is one text, each family once", () => {
  const info =
    "# Stats\r\ntotal_commands_processed:7\r\n# Commandstats\r\ncmdstat_config|get:calls=2,usec=17,usec_per_call=8.50\r\n";
  const replica =
    "slave0:ip=10.0.0.1,port=6380,state=online,offset=14,lag=1\r\nlatency_percentiles_usec_get:p50=1.5,p99.9=8.0\r\ndb0:keys=3,expires=1,avg_ttl=1500\r\nerrorstat_ERR:count=4\r\n";
  const { text } = infoMetrics([
    { labels: { node: "a:1" }, info: info + replica },
    { labels: { node: "b:2" }, info: null },
  ]);
  const families = parse(text);
  const names = families.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const samples = (name: string) => families.find((family) => family.name === name)?.metrics;
  expect(samples("redis_up")).toEqual([
    { labels: { node: "a:1" }, value: "1" },
    { labels: { node: "b:2" }, value: "0" },
  ]);
  expect(samples("redis_commands_duration_seconds_total")).toEqual([
    { labels: { node: "a:1", cmd: "config|get" }, value: "0.000017" },
  ]);
  expect(samples("redis_connected_slave_lag_seconds")).toMatchObject([
    { labels: { slave_ip: "10.0.0.1", slave_port: "6380" }, value: "1" },
  ]);
  expect(samples("redis_commands_latency_seconds")).toMatchObject([
    { labels: { quantile: "0.5" } },
    { labels: { quantile: "0.999" }, value: "0.000008" },
  ]);
  expect(samples("redis_db_avg_ttl_seconds")).toMatchObject([{ labels: { db: "db0" }, value: "1.5" }]);
  expect(samples("redis_errors_total")).toMatchObject([{ labels: { err: "ERR" }, value: "4" }]);
});

test("a server that loads, cannot write or has lost its primary is not ready", () => {
  const reasons = (text: string) => unreadiness(infoFields(text));
  expect(reasons("loading:0\r\nrole:master\r\naof_enabled:1\r\naof_last_write_status:ok\r\n")).toEqual([]);
  expect(reasons("loading:1")).toEqual(["loading"]);
  expect(reasons("aof_enabled:1\naof_last_write_status:err\nheap_full:1")).toHaveLength(2);
  expect(reasons("role:slave\nmaster_link_status:down")).toEqual(["link to the primary is down"]);
});
