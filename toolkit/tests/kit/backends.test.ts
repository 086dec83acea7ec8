import { expect, test } from "vitest";
import { Locks } from "../../src/components/locks/index.ts";
import { describeBackends } from "./index.ts";

describeBackends("a lock", (backend) => {
  test("has one holder", async () => {
    const mine = new Locks(backend.store);
    const theirs = new Locks(await backend.open()); // as another process would have it

    const lease = await mine.acquire("door");
    expect(lease).not.toBeNull();
    expect(await theirs.acquire("door", { waitMs: 0 })).toBeNull();
    await lease?.release();
  });
});
