/** The handler that the sandboxes of bench/structures-jobs.ts run, ours and BullMQ's: the same file for both. */
export default async function square({ data }) {
  return data.nth * data.nth;
}
