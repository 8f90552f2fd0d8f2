/** Work on many things, a few at a time. */

/** @throws what the first of them threw, once none runs any more: whatever they hold open is theirs until then */
export async function eachAtMost<Item>(
  items: Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  };
  const ends = await Promise.allSettled(Array.from({ length: most }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
