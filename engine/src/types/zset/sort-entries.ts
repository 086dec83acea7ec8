/** Members and their scores side by side, brought into a sorted set's order. */

export interface Entries {
  readonly members: readonly string[];
  readonly scores: readonly number[];
}

/** The same entries in order; the very same where they are in order already. Members must be distinct. */
export function sortEntries(entries: Entries): Entries {
  const { members, scores } = entries;
  const compare = (a: number, b: number) => {
    if (scores[a] !== scores[b]) return scores[a]! < scores[b]! ? -1 : 1;
    return members[a]! < members[b]! ? -1 : 1;
  };
  let inOrder = true;
  for (let i = 1; i < members.length && inOrder; i++) inOrder = compare(i - 1, i) < 0;
  if (inOrder) return entries;
  const order = Array.from(members, (_, i) => i).sort(compare);
  return { members: order.map((i) => members[i]!), scores: order.map((i) => scores[i]!) };
}
