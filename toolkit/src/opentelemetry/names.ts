/**
 * Names of OpenTelemetry's semantic conventions (databases: stable; messaging: in development, as of 1.3x), and those of our own for
 * what the conventions have no word for. They stand here and not in a dependency: these few strings are all that is needed of it.
 */
export const DB = {
  system: "db.system.name",
  operation: "db.operation.name",
  namespace: "db.namespace",
  batchSize: "db.operation.batch.size",
  script: "db.stored_procedure.name",
  queryText: "db.query.text",
  status: "db.response.status_code",
} as const;

export const MESSAGING = {
  system: "messaging.system",
  operation: "messaging.operation.name",
  operationType: "messaging.operation.type",
  destination: "messaging.destination.name",
  messageId: "messaging.message.id",
  batchCount: "messaging.batch.message_count",
} as const;

export const ERROR_TYPE = "error.type";
export const SERVER_ADDRESS = "server.address";
export const SERVER_PORT = "server.port";

export const OWN = {
  topology: "cinnabar.topology",
  jobName: "cinnabar.job.name",
  jobAttempt: "cinnabar.job.attempt",
  jobStalls: "cinnabar.job.stalls",
  jobOutcome: "cinnabar.job.outcome",
  jobState: "cinnabar.job.state",
  leaseKind: "cinnabar.lease.kind",
  leasePrefix: "cinnabar.lease.prefix",
  leaseName: "cinnabar.lease.name",
  leaseOutcome: "cinnabar.lease.outcome",
  cacheName: "cinnabar.cache.name",
  cacheKey: "cinnabar.cache.key",
  cacheOutcome: "cinnabar.cache.outcome",
  circuitState: "cinnabar.circuit.state",
  connectionState: "cinnabar.connection.state",
} as const;

export const METRICS = {
  dbDuration: "db.client.operation.duration",
  sent: "messaging.client.sent.messages",
  consumed: "messaging.client.consumed.messages",
  clientDuration: "messaging.client.operation.duration",
  processDuration: "messaging.process.duration",
  jobWait: "cinnabar.job.wait.duration",
  jobs: "cinnabar.queue.jobs",
  leaseWait: "cinnabar.lease.wait.duration",
  leaseHold: "cinnabar.lease.hold.duration",
  cacheRequests: "cinnabar.cache.requests",
  cacheLoad: "cinnabar.cache.load.duration",
  circuitChanges: "cinnabar.circuit.changes",
  circuitsOpen: "cinnabar.circuit.open",
  connectionChanges: "cinnabar.connection.changes",
  clientCacheRequests: "cinnabar.client_cache.requests",
  clientCacheEntries: "cinnabar.client_cache.entries",
  clientCacheBytes: "cinnabar.client_cache.size",
} as const;

/** The boundaries that the conventions give for durations of databases and messaging, in seconds. */
export const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
