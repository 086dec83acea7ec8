/** The nth of a list that begins anew at its end: how sample data spread a few values over many things. */
export function cycled<T>(list: readonly T[], nth: number): T {
  const item = list[nth % list.length];
  if (item === undefined) throw new RangeError("there is nothing to choose from");
  return item;
}
