/**
 * In place of which operations a process is killed: of every one whose death leaves something that no other leaves. All
 * operations are seen all the same, and counted.
 */

/**
 * What only has bytes reach the disk. A process that is killed leaves all that it has written, flushed or not: in place
 * of a flush and in place of what comes after it, it leaves the same.
 */
const FLUSH = /^(?:data)?sync$/;

/** To a file that is open, as to a log: one after the other, each of which leaves something else. */
const WRITE = /^write$/;

/** What differs from one life to the next, and between files of one kind. */
const NAMES = /[0-9a-f-]{8,}|\d+/g;

/** So many of one kind in a row are begun at once, for as many files. */
const AT_ONCE = 4;

/** @returns numbers of `operations`, from 1 on, in their order */
export function pointsWorthKilling(operations: readonly string[]): number[] {
  const kinds = operations.map((operation) => operation.replace(NAMES, ''));
  return kinds.flatMap((kind, index) => {
    const isSameAsNext = FLUSH.test(kind) && index < kinds.length - 1;
    return isSameAsNext || isAmongMany(kinds, index) ? [] : [index + 1];
  });
}

/** Whether many are begun at once, and this is not the first, the middle or the last of them. */
function isAmongMany(kinds: readonly string[], index: number): boolean {
  if (WRITE.test(kinds[index] ?? '')) return false;
  let [first, last] = [index, index];
  while (first > 0 && kinds[first - 1] === kinds[index]) first -= 1;
  while (last < kinds.length - 1 && kinds[last + 1] === kinds[index]) last += 1;
  return last - first >= AT_ONCE - 1 && ![first, Math.floor((first + last) / 2), last].includes(index);
}

/** So many of `points`, evenly spread. */
export function evenly(points: readonly number[], count: number): number[] {
  const distance = points.length / count;
  return points.filter((_, index) => Math.floor((index + 1) / distance) !== Math.floor(index / distance));
}
