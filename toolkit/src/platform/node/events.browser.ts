/** Stands for `node:events` in browsers, which warn of no number of listeners. */
export function setMaxListeners(_most: number, _target: EventTarget): void {}
