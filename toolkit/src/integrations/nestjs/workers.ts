/** Finds the processors among the application's providers and runs a worker for each. */
import type { DiscoveryService, ModuleRef } from "@nestjs/core";
import { InputError } from "../../base/errors.ts";
import { type Queue, Worker } from "../../components/queues/index.ts";
import { methodFacts, type ProcessorFacts, processorFacts, queueToken } from "./decorators.ts";

type Method = (...args: unknown[]) => unknown;

export class QueueWorkers {
  readonly #discovery: DiscoveryService;
  readonly #modules: ModuleRef;
  readonly #workers: Worker[] = [];

  constructor(discovery: DiscoveryService, modules: ModuleRef) {
    this.#discovery = discovery;
    this.#modules = modules;
  }

  onApplicationBootstrap(): void {
    const seen = new Set<unknown>();
    for (const { metatype, instance } of this.#discovery.getProviders()) {
      if (typeof metatype !== "function") continue;
      const facts = processorFacts(metatype);
      if (facts === null || !instance || seen.has(instance)) continue;
      seen.add(instance);
      this.#workers.push(this.#worker(metatype, instance, facts));
    }
    for (const worker of this.#workers) worker.start();
  }

  /** Before connections close: what handlers still call is there. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.stop()));
  }

  #worker(type: { prototype: object; name: string }, instance: object, { queue, options }: ProcessorFacts): Worker {
    const { handlers, listeners } = methodFacts(type);
    if (handlers.size === 0) throw new InputError(`${type.name} has no method with @Process()`);
    const bound = (method: PropertyKey): Method => Reflect.get(instance, method).bind(instance);
    const named = Object.fromEntries([...handlers].map(([name, method]) => [name, bound(method)]));
    const worker = new Worker(this.#queue(queue, type.name), named, options);
    for (const { event, method } of listeners) {
      worker.on(event, bound(method));
    }
    return worker;
  }

  #queue(name: string, processor: string): Queue {
    try {
      return this.#modules.get<Queue>(queueToken(name), { strict: false });
    } catch (cause) {
      const how = `CinnabarModule.forFeature({ queues: ["${name}"] })`;
      throw new InputError(`${processor} handles the queue "${name}", which no module has: import ${how}`, { cause });
    }
  }
}
