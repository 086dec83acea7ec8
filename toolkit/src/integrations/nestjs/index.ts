/**
 * NestJS: a store and its components as providers, and queue processors by decorator.
 *
 *   @Module({
 *     imports: [
 *       CinnabarModule.forRoot({ target: "redis://localhost:6379" }),
 *       CinnabarModule.forFeature({ components: [Locks, component(Sessions, { idleMs: 3_600_000 })], queues: ["mails"] }),
 *     ],
 *     providers: [MailProcessor],
 *   })
 *
 * Workers start when the application has started and stop, with their jobs in hand ended, before it shuts down; the store closes last.
 */
export { InjectQueue, OnWorkerEvent, Process, Processor, queueToken } from "./decorators.ts";
export {
  CinnabarModule,
  type CinnabarModuleAsyncOptions,
  type CinnabarModuleOptions,
  type Component,
  type ComponentProvider,
  component,
  type FeatureOptions,
} from "./module.ts";
