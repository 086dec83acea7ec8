/** Two streams that are each other's end: order, back-pressure, and how one learns that the other is gone. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { LocalStream } from "./local-stream.ts";

describe("a pair of streams", () => {
  it("carries bytes both ways in order", async () => {
    const [a, b] = LocalStream.pair();
    const heard = { a: "", b: "" };
    a.on("data", (chunk) => (heard.a += chunk));
    b.on("data", (chunk) => (heard.b += chunk));
    a.write("one");
    a.write("two");
    b.write("three");
    await new Promise(setImmediate);
    expect(heard).toEqual({ a: "three", b: "onetwo" });
  });

  it("lets a writer wait for a reader that does not read", async () => {
    const [a, b] = LocalStream.pair();
    let accepted = true;
    for (let i = 0; i < 100 && accepted; i++) accepted = a.write(Buffer.alloc(10_000));
    expect(accepted).toBe(false);
    const pending = a.writableLength + b.readableLength;
    // What both ends may hold, which is more from Node 22 on, and a chunk.
    expect(pending).toBeLessThan(a.writableHighWaterMark + b.readableHighWaterMark + 20_000);
    b.resume();
    await once(a, "drain");
    expect(a.writableLength).toBe(0);
  });

  it("hands over the last words of an end that has closed", async () => {
    const [a, b] = LocalStream.pair();
    a.end("bye", () => a.destroy());
    await once(a, "close");
    const chunks: Buffer[] = [];
    b.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(b, "end");
    expect(Buffer.concat(chunks).toString()).toBe("bye");
  });

  it("closes one end when the other is cut", async () => {
    const [a, b] = LocalStream.pair();
    const closed = once(b, "close");
    b.resume();
    a.destroy();
    await closed;
    expect(b.destroyed).toBe(true);
  });

  it("does not leave a writer waiting for a reader that is gone", async () => {
    const [a, b] = LocalStream.pair();
    while (a.write(Buffer.alloc(20_000)));
    b.end();
    await once(b, "finish");
    b.destroy();
    a.resume();
    a.end();
    await once(a, "close");
  });
});
