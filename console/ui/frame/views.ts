/** Every view of the page: its address, its key, its place in the menu, and how it is loaded when it is opened. */
import {
  type Icon,
  IconActivity,
  IconAdjustments,
  IconApps,
  IconBell,
  IconBolt,
  IconBriefcase,
  IconBroadcast,
  IconChartBar,
  IconChartDots3,
  IconChartTreemap,
  IconClockBolt,
  IconCode,
  IconComponents,
  IconDeviceFloppy,
  IconFileSearch,
  IconFlask,
  IconGauge,
  IconGridDots,
  IconHistory,
  IconId,
  IconKey,
  IconListDetails,
  IconLock,
  IconMessages,
  IconNews,
  IconPlugConnected,
  IconRss,
  IconSearch,
  IconShoppingCart,
  IconSpeakerphone,
  IconStack2,
  IconTags,
  IconTerminal2,
  IconTextScan2,
  IconTimeline,
  IconUsers,
  IconWaveSine,
} from "@tabler/icons-react";
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { Session } from "../session.ts";

export interface View {
  readonly path: string;
  /** The letter after `g`, or after `e` for an example. */
  readonly key: string;
  readonly title: string;
  /** What it is for, in the palette. */
  readonly about: string;
  readonly icon: Icon;
  readonly view: LazyExoticComponent<ComponentType>;
  /** Loads it before it is opened. */
  readonly prepare: () => unknown;
}

export interface Group {
  readonly title: string;
  readonly views: readonly View[];
}

/** `load` answers the view's own component. */
function view(
  path: string,
  key: string,
  title: string,
  about: string,
  icon: Icon,
  load: () => Promise<ComponentType>,
): View {
  return { path, key, title, about, icon, view: lazy(async () => ({ default: await load() })), prepare: load };
}

const operate = {
  overview: () => import("../views/operate/overview.tsx").then(({ Overview }) => Overview),
  keys: () => import("../views/operate/keys.tsx").then(({ Keys }) => Keys),
  analysis: () => import("../views/operate/analysis.tsx").then(({ AnalysisPage }) => AnalysisPage),
  command: () => import("../views/operate/command-line.tsx").then(({ CommandLine }) => CommandLine),
  slow: () => import("../views/operate/live/slow-log.tsx").then(({ SlowLog }) => SlowLog),
  clients: () => import("../views/operate/live/clients.tsx").then(({ Clients }) => Clients),
  config: () => import("../views/operate/configuration.tsx").then(({ Configuration }) => Configuration),
  audit: () => import("../views/operate/audit.tsx").then(({ AuditLog }) => AuditLog),
  files: () => import("../views/operate/files.tsx").then(({ Files }) => Files),
  workbench: () => import("../views/operate/workbench.tsx").then(({ Workbench }) => Workbench),
  scripts: () => import("../views/operate/scripts.tsx").then(({ Scripts }) => Scripts),
  queues: () => import("../views/operate/queues/index.tsx").then(({ Queues }) => Queues),
  locks: () => import("../views/operate/locks.tsx").then(({ Locks }) => Locks),
  sessions: () => import("../views/operate/sessions.tsx").then(({ Sessions }) => Sessions),
  caches: () => import("../views/operate/caches.tsx").then(({ Caches }) => Caches),
  limits: () => import("../views/operate/rate-limits.tsx").then(({ RateLimits }) => RateLimits),
  chats: () => import("../views/operate/chats.tsx").then(({ ChatsView }) => ChatsView),
  timelines: () => import("../views/operate/timelines.tsx").then(({ TimelinesView }) => TimelinesView),
  indexes: () => import("../views/operate/indexes.tsx").then(({ Indexes }) => Indexes),
  shards: () => import("../views/operate/shards.tsx").then(({ Shards }) => Shards),
  components: () => import("../views/operate/components/index.tsx").then(({ Components }) => Components),
  profiler: () => import("../views/operate/live/profiler.tsx").then(({ Profiler }) => Profiler),
  pubsub: () => import("../views/operate/live/pubsub.tsx").then(({ PubSub }) => PubSub),
  events: () => import("../views/operate/live/key-events.tsx").then(({ KeyEvents }) => KeyEvents),
  commands: () => import("../views/operate/live/commands.tsx").then(({ Commands }) => Commands),
  topics: () => import("../views/operate/topics.tsx").then(({ Topics }) => Topics),
  measures: () => import("../views/operate/measures.tsx").then(({ Measures }) => Measures),
};

const examples = {
  all: () => import("../views/examples/all.tsx").then(({ AllExamples }) => AllExamples),
  news: () => import("../views/examples/news.tsx").then(({ News }) => News),
  shop: () => import("../views/examples/shop.tsx").then(({ Shop }) => Shop),
  marketplace: () => import("../views/examples/marketplace.tsx").then(({ Marketplace }) => Marketplace),
  autocomplete: () => import("../views/examples/autocomplete.tsx").then(({ Autocomplete }) => Autocomplete),
  search: () => import("../views/examples/search.tsx").then(({ Search }) => Search),
  chat: () => import("../views/examples/chat.tsx").then(({ Chat }) => Chat),
  social: () => import("../views/examples/social.tsx").then(({ SocialNetwork }) => SocialNetwork),
  ads: () => import("../views/examples/ads.tsx").then(({ AdsPage }) => AdsPage),
  jobs: () => import("../views/examples/jobs.tsx").then(({ Jobs }) => Jobs),
};

