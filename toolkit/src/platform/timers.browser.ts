/** Nothing keeps a page alive. */
export function letGo(_timer: unknown): void {}
