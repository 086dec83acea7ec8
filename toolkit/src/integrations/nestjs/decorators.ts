/** What classes of an application say about themselves, remembered until the module looks for it. */
import { Inject, Injectable } from "@nestjs/common";
import { oneOf, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import type { WorkerEvents, WorkerOptions } from "../../components/queues/index.ts";

export interface ProcessorFacts {
  readonly queue: string;
  readonly options: WorkerOptions<unknown>;
}

type EventName = keyof WorkerEvents<unknown, unknown>;

/** What the methods of one class are for. */
interface MethodFacts {
  /** Name of jobs → name of a method. */
  readonly handlers: Map<string, PropertyKey>;
  readonly listeners: { readonly event: EventName; readonly method: PropertyKey }[];
}

const processors = new WeakMap<object, ProcessorFacts>();
const methods = new WeakMap<object, MethodFacts>();

const EVENTS = ["done", "failed", "lost", "slow", "error"] as const;

/**
 * The provider of a queue that `forFeature` has.
 * @example
 * queueToken("mails"); // → "cinnabar:queue:mails"
 */
export function queueToken(name: string): string {
  return `cinnabar:queue:${word("the name of a queue", name)}`;
}

/**
 * `constructor(@InjectQueue("mails") mails: Queue<Mail>)`.
 * @example
 * class Mailer {
 *   constructor(@InjectQueue("mails") readonly mails: Queue<string>) {}
 * }
 */
export function InjectQueue(name: string): ParameterDecorator & PropertyDecorator {
  return Inject(queueToken(name));
}

/**
 * The class handles jobs of this queue, which `forFeature` names; its methods say which with `@Process`.
 * @example
 * @Processor("mails", { concurrency: 5 })
 * class Mails {
 *   @Process()
 *   send({ data }: RunningJob<string>) {}
 * }
 */
export function Processor(queue: string, options: WorkerOptions<unknown> = {}): ClassDecorator {
  word("the name of a queue", queue);
  return (target) => {
    processors.set(target, { queue, options });
    Injectable()(target);
  };
}

/**
 * The method handles jobs of this name; without one, all that no other method handles.
 * @example
 * @Processor("mails")
 * class Mails {
 *   @Process("welcome")
 *   welcome({ data }: RunningJob<string>) {}
 * }
 */
export function Process(name = "*"): MethodDecorator {
  return (target, method) => {
    const { handlers } = methodsOf(target);
    if (handlers.has(name))
      throw new InputError(`${target.constructor.name} has two handlers for jobs named "${name}"`);
    handlers.set(name, method);
  };
}

/**
 * The method hears of an event of the worker: `done`, `failed`, `lost`, `slow`, `error`.
 * @example
 * @Processor("mails")
 * class Mails {
 *   @OnWorkerEvent("failed")
 *   failed(job: RunningJob<string>, error: unknown) {}
 * }
 */
export function OnWorkerEvent(event: EventName): MethodDecorator {
  oneOf("event", event, EVENTS);
  return (target, method) => {
    methodsOf(target).listeners.push({ event, method });
  };
}

function methodsOf(prototype: object): MethodFacts {
  let facts = methods.get(prototype);
  if (facts === undefined) {
    facts = { handlers: new Map(), listeners: [] };
    methods.set(prototype, facts);
  }
  return facts;
}

/** Null for a class that is no processor. */
export function processorFacts(type: object): ProcessorFacts | null {
  return processors.get(type) ?? null;
}

/** Of the class and those that it extends; its own come first. */
export function methodFacts(type: { readonly prototype: object }): MethodFacts {
  const all: MethodFacts = { handlers: new Map(), listeners: [] };
  for (let each: object | null = type.prototype; each !== null; each = Object.getPrototypeOf(each)) {
    const own = methods.get(each);
    if (own === undefined) continue;
    for (const [name, method] of own.handlers) if (!all.handlers.has(name)) all.handlers.set(name, method);
    all.listeners.push(...own.listeners);
  }
  return all;
}
