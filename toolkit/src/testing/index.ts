/** The test kit: `cinnabar/testing`. See docs/testing.md. */
export { TestClock, type TestClockOptions } from "./clock.ts";
export type { FailoverOptions, Faults } from "./faults.ts";
export { flushInProcess, inProcess } from "./ioredis.ts";
export { RedisMemoryServer, type RedisMemoryServerOptions } from "./memory-server.ts";
export type { NodeRedisOptions } from "./node-redis.ts";
export { type IoredisOptions, TestStore, type TestStoreOptions } from "./test-store.ts";
