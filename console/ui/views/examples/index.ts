/** The examples in the menu. `key` is the letter after `e`; the path is `examples/<name>`. */
import type { ComponentType } from "preact";
import { AdsPage } from "./ads.tsx";
import { AllExamples } from "./all.tsx";
import { Autocomplete } from "./autocomplete.tsx";
import { Chat } from "./chat.tsx";
import { Jobs } from "./jobs.tsx";
import { Marketplace } from "./marketplace.tsx";
import { News } from "./news.tsx";
import { Search } from "./search.tsx";
import { Shop } from "./shop.tsx";
import { SocialNetwork } from "./social.tsx";

export interface ExampleView {
  readonly path: string;
  readonly key: string;
  readonly title: string;
  readonly view: ComponentType;
}

export const EXAMPLE_VIEWS: readonly ExampleView[] = [
  { path: "examples", key: "e", title: "All examples", view: AllExamples },
  { path: "examples/news", key: "n", title: "News", view: News },
  { path: "examples/shop", key: "s", title: "Shop", view: Shop },
  { path: "examples/marketplace", key: "m", title: "Marketplace", view: Marketplace },
  { path: "examples/autocomplete", key: "a", title: "Autocomplete", view: Autocomplete },
  { path: "examples/search", key: "f", title: "Search", view: Search },
  { path: "examples/chat", key: "c", title: "Chat", view: Chat },
  { path: "examples/social", key: "o", title: "Social network", view: SocialNetwork },
  { path: "examples/ads", key: "d", title: "Ads", view: AdsPage },
  { path: "examples/jobs", key: "j", title: "Jobs", view: Jobs },
];
