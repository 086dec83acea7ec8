/**
 * What travels through the stream of public statuses, and the door that a publisher writes through.
 *
 * The types stand alone, so that a component that publishes (the social network) depends on this file and on
 * nothing else of the stream. `publish` is idempotent by kind and id: a caller that lost the reply calls again.
 */

export type StatusEvent =
  | {
      /** A new status. */
      readonly kind: "status";
      /** The status's id. */
      readonly id: string;
      /** The id of its author. */
      readonly userId: string;
      /** The author's login. */
      readonly login: string;
      /** What was posted. */
      readonly text: string;
      /** When it was posted, in milliseconds since 1970. */
      readonly atMs: number;
      /** Where it was posted from, in degrees, if the author said so. */
      readonly place?: { readonly longitude: number; readonly latitude: number };
    }
  | {
      /** A deletion. */
      readonly kind: "delete";
      /** The id of the status that was deleted. */
      readonly id: string;
      /** The id of its author. */
      readonly userId: string;
      /** When it was deleted, in milliseconds since 1970. */
      readonly atMs: number;
    };

/** Gets what is published: a `StatusStream` is one. */
export interface StatusSink {
  /** Takes an event. The same event may come again, and counts once. */
  publish(event: StatusEvent): Promise<void>;
}
