/** How far a word is from another one, for words that are misspelt. */

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
