/** Stands for `node:os` in browsers. */
export const hostname = (): string => "browser";
