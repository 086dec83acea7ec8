import { expect, test } from "vitest";
import type { Persistence } from "../persist/persistence.ts";
import { DiskMarks } from "./disk-marks.ts";

/** The parts of an append-only file that are asked. */
function aFile() {
  const appender = { writtenBytes: 0, bufferedBytes: 0, syncedBytes: 0 };
  const aof = { state: "on", appender };
  return { aof, appender, marks: new DiskMarks({ aof } as unknown as Persistence) };
}

test("an offset is on disk when what the file had been given by then is synced", () => {
  const { appender, marks } = aFile();
  appender.writtenBytes = 10;
  marks.note(100);
  appender.bufferedBytes = 10;
  marks.note(200);
  expect(marks.offset).toBe(0);
  appender.syncedBytes = 10;
  expect(marks.offset).toBe(100);
  appender.syncedBytes = 20;
  expect(marks.offset).toBe(200);
});

test("what came while the first base was written is on disk with it, without waiting for more to come", () => {
  const { aof, appender, marks } = aFile();
  aof.state = "waiting";
  marks.note(100);
  expect(marks.offset).toBeUndefined();
  aof.state = "on";
  appender.bufferedBytes = 5;
  expect(marks.offset).toBe(0);
  appender.syncedBytes = 5;
  expect(marks.offset).toBe(100);
});

test("another history begins at nothing", () => {
  const { aof, marks } = aFile();
  aof.state = "waiting";
  marks.note(100);
  marks.reset();
  aof.state = "on";
  expect(marks.offset).toBe(0);
});