const STORE: Group = {
  title: "Store",
  views: [
    view("", "o", "Overview", "Health, throughput, latency and memory", IconActivity, operate.overview),
    view("keys", "k", "Keys", "Browse, search and edit keys", IconKey, operate.keys),
    view("analysis", "y", "Analysis", "What takes the memory, and advice", IconChartTreemap, operate.analysis),
    view("command", "c", "Command line", "Run commands with completion and help", IconTerminal2, operate.command),
    view("workbench", "g", "Workbench", "Several commands, costs, Lua, saved scripts", IconFlask, operate.workbench),
    view("scripts", "r", "Scripts", "Run Lua, manage function libraries", IconCode, operate.scripts),
  ],
};

const AUDIT = view("audit", "A", "Audit log", "Who has changed what", IconHistory, operate.audit);

const LIVE: Group = {
  title: "Live",
  views: [
    view("profiler", "v", "Profiler", "Commands as they run (MONITOR)", IconWaveSine, operate.profiler),
    view("pubsub", "u", "Pub/sub", "Listen to channels, publish messages", IconRss, operate.pubsub),
    view("events", "j", "Key events", "Changes to keys as they happen", IconBell, operate.events),
    view("commands", "z", "Commands", "Calls, durations and latency by command", IconGridDots, operate.commands),
    view("slow", "s", "Slow log", "Commands that took long", IconClockBolt, operate.slow),
    view("clients", "l", "Clients", "Connections to the server", IconPlugConnected, operate.clients),
  ],
};

const SERVER: Group = {
  title: "Server",
  views: [
    view("config", "n", "Configuration", "Read and set directives", IconAdjustments, operate.config),
    view("files", "f", "Snapshots and files", "RDB snapshots and the AOF", IconDeviceFloppy, operate.files),
    AUDIT,
  ],
};

const COMPONENTS: Group = {
  title: "Components",
  views: [
    view("components", "p", "All components", "What is in the store, by kind", IconComponents, operate.components),
    view("queues", "q", "Queues", "Jobs by state, retries and dead letters", IconStack2, operate.queues),
    view("locks", "x", "Locks", "Holders, leases and waiters", IconLock, operate.locks),
    view("topics", "e", "Topics", "Messages, consumer groups and dead letters", IconBroadcast, operate.topics),
    view("sessions", "i", "Sessions", "Who is signed in", IconId, operate.sessions),
    view("caches", "h", "Caches", "Hit rates, entries and tags", IconBolt, operate.caches),
    view("limits", "t", "Rate limits", "Who is refused, and by which rule", IconGauge, operate.limits),
    view("chats", "a", "Chats", "Chats and mailboxes", IconMessages, operate.chats),
    view("timelines", "w", "Timelines", "Social networks and their deliveries", IconTimeline, operate.timelines),
    view("indexes", "b", "Indexes", "Search indexes", IconFileSearch, operate.indexes),
    view("shards", "d", "Shards", "Sharded structures and fleets", IconChartDots3, operate.shards),
    view("measures", "m", "Measures", "Counters, statistics and logs", IconChartBar, operate.measures),
  ],
};

const EXAMPLES: Group = {
  title: "Examples",
  views: [
    view("examples", "e", "All examples", "Applications on this store", IconApps, examples.all),
    view("examples/news", "n", "News", "Example: voting and ranking", IconNews, examples.news),
    view("examples/shop", "s", "Shop", "Example: sessions, carts and caching", IconShoppingCart, examples.shop),
    view("examples/marketplace", "m", "Marketplace", "Example: transactions", IconTags, examples.marketplace),
    view("examples/autocomplete", "a", "Autocomplete", "Example: completion", IconTextScan2, examples.autocomplete),
    view("examples/search", "f", "Search", "Example: full-text search", IconSearch, examples.search),
    view("examples/chat", "c", "Chat", "Example: chats and mailboxes", IconListDetails, examples.chat),
    view("examples/social", "o", "Social network", "Example: timelines", IconUsers, examples.social),
    view("examples/ads", "d", "Ads", "Example: ad targeting", IconSpeakerphone, examples.ads),
    view("examples/jobs", "j", "Jobs", "Example: job search", IconBriefcase, examples.jobs),
  ],
};

const GROUPS: readonly Group[] = [STORE, LIVE, SERVER, COMPONENTS, EXAMPLES];

/** The groups of somebody's menu: without examples where there are none, without the audit log for all but admins. */
export function groupsFor({ examples, user }: Session): readonly Group[] {
  const shown = GROUPS.filter((group) => examples || group !== EXAMPLES);
  if (user?.role === "admin") return shown;
  return shown.map((group) => ({ ...group, views: group.views.filter((view) => view !== AUDIT) }));
}

export const EXAMPLE_VIEWS: readonly View[] = EXAMPLES.views;
export const OPERATE_VIEWS: readonly View[] = [...STORE.views, ...LIVE.views, ...SERVER.views, ...COMPONENTS.views];

/** The view of an address: its own, or for an example that of its beginning; undefined where there is none. */
export const viewAt = (path: string): View | undefined =>
  EXAMPLE_VIEWS.find((each) => each.path === path) ??
  OPERATE_VIEWS.find((each) => each.path === path) ??
  EXAMPLE_VIEWS.slice(1).find((each) => path.startsWith(`${each.path}/`));
