import type { Plugin as BundlerPlugin } from "esbuild";
import type { Plugin } from "vitest/config";

export const inlineTexts: BundlerPlugin;
export const inlineTextsInVite: Plugin;
