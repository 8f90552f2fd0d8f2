/** What the command line of a process says of how it wakes sessions, and how it is shown. */

/** Where the system tells when it started, and by when it has to have lived: its clock may have been set meanwhile. */
const CLOCK_STEP_MS = 10_000;

/** Whether a process may be that which did something at a time: another one that has its pid now began later. */
export function isSameProcess(startedAtMs: number | undefined, didAt: string): boolean {
  return startedAtMs === undefined || !(startedAtMs > Date.parse(didAt) + CLOCK_STEP_MS);
}

const PROGRAM = /(?:^|[\\/])(?:wakechart|main\.js|main\.ts)$/;

/** Whether it is `wakechart wake`, which takes nothing up again. Programs with workers have names of their own. */
export function wakesOnce(words: readonly string[]): boolean {
  const at = words.findIndex((word) => PROGRAM.test(word));
  return at !== -1 && words.slice(at + 1).find((word) => !word.startsWith('-')) === 'wake';
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
