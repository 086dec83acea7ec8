/** The contract of elections. Leases themselves are tested in ../../leases; kills and pauses in toolkit/tests/faults/coordination. */
import { expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { ConnectionError, LeaseLostError } from "../../base/errors.ts";
import { Elections, type Leader, type Term } from "./index.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await turn();
};
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

describeBackends("elections", (backend) => {
  const elections = (): Elections => new Elections(backend.store);
  const others = async (): Promise<Elections> => new Elections(await backend.open());

  test("a term that is ended by an operator goes to the next in line", async () => {
    const elections = new Elections(backend.store);
    const term = await elections.campaign("hung", { id: "one" });
    const next = elections.campaign("hung", { id: "two" });
    await until(async () => (await elections.inspect("hung")).waiting === 1);
    expect(await elections.release("hung")).toBe(1);
    const second = await next;
    expect((await elections.get("hung"))?.id).toBe("two");
    expect(await term?.resign()).toBe(false);
    await second?.resign();
    expect(await elections.release("hung")).toBe(0);
  });

  test("have one leader; the others wait in line and are seen", async () => {
    const term = await elections().campaign("indexer", { id: "ann" });
    const theirs = await others();
    expect(await theirs.campaign("indexer", { id: "bob", waitMs: 0 })).toBeNull();
    const next = theirs.campaign("indexer", { id: "bob" });
    await until(async () => (await elections().inspect("indexer")).waiting === 1);
    const { leader, candidates } = await elections().inspect("indexer");
    expect(leader).toMatchObject({ id: "ann", fence: term!.fence });
    expect(candidates).toEqual(["bob"]);
    expect(await term!.resign()).toBe(true);
    const bob = await next;
    expect(bob!.fence).toBeGreaterThan(term!.fence);
    expect(await elections().get("indexer")).toMatchObject({ id: "bob", fence: bob!.fence });
    await bob!.resign();
    expect(await elections().get("indexer")).toBeNull();
  });

  test("of different names have leaders of their own", async () => {
    const [a, b] = [await elections().campaign("a"), await elections().campaign("b")];
    expect([a!.validForMs > 0, b!.validForMs > 0]).toEqual([true, true]);
    expect(a!.id).not.toBe(b!.id);
    await Promise.all([a!.resign(), b!.resign()]);
  });

  test("a term that is over has an aborted signal, and says how", async () => {
    const term = (await elections().campaign("x"))!;
    expect(term.signal.aborted).toBe(false);
    await term.resign();
    expect(term.signal.reason).toMatchObject({ code: "RESIGNED" });
    expect([term.validForMs, term.lost]).toEqual([0, false]);
    expect(await term.resign()).toBe(true);
  });

  test("a leader that the server has forgotten is told so", async () => {
    const term = (await elections().campaign("x", { leaseMs: 300 }))!;
    await backend.flush();
    await aborted(term.signal);
    expect(term.lost).toBe(true);
    expect(term.signal.reason).toBeInstanceOf(LeaseLostError);
  });

  test("a term that was lost before anybody asked for its signal says so, also after it was resigned", async () => {
    const term = (await elections().campaign("x", { leaseMs: 300 }))!;
    await backend.flush();
    await expect.poll(() => term.lost, { timeout: 10_000 }).toBe(true);
    await term.resign();
    expect(term.signal.aborted).toBe(true);
    expect(term.signal.reason).toBeInstanceOf(LeaseLostError);
  });

  test("a leader hands over to the candidate that it chooses, before those that came earlier", async () => {
    const term = (await elections().campaign("x", { id: "ann" }))!;
    const theirs = await others();
    const bob = theirs.campaign("x", { id: "bob" });
    await until(async () => (await elections().inspect("x")).waiting === 1);
    const eve = theirs.campaign("x", { id: "eve lässt grüßen: 1" });
    await until(async () => (await elections().inspect("x")).waiting === 2);
    expect((await elections().inspect("x")).candidates).toEqual(["bob", "eve lässt grüßen: 1"]);
    expect(await term.handOver("nobody")).toEqual({ status: "not-found" });
    expect(term.validForMs).toBeGreaterThan(0);
    // A candidate that has just come may not listen yet.
    await until(async () => (await term.handOver("eve lässt grüßen: 1")).status === "handed-over");
    expect(term.signal.reason).toMatchObject({ code: "RESIGNED" });
    expect([term.validForMs, term.lost]).toEqual([0, false]);
    const successor = (await eve)!;
    expect(successor.fence).toBeGreaterThan(term.fence);
    expect(await term.handOver("bob")).toEqual({ status: "lost" });
    expect((await elections().inspect("x")).candidates).toEqual(["bob"]);
    await successor.resign();
    expect(await (await bob)!.resign()).toBe(true);
  });

  test("a term is not valid while it is handed over, and over where no answer comes", async () => {
    let asks = 0;
    const lost = new ConnectionError("the answer was lost", { maybeExecuted: true });
    const store = beforeScript(backend.store, "elections.handOver", () => {
      asks += 1;
      return Promise.reject(lost);
    });
    const term = (await new Elections(store).campaign("x"))!;
    const asked = term.handOver("bob");
    expect([term.validForMs, term.signal.aborted]).toEqual([0, false]);
    await expect(asked).rejects.toBe(lost);
    expect(asks).toBe(1);
    expect([term.validForMs, term.signal.aborted, term.lost]).toEqual([0, true, false]);
    // Nothing was handed over: it was given back.
    await until(async () => (await elections().get("x")) === null);
  });

  test("a term ends when it is disposed of", async () => {
    {
      await using term = (await elections().campaign("x"))!;
      expect(term.validForMs).toBeGreaterThan(0);
    }
    expect(await elections().get("x")).toBeNull();
  });

  test("campaigning ends by its signal, and leaves the line", async () => {
    const term = await elections().campaign("x");
    const giveUp = new AbortController();
    const waiting = (await others()).campaign("x", { signal: giveUp.signal });
    await until(async () => (await elections().inspect("x")).waiting === 1);
    giveUp.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect((await elections().inspect("x")).waiting).toBe(0);
    await term!.resign();
  });

  test("at most maxWaiting wait", async () => {
    const small = new Elections(backend.store, { maxWaiting: 1 });
    const term = await small.campaign("x");
    const first = small.campaign("x");
    await until(async () => (await small.inspect("x")).waiting === 1);
    expect(await small.campaign("x")).toBeNull();
    await term!.resign();
    await (await first)!.resign();
  });

  test("observers see every leader that lasts, and when there is none", async () => {
    const seen: (Leader | null)[] = [];
    const ending = new AbortController();
    const observing = (async () => {
      for await (const leader of elections().leaders("x", { signal: ending.signal })) seen.push(leader);
    })();
    await until(() => seen.length === 1);
    const theirs = await others();
    const term = await theirs.campaign("x", { id: "ann" });
    await until(() => seen.length === 2);
    await term!.resign();
    await until(() => seen.length === 3);
    ending.abort(new Error("seen enough"));
    await expect(observing).rejects.toThrow("seen enough");
    expect(seen.map((leader) => leader?.id ?? null)).toEqual([null, "ann", null]);
  });

  test("a candidate leads whenever it is its turn, one at a time, until it is stopped", async () => {
    const log: string[] = [];
    // Either may ask so much later than the other that it has had several turns by then.
    const isEnough = () => log.length >= 6 && new Set(log).size === 2;
    let leading = 0;
    const stand = (made: Elections, id: string) =>
      made
        .candidate("x", { id }, async (term: Term, signal) => {
          leading += 1;
          log.push(`${id} leads`);
          expect(leading).toBe(1);
          // It resigns by returning.
          if (isEnough()) await aborted(signal);
          else await turn();
          expect(term.id).toBe(id);
          leading -= 1;
        })
        .start();
    const candidates = [stand(elections(), "ann"), stand(await others(), "bob")];
    await until(isEnough);
    for (const candidate of candidates) await candidate.stop();
    expect(await elections().get("x")).toBeNull();
    expect(candidates.map(({ term, running }) => [term, running])).toEqual([
      [null, false],
      [null, false],
    ]);
  });

  test("a candidate whose term is ended from outside has its signal aborted, and stands again", async () => {
    const terms: Term[] = [];
    const ends: string[] = [];
    await using candidate = elections().candidate("x", { id: "ann" }, async (term, signal) => {
      terms.push(term);
      await aborted(signal);
    });
    candidate.on("ended", (_term, how) => ends.push(how));
    candidate.start();
    await until(() => candidate.term !== null);
    await candidate.term!.resign();
    await until(() => terms.length === 2);
    expect(terms[1]!.fence).toBeGreaterThan(terms[0]!.fence);
    expect(ends).toEqual(["ended"]);
    await backend.flush();
    // Its lease is 10 s: the loss is noticed by the next renewal, or at once by asking.
    expect(await terms[1]!.resign()).toBe(false);
  });

  test("a body that throws is told as an error, and the candidate goes on", async () => {
    const errors: string[] = [];
    let runs = 0;
    const candidate = new Elections(backend.store, { pollMs: 10 }).candidate("x", {}, async (_term, signal) => {
      if (++runs === 1) throw new Error("the first fails");
      await aborted(signal);
    });
    const off = candidate.on("error", ({ message }) => errors.push(message));
    candidate.start();
    await until(() => runs === 2);
    await candidate.stop();
    off();
    expect(errors).toEqual(["the first fails"]);
  });

  test("refuse what makes no sense before anything is written", async () => {
    const made = elections();
    await expect(made.campaign("")).rejects.toThrow("name of an election");
    await expect(made.campaign("x", { id: "" })).rejects.toThrow("id of a candidate");
    await expect(made.campaign("x", { id: "x".repeat(257) })).rejects.toThrow("256 bytes");
    expect(() => made.candidate("x", { leaseMs: 4_000_000 }, () => {})).toThrow("leaseMs");
    expect(() => made.candidate("x", {}, undefined as never)).toThrow("body must be a function");
    expect(() => made.candidate("", {}, () => {})).toThrow("name");
  });
});
