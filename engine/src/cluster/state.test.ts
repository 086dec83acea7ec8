/** The state that nodes share: owners, epochs, failures, elections, partitions. */
import { describe, expect, test } from "vitest";
import { SLOTS } from "../lib/key-slot.ts";
import { ClusterNode, ClusterState, type Seat } from "./state.ts";

class TestSeat implements Seat {
  readonly id: string;
  offset = 0;
  hasData = true;
  mayTakeOver = true;
  mayMigrate = true;
  migrationBarrier = 1;
  changes = 0;
  lost: number[] = [];

  constructor(id: string) {
    this.id = id;
  }

  changed(slots: ReadonlyMap<number, ClusterNode | null>): void {
    this.changes++;
    for (const [slot, before] of slots) if (before?.id === this.id) this.lost.push(slot);
  }

  deliver(): void {}
  pauseWrites(): void {}
  resumeWrites(): void {}
}

const TIMEOUT_MS = 1000;

/** Primaries a, b and c with the replicas ra, rb and rc. */
function threeAndThree() {
  const state = new ClusterState();
  const seats: Record<string, TestSeat> = {};
  ["a", "b", "c"].forEach((id, i) => {
    const node = state.add(new ClusterNode(id));
    state.setEpoch(node, i + 1);
    state.assign(
      Array.from({ length: SLOTS }, (_, slot) => slot).filter((slot) => slot % 3 === i),
      node,
    );
  });
  for (const id of ["ra", "rb", "rc"]) state.add(new ClusterNode(id)).primary = state.nodes.get(id.slice(1))!;
  for (const id of state.nodes.keys()) {
    seats[id] = new TestSeat(id);
    state.take(seats[id]);
  }
  const node = (id: string) => state.nodes.get(id)!;
  const wait = (ms: number, from = 1) => {
    state.tick(from, from, TIMEOUT_MS);
    state.tick(from + ms, from + ms, TIMEOUT_MS);
  };
  return { state, seats, node, wait };
}

describe("slots", () => {
  test("are ranges where they are neighbours", () => {
    const state = new ClusterState();
    const node = state.add(new ClusterNode("a"));
    state.assign([5, 6, 7, 9, 16383], node);
    expect(state.rangesOf(node)).toEqual([
      [5, 7],
      [9, 9],
      [16383, 16383],
    ]);
    expect(state.isCovered).toBe(false);
    state.assign([6], null);
    expect(node.slotCount).toBe(4);
    expect(state.ownerOf(6)).toBeNull();
  });

  test("that leave are told to their old owner", () => {
    const { state, seats, node } = threeAndThree();
    state.assign([0], node("b"));
    expect(seats.a!.lost).toEqual([0]);
    expect(seats.c!.lost).toEqual([]);
  });

  test("a primary without slots follows who took the last one, with its replicas", () => {
    const { state, node } = threeAndThree();
    state.assign(state.slotsOf(node("a")), node("b"));
    expect(node("a").primary).toBe(node("b"));
    expect(node("ra").primary).toBe(node("b"));
  });
});

describe("a node that is gone", () => {
  test("is suspected after the timeout, and has failed once the majority sees it; its replica takes over", () => {
    const { state, seats, node, wait } = threeAndThree();
    state.leave(seats.a!);
    wait(TIMEOUT_MS);
    expect(node("a").health).toBe("ok");
    wait(TIMEOUT_MS + 1);
    expect(node("a").health).toBe("failed");
    expect(node("ra").isPrimary).toBe(true);
    expect(state.ownerOf(0)).toBe(node("ra"));
    expect(node("ra").configEpoch).toBe(4);
    expect(state.isCovered).toBe(true);
    state.take(seats.a!);
    expect(node("a").primary).toBe(node("ra"));
    expect(node("a").health).toBe("ok");
  });

  test("is replaced by the replica with the most data that may", () => {
    const { state, seats, node, wait } = threeAndThree();
    for (const [id, offset] of [
      ["r2", 10],
      ["r3", 30],
      ["r4", 20],
    ] as const) {
      state.add(new ClusterNode(id)).primary = node("a");
      seats[id] = new TestSeat(id);
      seats[id].offset = offset;
      state.take(seats[id]);
    }
    seats.r3!.mayTakeOver = false;
    state.leave(seats.a!);
    wait(TIMEOUT_MS + 1);
    expect(state.ownerOf(0)).toBe(node("r4"));
    expect(node("r3").primary).toBe(node("r4"));
  });

  test("is only suspected where most primaries are gone", () => {
    const { state, seats, node, wait } = threeAndThree();
    state.leave(seats.a!);
    state.leave(seats.b!);
    wait(TIMEOUT_MS + 1);
    expect(node("a").health).toBe("suspected");
    expect(state.hasMajority).toBe(false);
    expect(node("ra").isPrimary).toBe(false);
  });
});

