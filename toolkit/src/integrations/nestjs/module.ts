/** The module: where the store comes from, and which components are made on it. */
import type { DynamicModule, FactoryProvider, InjectionToken, ModuleMetadata, Provider } from "@nestjs/common";
import { DiscoveryModule, DiscoveryService, ModuleRef } from "@nestjs/core";
import { InputError } from "../../base/errors.ts";
import { anything, callback, defineOptions, flag, listOf, object } from "../../base/options.ts";
import { Queue, type QueueOptions } from "../../components/queues/index.ts";
import { type OpenOptions, open } from "../../connection/open.ts";
import { Store } from "../../connection/store.ts";
import { queueToken } from "./decorators.ts";
import { QueueWorkers } from "./workers.ts";

/** Which store the application has. */
export interface CinnabarModuleOptions {
  /** What `open` takes: a URL, a folder, an ioredis or node-redis client; in memory by default. */
  readonly target?: Parameters<typeof open>[0];
  /** As for `open`. None by default. */
  readonly options?: OpenOptions;
  /** In place of `target`: a store that is open already, and that the application closes itself. None by default. */
  readonly store?: Store;
  /** Whether other modules see the store without importing this one; true by default. */
  readonly isGlobal?: boolean;
}

/** Which store the application has, said by a function that other providers are given to. */
export interface CinnabarModuleAsyncOptions {
  /** Modules whose providers are injected. None by default. */
  readonly imports?: ModuleMetadata["imports"];
  /** What `useFactory` is called with. Nothing by default. */
  readonly inject?: readonly InjectionToken[];
  /** Answers what `forRoot` takes. */
  // biome-ignore lint/suspicious/noExplicitAny: what is injected has the types that the application says
  readonly useFactory: (...injected: any[]) => CinnabarModuleOptions | Promise<CinnabarModuleOptions>;
  /** Whether other modules see the store without importing this one; true by default. */
  readonly isGlobal?: boolean;
}

/** A class of the toolkit that is made on a store. */
// biome-ignore lint/suspicious/noExplicitAny: each has options of its own
export type Component<T = unknown> = new (store: Store, ...args: any[]) => T;

/** A component with what its constructor takes after the store. */
export interface ComponentProvider {
  /** The class. */
  readonly type: Component;
  /** What its constructor takes after the store. */
  readonly args: readonly unknown[];
}

/** What a module is given of the toolkit. */
export interface FeatureOptions {
  /** Each is injected by its class. None by default. */
  readonly components?: readonly (Component | ComponentProvider)[];
  /** Each is injected by `@InjectQueue(name)`, and its processors are found by the name. None by default. */
  readonly queues?: readonly (string | { readonly name: string; readonly options?: QueueOptions<never, never> })[];
}

const ROOT_OPTIONS = defineOptions<CinnabarModuleOptions>("CinnabarModule.forRoot", {
  target: anything,
  options: object,
  store: object,
  isGlobal: flag,
});

const ASYNC_OPTIONS = defineOptions<CinnabarModuleAsyncOptions>("CinnabarModule.forRootAsync", {
  imports: listOf(anything),
  inject: listOf(anything),
  useFactory: { ...callback, isRequired: true },
  isGlobal: flag,
});

const FEATURE_OPTIONS = defineOptions<FeatureOptions>("CinnabarModule.forFeature", {
  components: listOf(anything),
  queues: listOf(anything),
});

/**
 * A component with options: `component(RateLimits, { name: "api", rules })`.
 * @example
 * const limits = component(RateLimits, { name: "api", rules: [{ limit: 100, windowMs: 60_000 }] });
 * const feature = CinnabarModule.forFeature({ components: [limits] });
 * feature.providers?.length; // → 1
 */
export function component<A extends readonly unknown[]>(
  type: new (store: Store, ...args: A) => unknown,
  ...args: A
): ComponentProvider {
  return { type, args };
}

const SETTINGS = "cinnabar:settings";

/** Closes the store when everything that uses it has ended, unless the application has opened it itself. */
class StoreLifetime {
  readonly #store: Store;
  readonly #isOurs: boolean;

  constructor(store: Store, isOurs: boolean) {
    this.#store = store;
    this.#isOurs = isOurs;
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.#isOurs) await this.#store.close();
  }
}

/**
 * The store for an application, and components and queues on it for its modules. Modules that name the same queue share its workers: a
 * processor is one provider, and starts one worker.
 * @example
 * import { Module } from "@nestjs/common";
 * @Module({
 *   imports: [CinnabarModule.forRoot({ target: "redis://localhost:6379" }), CinnabarModule.forFeature({ queues: ["mails"] })],
 * })
 * class AppModule {}
 */
export class CinnabarModule {
  /** The store for the whole application, injected by its class: `Store` of `cinnabar`. */
  static forRoot(options: CinnabarModuleOptions = {}): DynamicModule {
    ROOT_OPTIONS.check(options);
    return rootModule([{ provide: SETTINGS, useValue: options }], options.isGlobal);
  }

  /** The same with options that other providers know: a service for configuration, say. */
  static forRootAsync(options: CinnabarModuleAsyncOptions): DynamicModule {
    ASYNC_OPTIONS.check(options);
    const { useFactory, inject = [], imports = [], isGlobal } = options;
    return rootModule([{ provide: SETTINGS, useFactory, inject: [...inject] }], isGlobal, imports);
  }

  /** Components and queues for the module that imports it. */
  static forFeature(options: FeatureOptions): DynamicModule {
    FEATURE_OPTIONS.check(options);
    const providers = [
      ...(options.components ?? []).map(componentProvider),
      ...(options.queues ?? []).map(queueProvider),
    ];
    return { module: CinnabarModule, providers, exports: providers.map(({ provide }) => provide) };
  }
}

function rootModule(
  settings: Provider[],
  isGlobal = true,
  imports: NonNullable<ModuleMetadata["imports"]> = [],
): DynamicModule {
  return {
    module: CinnabarModule,
    global: isGlobal,
    imports: [...imports, DiscoveryModule],
    providers: [
      ...settings,
      { provide: Store, inject: [SETTINGS], useFactory: storeFrom },
      {
        provide: StoreLifetime,
        inject: [Store, SETTINGS],
        useFactory: (store: Store, given: CinnabarModuleOptions) => new StoreLifetime(store, given.store === undefined),
      },
      {
        provide: QueueWorkers,
        inject: [DiscoveryService, ModuleRef],
        useFactory: (discovery: DiscoveryService, modules: ModuleRef) => new QueueWorkers(discovery, modules),
      },
    ],
    exports: [Store],
  };
}

async function storeFrom(given: CinnabarModuleOptions): Promise<Store> {
  ROOT_OPTIONS.check(given);
  const { store, target, options } = given;
  if (store === undefined) return open(target ?? "memory:", options);
  if (target !== undefined || options !== undefined)
    throw new InputError("CinnabarModule: give store or target, not both");
  return store;
}

function componentProvider(given: Component | ComponentProvider): FactoryProvider {
  const { type, args } = typeof given === "function" ? { type: given, args: [] } : given;
  if (typeof type !== "function") {
    throw new InputError("CinnabarModule.forFeature: components are classes, or component(Class, options)");
  }
  return { provide: type, inject: [Store], useFactory: (store: Store) => new type(store, ...args) };
}

function queueProvider(given: NonNullable<FeatureOptions["queues"]>[number]): FactoryProvider {
  const { name, options } = typeof given === "string" ? { name: given, options: undefined } : given;
  const make = (store: Store): Queue<never, never> => new Queue<never, never>(store, name, options);
  return { provide: queueToken(name), inject: [Store], useFactory: make };
}
