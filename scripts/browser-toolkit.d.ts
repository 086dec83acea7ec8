import type { OutputFile, Plugin } from "esbuild";

export declare const nodeModules: Plugin;

export declare function browserWays(): readonly {
  readonly name: string;
  readonly source: string;
  readonly file: string;
  readonly runs: boolean;
}[];

export declare function importMap(
  toolkit: string,
  engine: string,
): { readonly imports: Readonly<Record<string, string>> };

export declare function bundleToolkit(outdir: string, options?: { readonly minify?: boolean }): Promise<OutputFile[]>;

export declare function whyNode(program: string): string | undefined;
