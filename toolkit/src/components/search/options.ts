/** Options of indexes and of searches, checked. What depends on the fields is checked where they are known. */
import {
  type Check,
  type Checks,
  defineOptions,
  either,
  flag,
  having,
  listOf,
  number,
  object,
  prefix,
  recordOf,
  required,
  text,
  whole,
} from "../../base/options.ts";
import type { PageOptions, SearchOptions } from "./answers.ts";
import { MAX_WORDS } from "./document.ts";
import type { FacetOptions } from "./facets.ts";
import type { Fields } from "./schema.ts";
import type { IndexOptions } from "./search-index.ts";
import { MAX_HITS } from "./searcher.ts";
import type { HighlightOptions } from "./snippets.ts";

export const indexing: Checks<IndexOptions<Fields>> = {
  fields: required(object),
  analyser: having("an analyser", "words"),
  positions: flag,
  k1: number(0, 100),
  prefix,
  maxExpansions: whole(1, 100_000),
  maxPostings: whole(1),
  cacheBytes: whole(0),
  wordsAtOnce: whole(1, MAX_WORDS),
};

const HIGHLIGHT_OPTIONS = defineOptions<HighlightOptions>("SearchIndex.search.highlight", {
  fields: listOf(text),
  before: text,
  after: text,
  units: whole(16, 100_000),
  escape: flag,
});

const FACET_OPTIONS = defineOptions<FacetOptions>("SearchIndex.search.facets", {
  limit: whole(1, 10_000),
  buckets: listOf(number(-Number.MAX_VALUE, Number.MAX_VALUE)),
});

/** `true`, or options in its place. */
const highlight: Check = {
  ...either(flag, object),
  inner: { checkAs: (owner, value) => typeof value === "object" && HIGHLIGHT_OPTIONS.checkAs(owner, value) },
};

const facets: Check = {
  ...recordOf(either({ ...flag, accepts: (value) => value === true }, object)),
  inner: {
    checkAs: (owner, value) => {
      if (typeof value !== "object" || value === null) return;
      for (const [field, facet] of Object.entries(value)) {
        if (facet !== true) FACET_OPTIONS.checkAs(`${owner}.${field}`, facet);
      }
    },
  },
};

export const paging: Checks<PageOptions> = {
  offset: whole(0, MAX_HITS),
  limit: whole(0, MAX_HITS),
  documents: flag,
  highlight,
};

export const searching: Checks<SearchOptions> = {
  ...paging,
  sort: either(text, listOf(text)),
  rank: recordOf(number(-Number.MAX_VALUE, Number.MAX_VALUE)),
  facets,
  operator: { expected: '"and" or "or"', accepts: (value) => value === "and" || value === "or" },
  explain: flag,
  cacheTtlMs: whole(1),
  cacheHits: whole(1, MAX_HITS),
  fresh: flag,
};
