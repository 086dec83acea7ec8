/** Full-text search: an index on plain data types, and one spread over shards. See README.md. */
export { STEMMER_NAMES, type Stemmer, type StemmerName, stemmer, stemmerOf } from "../../text/stemmers/index.ts";
export { type Analyser, type AnalyserOptions, analyser, type Located, type OnWord, type Sought } from "./analyser.ts";
export type { Hit, PageOptions, SearchOptions, SearchResult } from "./answers.ts";
export type { FacetOptions, FacetRange, FacetRequests, Facets, FacetValue } from "./facets.ts";
export type { Inspection, InspectOptions, TermsOptions, TermsPage } from "./inspect.ts";
export { compareBytes, stringScore } from "./order.ts";
export { type Parsed, parseQuery } from "./parse.ts";
export type { Query } from "./query.ts";
export {
  type DocumentOf,
  type Field,
  type Fields,
  type NumberField,
  type PatchOf,
  Schema,
  type SchemaOptions,
  type StringField,
  type TagsField,
  type TextField,
} from "./schema.ts";
export { type IndexOptions, SearchIndex, type StoredDocument } from "./search-index.ts";
export type { Explanation, QueryOptions, ScorePart } from "./searcher.ts";
export { type MoveOptions, type ShardedOptions, ShardedSearch, type ShardPlace } from "./sharded.ts";
export type { HighlightOptions } from "./snippets.ts";
export { STOP_WORDS } from "./stop-words.ts";
export type { SetManyOutcome, SetOutcome, UpdateOutcome } from "./writer.ts";
