/** Points in time as people say them, with the exact one under the pointer. */
import { duration, moment } from "./format.ts";

/** "3 min ago", "in 20 s". */
export function relative(at: number, now = Date.now()): string {
  return at > now ? `in ${duration(at - now)}` : `${duration(now - at)} ago`;
}

export function When({ at }: { at: string | number | null }) {
  if (at === null) return <span className="dim">–</span>;
  const ms = typeof at === "number" ? at : Date.parse(at);
  return (
    <time dateTime={new Date(ms).toISOString()} title={moment(ms)}>
      {relative(ms)}
    </time>
  );
}
