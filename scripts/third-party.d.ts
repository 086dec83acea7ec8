export declare const LIST: string;
/** Of every release of Vite: the console and the site have one each. */
export declare function listsPackages(root: string): {
  name: string;
  generateBundle(
    this: { emitFile(file: { type: "asset"; fileName: string; source: string }): string },
    options: unknown,
    bundle: object,
  ): void;
};
export declare function bundledIn(folder: string, root: string): string[];
export declare function noticeOf(folders: readonly string[]): string | null;
