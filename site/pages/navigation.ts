/** What leads from page to page. The groups of components are those of the table in README.md; every page is in one sidebar. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { ROOT, type Route, routeOf } from "./routes.ts";

export interface Item {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly Item[];
}

interface Section {
  readonly text: string;
  readonly pages: readonly (readonly [text: string, route: Route])[];
}

/** The rows of a document's table of components: what they are for, and the pages of the components. */
export function componentGroups(document: string): Section[] {
  const text = readFileSync(join(ROOT, document), "utf8");
  const rows = [...text.matchAll(/^\| ([^|]+) \| ([^|]*\]\([^|]*components\/[^|]*) \|$/gm)];
  return rows.map(([, title, cells]) => ({
    text: capital(title!.trim()),
    pages: [...cells!.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name, link]) => {
      const [path = "", anchor] = link!.split("#");
      const route = routeOf(posix.join(dirname(document), path))!;
      return [capital(name!), `${route}${anchor === undefined ? "" : `#${anchor}`}`] as const;
    }),
  }));
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const SECTIONS: readonly Section[] = [
  {
    text: "Begin",
    pages: [
      ["Start in five minutes", "/start"],
      ["The components", "/guide/toolkit"],
      ["The store", "/guide/engine"],
      ["Connections", "/guide/connections"],
      ["Frameworks", "/guide/frameworks"],
      ["Example applications", "/guide/examples"],
      ["Where it runs", "/guide/compatibility"],
    ],
  },
  {
    text: "Production",
    pages: [
      ["Operating", "/guide/operating"],
      ["Sizing", "/guide/sizing"],
      ["Persistence", "/guide/engine#what-is-kept-when"],
      ["Failover", "/guide/operating#a-failed-primary-with-sentinel"],
      ["Cluster", "/guide/cluster"],
      ["TLS", "/guide/tls"],
      ["Users and rights", "/guide/engine#users"],
      ["Upgrading", "/guide/upgrading"],
      ["What stays in the store", "/guide/growth"],
      ["Clocks", "/guide/clocks"],
      ["Telemetry", "/guide/telemetry"],
      ["Scale", "/guide/scale"],
      ["Security reports", "/project/security"],
      ["Support", "/guide/support"],
    ],
  },
  {
    text: "Console and command line",
    pages: [
      ["The console", "/guide/console"],
      ["Beside other consoles", "/guide/console-comparison"],
      ["Command line", "/guide/command-line"],
    ],
  },
  {
    text: "Testing",
    pages: [
      ["The test kit", "/guide/testing"],
      ["Its figures", "/guide/testing-figures"],
    ],
  },
  {
    text: "Moving",
    pages: [
      ["To a Redis and back", "/guide/moving-to-redis"],
      ["From other libraries", "/migrating/"],
      ["From ioredis", "/migrating/ioredis"],
      ["From ioredis-mock", "/migrating/ioredis-mock"],
      ["From BullMQ", "/migrating/bullmq"],
      ["From Bull", "/migrating/bull"],
      ["From bee-queue", "/migrating/bee-queue"],
      ["From redlock", "/migrating/redlock"],
      ["From rate-limiter-flexible", "/migrating/rate-limiter-flexible"],
      ["From connect-redis", "/migrating/connect-redis"],
      ["From node-cache", "/migrating/node-cache"],
      ["From bentocache", "/migrating/bentocache"],
    ],
  },
  {
    text: "Figures and comparisons",
    pages: [
      ["Benchmarks", "/guide/benchmarks"],
      ["Differences to Redis", "/guide/differences"],
      ["Queues beside BullMQ and Sidekiq", "/comparisons/queues"],
      ["Components beside Redisson", "/comparisons/redisson"],
    ],
  },
  {
    text: "How it is built",
    pages: [
      ["Architecture", "/project/architecture"],
      ["Decisions", "/guide/decisions"],
      ["Vocabulary", "/guide/vocabulary"],
      ["Import graph", "/guide/import-graph"],
      ["Contributing", "/project/contributing"],
      ["Changelog", "/project/changelog"],
      ["Engine", "/packages/engine"],
      ["Toolkit", "/packages/toolkit"],
      ["Console", "/packages/console"],
      ["Example programs", "/packages/examples"],
      ["Leases", "/project/toolkit-src-leases"],
      ["This site", "/guide/site"],
    ],
  },
  {
    text: "How it is tested",
    pages: [
      ["Tests", "/guide/tests"],
      ["Their summary", "/guide/test-summary"],
      ["Attacks on the engine", "/project/engine-tests-faults"],
      ["Attacks on the components", "/project/toolkit-tests-faults"],
      ["Conformance", "/project/engine-tests-conformance"],
      ["Replication", "/project/engine-tests-replication"],
      ["Clusters", "/project/engine-tests-cluster"],
      ["TLS", "/project/engine-tests-tls"],
      ["Backends of suites", "/project/toolkit-tests-kit"],
    ],
  },
];

const itemsOf = (sections: readonly Section[], exists: (route: Route) => boolean): Item[] =>
  sections.flatMap(({ text, pages }) => {
    const items = pages
      .filter(([, route]) => exists(route.split("#")[0]!))
      .map(([name, link]) => ({ text: name, link }));
    return items.length === 0 ? [] : [{ text, items }];
  });

/** Who names the components in Chinese: the first that there is. */
const CHINESE = ["docs/zh/README.md", "README.zh-CN.md"];

export interface Navigation {
  readonly guide: readonly Item[];
  readonly components: readonly Item[];
  readonly commands: readonly Item[];
  readonly zh: readonly Item[];
}

/** `routes`: of all pages that there are. `commands`: the pages of commands. */
export function navigation(routes: ReadonlySet<Route>, commands: readonly Item[]): Navigation {
  const exists = (route: Route): boolean => routes.has(route);
  const chinese = componentGroups(CHINESE.find((document) => existsSync(join(ROOT, document)))!).map(
    ({ text, pages }) => ({
      text,
      pages: pages.map(([name, route]) => [name, `/zh${route.replace(/^\/zh/, "")}`] as const),
    }),
  );
  return {
    guide: itemsOf(SECTIONS, exists),
    components: itemsOf(componentGroups("README.md"), exists),
    commands: [{ text: "All commands", link: "/commands/" }, ...commands],
    zh: [
      ...itemsOf(
        [
          {
            text: "开始",
            pages: [
              ["五分钟上手", "/zh/start"],
              ["全部组件", "/zh/guide/"],
              ["组件指南", "/zh/guide/toolkit"],
              ["术语表", "/zh/guide/terms"],
              ["试用台", "/zh/playground"],
            ],
          },
        ],
        exists,
      ),
      ...itemsOf(chinese, exists),
    ],
  };
}

/** The routes in a tree of items, without anchors. */
export const linksIn = (items: readonly Item[]): string[] =>
  items.flatMap(({ link, items: below = [] }) => [
    ...(link === undefined ? [] : [link.split("#")[0]!]),
    ...linksIn(below),
  ]);
