/** Which of the known names somebody may have meant. */

/** How many letters must be changed, put in, left out or swapped with the next to make one of the other. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(changed, isSwapped ? before[j - 2]! + 1 : changed, row[j]! + 1, next[j - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}

export function nearest(name: string, known: readonly string[]): string | null {
  const wanted = name.toLowerCase();
  let best: string | null = null;
  let least = Math.max(2, Math.floor(wanted.length / 3) + 1);
  for (const each of known) {
    const away = each.startsWith(wanted) && wanted.length > 2 ? 1 : distance(wanted, each.toLowerCase());
    if (away >= least) continue;
    best = each;
    least = away;
  }
  return best;
}

/** `; did you mean 'X'?`, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === null ? "" : `; did you mean '${near}'?`;
}
