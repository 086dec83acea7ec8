/** The connection to a store, and what components are built with. Each component has an entry of its own: `cinnabar/locks` … */
export { type Clock, systemClock, type Timer } from "./base/clock.ts";
export { bytes, type Codec, json, text } from "./base/codec.ts";
export {
  CinnabarError,
  ClosedError,
  ConflictError,
  ConnectionError,
  InputError,
  LeaseLostError,
  OpenError,
  type OpenErrorCode,
  ServerError,
  UnsupportedError,
} from "./base/errors.ts";
export { LayoutError } from "./base/layout.ts";
export type { NamedThing } from "./base/names.ts";
export type { Page, PageOptions } from "./base/page.ts";
export { Registry, type UsedComponent } from "./base/registry.ts";
export {
  type InferInput,
  type InferOutput,
  SchemaError,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from "./base/schema.ts";
export { defineScript, NOW_MS, Script, type ScriptCall } from "./base/script.ts";
export type { ExistingClient } from "./connection/adopt.ts";
export type { AttemptOptions } from "./connection/attempts.ts";
export { BlockingConnection, type WaitOptions } from "./connection/blocking.ts";
export type { BreakerOptions, Circuit, CircuitState } from "./connection/breaker.ts";
export type { ClientCacheOptions, ClientCacheStats } from "./connection/client-cache.ts";
export type {
  BlockingCommands,
  Commands,
  Double,
  Integer,
  Many,
  Pairs,
  Replies,
  Scores,
  StreamEntry,
} from "./connection/commands.ts";
export type { Health, HealthCode, HealthOptions, HealthReason } from "./connection/health.ts";
export { type OpenOptions, open } from "./connection/open.ts";
export type {
  Answer,
  ConnectionState,
  PemText,
  ReadPolicy,
  Reply,
  TlsOptions,
  Topology,
  Word,
  WorkerAddress,
} from "./connection/port.ts";
export { slotOf } from "./connection/slots.ts";
export {
  type Answers,
  type Hooks,
  type Item,
  type RoundTrip,
  type RoundTripListener,
  type RunOptions,
  type SendOptions,
  Store,
  type StoreOptions,
  type TransactionOptions,
  type Watched,
} from "./connection/store.ts";
export type { Subscription } from "./connection/subscriptions.ts";
