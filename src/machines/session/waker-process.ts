/** What the command line of a process says of how it wakes sessions, and how it is shown. */

/** Where the system tells when it started, and by when it has to have lived: its clock may have been set meanwhile. */
const CLOCK_STEP_MS = 10_000;

/** Whether a process may be that which did something at a time: another one that has its pid now began later. */
export function isSameProcess(startedAtMs: number | undefined, didAt: string): boolean {
  return startedAtMs === undefined || !(startedAtMs > Date.parse(didAt) + CLOCK_STEP_MS);
}

const PROGRAM = /(?:^|[\\/])(?:wakechart|main\.js|main\.ts)$/;

/** Those before the command that take a value. */
const WITH_VALUE: ReadonlySet<string> = new Set(['--home', '--store', '--store-file', '--config']);

/** Whether it is known to be a worker, which takes up again what was lost. Of a program of another name it is not. */
export function isWorker(words: readonly string[]): boolean {
  const at = words.findIndex((word) => PROGRAM.test(word));
  if (at === -1) return false;
  const own = words.slice(at + 1);
  const command = own.find((word, index) => !word.startsWith('-') && !WITH_VALUE.has(own[index - 1] ?? ''));
  // What serves HTTP wakes none.
  return command === 'worker' || (command === 'serve' && !own.includes('http') && !own.includes('--no-worker'));
}

const SECRET = '(?:token|secret|pass|pwd|key|credential|auth|cookie)[\\w-]*';
const SECRET_NAME = new RegExp(`${SECRET}$`, 'i');
/** What stands before a secret in the next word: an option, the name of a header, a scheme of `Authorization`. */
const BEFORE_SECRET = new RegExp(`^-[^=]*${SECRET}$|${SECRET}:$|^(?:bearer|basic)$`, 'i');
/** Up to the last `@`: a password may hold others. */
const PASSWORD = /([a-z][\w+.-]{0,30}:\/\/[^:/\s]*):\S*@/gi;
/** A header or a field of JSON, and all that follows. */
const FIELD = new RegExp(`(${SECRET}["']?\\s*:\\s*|\\b(?:bearer|basic)\\s+).+$`, 'is');
/** In a query, or in what connects to a database, where values may stand in quotes. */
const SETTING = new RegExp(`(${SECRET}\\s*=\\s*)(?:'[^']*'\\S*|"[^"]*"\\S*|\\S*)`, 'gi');
const HIDDEN = '…';

/** Longer words are shown to no one, and would take long to search. */
const MAX_WORD_CHARACTERS = 2_000;

/** One line, without what may be a secret: rather too little is shown than too much. */
export function shownCommandLine(words: readonly string[]): string {
  return words
    .map((word, index) => {
      if (BEFORE_SECRET.test(words[index - 1] ?? '') || word.length > MAX_WORD_CHARACTERS) return HIDDEN;
      const [, name] = /^([^=\s]*)=/.exec(word) ?? [];
      if (name !== undefined && SECRET_NAME.test(name)) return `${name}=${HIDDEN}`;
      return word.replace(PASSWORD, `$1:${HIDDEN}@`).replace(FIELD, `$1${HIDDEN}`).replace(SETTING, `$1${HIDDEN}`);
    })
    .map((word) => (/\s/.test(word) || word === '' ? JSON.stringify(word) : word))
    .join(' ');
}
