import { expect, test } from "vitest";
import { describeBackends } from "../../tests/kit/index.ts";
import { type Grant, Mailbox } from "./mailbox.ts";

// The nodes of a Cluster pass messages on in any order, and messages of a failover are lost.
describeBackends("the mailbox of waiters", { backends: ["embedded", "redis"], fixedServer: true }, (backend) => {
  const send = (mailbox: Mailbox, token: string) =>
    backend.store.call("PUBLISH", mailbox.channel, `${token} 17 1000 300`);
  const heard = (mailbox: Mailbox, token: string): Promise<Grant> =>
    new Promise((granted) => mailbox.expect(token, { granted, interrupted: () => {} }));

  test("keeps a message that overtakes the answer that its waiter has to wait", async () => {
    const mailbox = Mailbox.of(backend.store);
    await mailbox.open();
    await send(mailbox, "early");
    const marker = heard(mailbox, "marker");
    await send(mailbox, "marker");
    await marker;
    expect(await heard(mailbox, "early")).toEqual({ fence: 17, serverMs: 1_000, leaseMs: 300 });
  });

  test("does not keep what nobody comes for", async () => {
    const mailbox = Mailbox.of(backend.store);
    await mailbox.open();
    await send(mailbox, "first");
    for (let nth = 0; nth < 256; nth++) await send(mailbox, `given-up-${nth}`);
    const marker = heard(mailbox, "marker");
    await send(mailbox, "marker");
    await marker;
    let isTold = false;
    mailbox.expect("first", { granted: () => (isTold = true), interrupted: () => {} });
    expect(isTold).toBe(false);
  });
});
