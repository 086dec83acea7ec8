/**
 * Topics with typed payloads: `Topic` on publish/subscribe, at most once; `DurableTopic` on a stream, at least once for each consumer
 * group, with replay and retention. README.md says what each promises.
 */
export { UnrecoverableError } from "../queues/index.ts";
export {
  type DeadLetter,
  DurableTopic,
  type DurableTopicOptions,
  type Followed,
  type FollowOptions,
  type GroupInspection,
  type GroupOptions,
  type NewMessage,
  type PublishOptions,
  type SubscriberOptions,
  type TopicStats,
} from "./durable.ts";
export type { From, Message } from "./message.ts";
export type { Published } from "./scripts.ts";
export type { Delivered, Subscriber, SubscriberEvents } from "./subscriber.ts";
export { type Heard, type ListenOptions, Topic, type TopicOptions } from "./topic.ts";
