/** What differs from the vocabulary, and why. At most a page. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  // Verbs
  "Fleet.removeShard": "nothing is deleted: the shard's keys are moved to the others first",
  "Logs.stream": "pino's word for what it writes to",
  "Store.sendToAll": "not several commands but several servers",
  // Arguments
  "Store.call": "a command is written as Redis writes it: GET key",
  "Store.callBuffer": "as call",
  "Semaphores.resize": "the limit is the new size, not the length of a page",
  "ShardedBitmap.set": "an offset is the number of a bit, as in SETBIT",
  "ShardedBitmap.get": "as set",
  "Queue.addAndWait": "two sets of options: the job's and those of the waiting",
  // Durations that are none of the common ones
  "BreakerOptions.openAfterMs": "for how long a server must have failed; with `failures`, not instead of it",
  "OpenOptions.guardMs": "how much longer than its own timeout a blocking command is waited for",
  "StoreOptions.guardMs": "as of OpenOptions",
  "AdsOptions.dayStartMs": "when the day of budgets begins, not how long something lasts",
  "AdsOptions.burstMs": "how far spending may be ahead of the day",
  "CountersOptions.precisionsMs": "widths of slices",
  "UniqueVisitorsOptions.utcOffsetMs": "a difference of clocks",
  "BoardOptions.votingMs": "how long an article is open for votes; it lives on after that",
  "StreamEndpoint.close.spreadMs": "over which clients are asked to come back",
  // Fields
  "HighlightOptions.before": "markup before a word that was found",
  "HighlightOptions.after": "markup after a word that was found",
  "SetManyOutcome.changed": "how many were changed",
  "StatusEvent.atMs": "an event goes over the wire as JSON, which has no dates",
  // Made by others, and exported to be recognised or extended
  "new BlockingConnection": "made by store.blocking()",
  "new Lease": "made by acquire()",
  "new LeaseGroup": "made by acquireMany()",
  "new Listening": "made by stream.events()",
  "new RequestSession": "made by the middleware",
  "new Schema": "made by the index from its options",
  "new Script": "made by defineScript()",
  "new Store": "made by open()",
  // Made from something other than a store
  "new ShardedSearch": "takes a store and a name for each shard",
  "new StreamEndpoint": "serves a stream",
  "new Worker": "works on a queue",
  // Paths that are named for their topic: they have several classes, or functions
  "cinnabar/autocomplete": "RecentContacts, PrefixIndex",
  "cinnabar/blocking-queues": "BoundedQueue, PriorityQueue",
  "cinnabar/expiring": "ExpiringSet, ExpiringMap",
  "cinnabar/queues": "Queue, Worker",
  "cinnabar/replication": "functions",
  "cinnabar/search": "SearchIndex, ShardedSearch",
  "cinnabar/sharded": "seven structures",
  "cinnabar/sketches": "BloomFilter, CuckooFilter, CountMinSketch, TopK",
  "cinnabar/streaming": "StatusStream, AccessTokens",
  "cinnabar/waiting": "Channel, and what components wait with",
};
