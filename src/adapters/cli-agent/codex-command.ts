/** The command in what Codex says that it runs: the script itself, without the shell that it is given to. */

const SHELL = /^(?:.*\/)?(?:ba|z|da)?sh$/;
/** A bare piece, one in single quotes, or one in double quotes, at the place where reading goes on. */
const PIECE = /(?<bare>[\w@%+=:,./-]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\`$]|\\["\\`$])*)"/y;

/** `/bin/bash -lc 'ls -l'` is `ls -l`. What cannot be read for sure stays as it is. */
export function scriptOf(command: string): string {
  const [shell = '', flag = '', script, ...rest] = wordsOf(command) ?? [];
  return script !== undefined && rest.length === 0 && SHELL.test(shell) && /^-l?c$/.test(flag) ? script : command;
}

function wordsOf(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  while (at < text.length) {
    if (text[at] === ' ') {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
      continue;
    }
    PIECE.lastIndex = at;
    const found = PIECE.exec(text)?.groups;
    if (found === undefined) return undefined;
    const { bare, single, double } = found;
    word = (word ?? '') + (bare ?? single ?? double?.replaceAll(/\\(["\\`$])/g, '$1') ?? '');
    at = PIECE.lastIndex;
  }
  return word === undefined ? words : [...words, word];
}
