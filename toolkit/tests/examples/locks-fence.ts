import { defineScript, open } from "cinnabar";
import { Locks } from "cinnabar/locks";

const db = await open(process.env.STORE ?? "memory:");
const locks = new Locks(db);

// In Redis: the value and the fence change together, or not at all.
const writeFenced = defineScript({
  name: "report.write",
  keys: ["report"],
  args: ["fence", "text"],
  lua: `
    local seen = tonumber(redis.call("HGET", report, "fence") or 0)
    if tonumber(fence) < seen then return 0 end
    redis.call("HSET", report, "fence", fence, "text", text)
    return 1
  `,
});

const slow = await locks.acquire("report", { leaseMs: 50, renew: false });
const quick = await locks.acquire("report"); // after 50 ms, since nobody renewed
const write = (fence: number, text: string) => db.run(writeFenced, { report: "report:9", fence, text });
console.log("the new holder writes:", await write(quick!.fence, "new"));
console.log("the old one is refused:", await write(slow!.fence, "old"));
await quick?.release();
await db.close();

// In SQL: a column for the fence, and a where-clause. No row changed: somebody newer was here.
//
//   UPDATE report SET text = $1, fence = $2 WHERE id = 9 AND fence <= $2
//
// For a row that may not exist yet:
//
//   INSERT INTO report (id, text, fence) VALUES (9, $1, $2)
//   ON CONFLICT (id) DO UPDATE SET text = excluded.text, fence = excluded.fence WHERE report.fence <= excluded.fence
//
// The column is a BIGINT. An object store that has conditional writes takes the fence as metadata, and If-Match as the guard.
