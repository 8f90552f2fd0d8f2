/** Which of several names was probably meant by a mistyped one. */

/** Letters that may be wrong in a name that was probably meant. */
const MAX_TYPING_ERRORS = 3;

/** The name that was probably meant, if one is near enough. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: name.startsWith(given) && given !== '' ? 0 : editDistance(given, name) }))
    .toSorted((one, other) => one.distance - other.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.min(MAX_TYPING_ERRORS, given.length / 2) ? best.name : undefined;
}

/** How many letters have to be added, left out or replaced to get from one word to the other. */
function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(one).entries()) {
    const current = [row + 1];
    for (const [column, against] of Array.from(other).entries()) {
      const replaced = (previous[column] ?? 0) + (letter === against ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
