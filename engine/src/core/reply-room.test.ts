/** The room for a client's replies follows what it needs, by Redis's rule. */
import { expect, test } from "vitest";
import { Stats } from "../observe/stats.ts";
import { ReplyRoom } from "./reply-room.ts";

const settings = { resizing: true, peakResetMs: 100 };

function open() {
  const room = new ReplyRoom(0);
  const stats = new Stats(0);
  return { room, stats, resize: (now: number, more = {}) => room.resize({ ...settings, ...more }, stats, now) };
}

test("an idle client's room shrinks to a kilobyte once its peak is forgotten", () => {
  const { room, stats, resize } = open();
  resize(50);
  expect(room.bytes).toBe(16384);
  resize(150);
  resize(250);
  expect(room.bytes).toBe(1024);
  expect(stats.replyBufferShrinks).toBe(1);
});

test("a reply that fills it doubles it, up to 16 KB", () => {
  const { room, stats, resize } = open();
  resize(150);
  resize(300);
  const sizes: number[] = [];
  for (let i = 0; i < 6; i++) {
    room.used(32_768);
    resize(300, { peakResetMs: -1 });
    sizes.push(room.bytes);
  }
  expect(sizes).toEqual([2048, 4096, 8192, 16384, 16384, 16384]);
  expect(stats.replyBufferExpands).toBe(4);
});

test("keeps its size while DEBUG REPLYBUFFER RESIZING is off", () => {
  const { room, resize } = open();
  for (let now = 0; now < 1000; now += 100) resize(now, { resizing: false });
  expect(room.bytes).toBe(16384);
});
