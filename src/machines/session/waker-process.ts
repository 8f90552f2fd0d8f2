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

const SECRET_NAME = /(?:token|secret|password|passwd|key|credential|auth)[\w-]*$/i;
const PASSWORD = /^([a-z][\w+.-]*:\/\/[^:/@\s]*):[^@\s]*@/i;
const HIDDEN = '…';

/** One line, without what may be a secret: the password of a URL, the value of an option or variable with such a name. */
export function shownCommandLine(words: readonly string[]): string {
  return words
    .map((word, index) => {
      const before = words[index - 1] ?? '';
      if (before.startsWith('-') && !before.includes('=') && SECRET_NAME.test(before) && !word.startsWith('-'))
        return HIDDEN;
      const [, name, value] = /^([^=\s]*)=(.*)$/s.exec(word) ?? [];
      if (name !== undefined && SECRET_NAME.test(name)) return `${name}=${HIDDEN}`;
      return value === undefined ? withoutPassword(word) : `${name}=${withoutPassword(value)}`;
    })
    .map((word) => (/\s/.test(word) || word === '' ? JSON.stringify(word) : word))
    .join(' ');
}

function withoutPassword(word: string): string {
  return word
    .replace(PASSWORD, `$1:${HIDDEN}@`)
    .replace(/([?&][^=&]*(?:password|token|secret|key)[^=&]*=)[^&]*/gi, `$1${HIDDEN}`);
}
