/** Where the keys of a list lead. */

const PAGE_ROWS = 15;

/** The row that a key leads to from row `from`; undefined, where it leads nowhere. */
export function rowAfter(key: string, from: number, count: number): number | undefined {
  const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -PAGE_ROWS, PageDown: PAGE_ROWS, Home: -from, End: count }[key];
  return by === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, from + by));
}

/** Without a key that would make a command for the browser of it. */
export function isPlainKey({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return !altKey && !ctrlKey && !metaKey;
}
