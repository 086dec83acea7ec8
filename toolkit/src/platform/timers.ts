/** Timers that do not keep the process alive. */
export function letGo(timer: NodeJS.Timeout): void {
  timer.unref();
}
