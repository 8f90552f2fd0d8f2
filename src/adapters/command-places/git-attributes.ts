/** Reads what a repository says about its files, as far as it may have git run a program for them. */

const MAX_LINES = 10_000;

/** Ways to show differences that git has by itself. */
const OWN_DRIVERS = new Set(
  'ada bash bibtex cpp csharp css dts elixir fortran fountain golang html ini java kotlin markdown matlab objc pascal perl php python ruby rust scheme tex'.split(
    ' ',
  ),
);

/** Why it may make git run a program, for people. */
export function attributesProblem(text: string, what: string): string | undefined {
  const lines = text.split('\n');
  if (lines.length > MAX_LINES) return `${what} has more than ${MAX_LINES} lines`;
  for (const line of lines) {
    if (line.trimStart().startsWith('#')) continue;
    const word = line.split(/\s+/).find((each) => namesProgram(each));
    if (word !== undefined) return `${what} says "${word}", for which git may run a program`;
  }
  return undefined;
}

function namesProgram(word: string): boolean {
  if (word === 'filter' || word.startsWith('filter=')) return true;
  return word.startsWith('diff=') && !OWN_DRIVERS.has(word.slice('diff='.length));
}
