/**
 * What travels through the stream of public statuses, and the door that a publisher writes through.
 *
 * The types stand alone, so that a component that publishes (the social network) depends on this file and on
 * nothing else of the stream. `publish` is idempotent by kind and id: a caller that lost the reply calls again.
 */

export type StatusEvent =
  | {
      readonly kind: "status";
      readonly id: string;
      readonly userId: string;
      readonly login: string;
      readonly text: string;
      readonly atMs: number;
      readonly place?: { readonly longitude: number; readonly latitude: number };
    }
  | { readonly kind: "delete"; readonly id: string; readonly userId: string; readonly atMs: number };

export interface StatusSink {
  publish(event: StatusEvent): Promise<void>;
}
