/** What `cinnabar bench` can send, by name: for its help, which loads nothing of the benchmark. */
export const WORKLOADS = [
  "ping",
  "set",
  "get",
  "incr",
  "list",
  "hset",
  "zadd",
  "mixed",
  "script",
  "lock",
  "queue",
  "cache",
];
