/** The words of a queue's address, wherever a page leads to one. */

export interface QueueName {
  readonly name: string;
  readonly shards: number;
  readonly prefix?: string;
}

/** The usual prefix needs no word. */
export const queueWords = ({ name, shards, prefix = "queue" }: QueueName): Readonly<Record<string, string>> => ({
  name,
  shards: String(shards),
  ...(prefix !== "queue" && { prefix }),
});

export const queuePath = (queue: QueueName): string => `queues?${new URLSearchParams(queueWords(queue))}`;
