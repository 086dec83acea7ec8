export declare const NODES: readonly string[];
export declare function nodeOf(release: string): string;
export declare function bunProgram(): string;
export declare function denoProgram(): string;
