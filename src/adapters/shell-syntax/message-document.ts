/**
 * A text of many lines as the value of one word, written the way agents write the messages of commits:
 *
 *   "$(cat <<'EOF'
 *   …
 *   EOF
 *   )"
 *
 * The quoted mark makes the text mean itself. Some shells search for the end of `$(` by counting quotes and parentheses,
 * and know nothing of here-documents; so the text may hold these in pairs only, and nothing else that such a count
 * would stumble over.
 */

const DOCUMENT = /^"\$\(cat <<'(?<mark>[A-Z]{1,20})'\n(?<body>[^]*)\n\k<mark>\n\)"$/;

const QUOTED = /'[^'"`\\$()]*'|"[^'"`\\$()]*"|`[^'"`\\$()]*`/g;

/** Undefined when the word is none. */
export function messageIn(word: string): string | undefined {
  const { mark = '', body } = DOCUMENT.exec(word)?.groups ?? {};
  if (body === undefined || body.split('\n').includes(mark) || !isCountedAlike(body)) return undefined;
  // As the shell does with whatever a command puts out.
  return body.replace(/\n+$/, '');
}

function isCountedAlike(body: string): boolean {
  if (/\\|\$[({'"[]/.test(body)) return false;
  // From there on to the end of its line a shell may count nothing.
  if (body.includes('#') && /['"`()]/.test(body)) return false;
  const rest = body.replaceAll(QUOTED, '');
  if (/['"`]/.test(rest)) return false;
  let depth = 0;
  for (const sign of rest.match(/[()]/g) ?? []) {
    depth += sign === '(' ? 1 : -1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