describe("a primary whose replicas are gone", () => {
  test("gets one from the primary that has most, after a while", () => {
    const { state, seats, node, wait } = threeAndThree();
    for (const id of ["r2", "r1"]) {
      state.add(new ClusterNode(id)).primary = node("b");
      seats[id] = new TestSeat(id);
      state.take(seats[id]);
    }
    wait(10);
    state.leave(seats.ra!);
    state.tick(20, 20, TIMEOUT_MS);
    state.tick(5020, 5020, TIMEOUT_MS);
    expect(state.replicasOf(node("a")).map(({ id }) => id)).toEqual(["ra"]);
    state.tick(5021, 5021, TIMEOUT_MS);
    expect(node("r1").primary).toBe(node("a"));
    expect(node("r2").primary).toBe(node("b"));
  });

  test("gets none where the other would be left with too few, or does not let it go", () => {
    const { state, seats, node } = threeAndThree();
    for (const at of [10, 20]) state.tick(at, at, TIMEOUT_MS);
    state.leave(seats.ra!);
    for (const at of [30, 9000, 20_000]) state.tick(at, at, TIMEOUT_MS);
    expect(node("rb").primary).toBe(node("b"));
    expect(node("rc").primary).toBe(node("c"));
  });
});

describe("a partition", () => {
  test("ends with the claims of the side that went on", () => {
    const { state, seats, node, wait } = threeAndThree();
    const side = state.fork();
    state.leave(seats.a!);
    side.take(seats.a!);
    for (const each of [state, side]) each.lose(1, 1);
    expect(side.hasMajority).toBe(true);
    wait(TIMEOUT_MS + 1);
    // Before the majority promotes anybody, the other side has stopped.
    expect(side.hasMajority).toBe(false);
    expect(side.ownerOf(0)!.id).toBe("a");
    expect(state.ownerOf(0)).toBe(node("ra"));
    state.absorb(side);
    side.leave(seats.a!);
    state.take(seats.a!);
    expect(state.ownerOf(0)).toBe(node("ra"));
    expect(node("a").primary).toBe(node("ra"));
  });

  test("in which a minority was made to take over ends with its later claim", () => {
    const { state, seats, node } = threeAndThree();
    const side = state.fork();
    for (const id of ["ra"]) {
      state.leave(seats[id]!);
      side.take(seats[id]!);
    }
    side.takeOver(side.nodes.get("ra")!);
    expect(state.ownerOf(0)).toBe(node("a"));
    state.absorb(side);
    state.take(seats.ra!);
    expect(state.ownerOf(0)).toBe(node("ra"));
    expect(node("ra").isPrimary).toBe(true);
    expect(node("a").primary).toBe(node("ra"));
  });
});

test("epochs: a bump goes above all others, and only if it has to", () => {
  const { state, node } = threeAndThree();
  expect(state.bumpEpoch(node("c"))).toBe(false);
  expect(state.bumpEpoch(node("a"))).toBe(true);
  expect(node("a").configEpoch).toBe(4);
  expect(state.currentEpoch).toBe(4);
});

test("a node that is forgotten leaves its slots to nobody", () => {
  const { state, node } = threeAndThree();
  state.forget(node("a"));
  expect(state.ownerOf(0)).toBeNull();
  expect(node("ra").primary).toBeNull();
  expect(state.forgotten.has("a")).toBe(true);
});
