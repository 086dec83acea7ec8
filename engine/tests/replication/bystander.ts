/** Somebody who uses a server while something happens to others, and how long he had to wait at most. */
import { pause, type Server } from "./servers.ts";

export class Bystander {
  asked = 0;
  worstMs = 0;
  #stopped = false;
  readonly #done: Promise<void>;

  constructor(server: Server) {
    this.#done = this.#run(server);
    this.#done.catch(() => {});
  }

  async #run(server: Server): Promise<void> {
    const wire = await server.wire();
    while (!this.#stopped) {
      const started = performance.now();
      const [set, got] = await wire.pipeline([
        ["SET", "bystander", String(this.asked)],
        ["GET", "bystander"],
      ]);
      if (set!.text !== "OK" || got!.text !== String(this.asked))
        throw new Error(`answered ${set!.text}, ${got!.text}`);
      this.asked++;
      this.worstMs = Math.max(this.worstMs, performance.now() - started);
      await pause(2);
    }
    await wire.close();
  }

  async stop(): Promise<{ asked: number; "worst wait ms": number }> {
    this.#stopped = true;
    await this.#done;
    return { asked: this.asked, "worst wait ms": this.worstMs };
  }
}
