/** The examples of NestJS and Socket.IO, driven by HTTP and by real clients. */
import { io as connect, type Socket } from "socket.io-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeStores, type Running, started } from "./running.ts";

describeStores("nestjs.ts", (env) => {
  let example: Running;
  beforeAll(async () => {
    example = await started("nestjs.ts", env());
  });
  afterAll(() => example.stop());

  test("adds jobs that its processor runs, within the limit", async () => {
    const post = async (path: string) => (await fetch(`${example.url}${path}`, { method: "POST" })).json();
    expect(await post("/welcome/ann")).toEqual({ status: "done", result: "welcome ann" });
    expect(await post("/welcome/ann")).toEqual({ status: "limited" });
    expect(await post("/welcome/ben")).toEqual({ status: "done", result: "welcome ben" });
    expect(await (await fetch(`${example.url}/sent`)).json()).toEqual({ sent: ["ann", "ben"] });
  });
});

describeStores("socket-io.ts", (env) => {
  let example: Running;
  const clients: Socket[] = [];
  beforeAll(async () => {
    example = await started("socket-io.ts", env());
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await example.stop();
  });

  test("passes on what clients of different servers say, and what an emitter sends", async () => {
    const [first, second] = example.url.split(",").map((url) => connect(url, { transports: ["websocket"] }));
    clients.push(first!, second!);
    const heard = (): Promise<string> => new Promise((resolve) => second!.once("said", resolve));
    await second!.emitWithAck("join", "news");
    const said = heard();
    first!.emit("say", "news", "hello");
    expect(await said).toBe("hello");
    const sent = heard();
    expect(await (await fetch(`${example.url.split(",")[0]}/news`)).text()).toBe("sent");
    expect(await sent).toBe("from the emitter");
  });
});
