import type { Plugin } from "esbuild";

export declare const browserSources: Plugin;
