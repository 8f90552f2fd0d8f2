/** Which of several names was probably meant by a mistyped one, and how far one word is from another. */

/** Letters that may be wrong in a name that was probably meant. */
const MAX_TYPING_ERRORS = 3;

/** The name that was probably meant, if one is near enough. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({
      name,
      distance: name.startsWith(given) && given !== '' ? 0 : editDistance(given, name, MAX_TYPING_ERRORS),
    }))
    .toSorted((one, other) => one.distance - other.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.min(MAX_TYPING_ERRORS, given.length / 2) ? best.name : undefined;
}

/**
 * Insertions, deletions and replacements of one character that make one word of the other (Levenshtein); `most + 1` for
 * anything beyond `most`.
 * @param most 0 to about 3: the work grows with it
 */
export function editDistance(one: string, other: string, most: number): number {
  const beyond = most + 1;
  if (Math.abs(one.length - other.length) > most) return beyond;
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const line = new Array<number>(other.length + 1).fill(beyond);
    if (row <= most) line[0] = row;
    let least = line[0] ?? beyond;
    // What is farther from the diagonal than `most` cannot come back.
    for (let column = Math.max(1, row - most); column <= Math.min(other.length, row + most); column += 1) {
      const replaced =
        (above[column - 1] ?? beyond) + (one.charCodeAt(row - 1) === other.charCodeAt(column - 1) ? 0 : 1);
      const cost = Math.min(replaced, (above[column] ?? beyond) + 1, (line[column - 1] ?? beyond) + 1);
      line[column] = cost;
      least = Math.min(least, cost);
    }
    if (least > most) return beyond;
    above = line;
  }
  return Math.min(above[other.length] ?? beyond, beyond);
}
