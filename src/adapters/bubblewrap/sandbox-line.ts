/**
 * Command lines that run something in a sandbox. What is mounted is checked once more inside, before anything of the
 * agent's runs.
 */
import type { SandboxedProgram } from '../../actors/environment/command-sandbox.ts';
import { quoted } from '../../machines/turn/shell/shell-script.ts';
import type { BoundMounts } from './bound-mounts.ts';

export interface SandboxLine {
  /** Comes before everything else. */
  readonly closer: readonly string[];
  /** Of bubblewrap: absolute. */
  readonly program: string;
  /** What the kernel refuses in it: a file, absolute. */
  readonly filter: string;
  /** Its arguments, but for the folder and the command. */
  readonly shut: readonly string[];
  /** The program that tells what is mounted: absolute. */
  readonly stat: string;
  readonly bound: BoundMounts;
  /** Of one file that a command writes. Default: no bound. */
  readonly maxFileBytes?: number | undefined;
  /** A path as the sandbox has it. */
  readonly cwd: string;
}

/** Of a sandbox in which something else would be seen than was declared. Nothing has run in it. */
const REFUSED_EXIT_CODE = 125;
const SWAPPED_TEXT = 'sandbox: a mounted folder was replaced after it was checked; nothing was run';
const SEEN_TEXT = 'sandbox: the home of Wakechart or a place of keys can be seen in it; nothing was run';
const UNFILTERED_TEXT = 'sandbox: the filter of system calls went with the process that began this; nothing was run';
const MOVED_TEXT = 'sandbox: the home of Wakechart is not where it was when the wake began; nothing was run';

/** That the process which starts the line may have left open. */
const CLOSED_DESCRIPTORS = [3, 4, 5, 6, 7, 8, 9].map((descriptor) => `${descriptor}>&-`).join(' ');

/** For `/bin/sh -c`, which becomes bubblewrap itself: to end that process is to end everything in the sandbox. */
export function commandLine(line: SandboxLine, command: string): string {
  const { command: program, args } = programLine(line, { command: '/bin/sh', args: ['-c', command] });
  return `exec ${[program, ...args].map(quoted).join(' ')} ${CLOSED_DESCRIPTORS}`;
}

export function programLine(line: SandboxLine, { command, args }: SandboxedProgram): SandboxedProgram {
  const { closer, program, filter, shut, stat, bound, maxFileBytes, cwd } = line;
  const head = [...closer, program, '--seccomp', String(FILTER_DESCRIPTOR), ...shut].map(quoted).join(' ');
  const tail = [
    '--chdir',
    cwd,
    '--',
    '/bin/sh',
    '-c',
    `${checkInside(stat, bound)}${fileBound(maxFileBytes)}exec "$@"`,
    'sh',
    command,
    ...args,
  ];
  const filtered = `[ -r ${quoted(filter)} ] || ${refusal(UNFILTERED_TEXT)}; exec ${head} "$@" ${FILTER_DESCRIPTOR}<${quoted(filter)}`;
  return { command: '/bin/sh', args: ['-c', `${checkOutside(stat, bound)}${filtered}`, 'sh', ...tail] };
}

/** bubblewrap reads it to its end and closes it. */
const FILTER_DESCRIPTOR = 9;

/** As POSIX has `ulimit -f` count. */
const FILE_BLOCK_BYTES = 512;
/** Less than this no compiler gets by with. */
const MIN_FILE_BYTES = 1_048_576;

/** No process can raise it again in the sandbox. One that is lower already stays. */
function fileBound(bytes: number | undefined): string {
  return bytes === undefined
    ? ''
    : `ulimit -f ${Math.ceil(Math.max(bytes, MIN_FILE_BYTES) / FILE_BLOCK_BYTES)} 2>/dev/null; `;
}

/**
 * On the host, right before bubblewrap begins. What is hidden has to be where it was: the empty folder would lie over
 * another one. Sockets come and go, and bubblewrap would make a file where there is none any more.
 */
function checkOutside(stat: string, { settled, sockets, branches }: BoundMounts): string {
  const known = settled.map(({ identity }) => identity).join('\n');
  const isThere =
    settled.length === 0 ? '' : `[ ${numbersOf(stat, settled)} = ${quoted(known)} ] || ${refusal(MOVED_TEXT)}; `;
  return `${isThere}${branches.map(keepOthers).join('')}${sockets.map(({ path, source }) => `[ ! -S ${quoted(source)} ] || set -- --ro-bind /dev/null ${quoted(path)} "$@"; `).join('')}`;
}

/**
 * Searched for by each command anew: jobs beside this one make branches while it works. A lock is there for a moment
 * only.
 */
function keepOthers({ folder, own }: BoundMounts['branches'][number]): string {
  return `for each in ${quoted(folder)}/*; do case "$each" in *.lock|${quoted(`${folder}/${own}`)}) ;; *) [ ! -e "$each" ] || [ -L "$each" ] || set -- --ro-bind-try "$each" "$each" "$@" ;; esac; done; `;
}

/**
 * bubblewrap takes its sources by name. Who can write to the folder around one can put a link in its place between the
 * check it and the mount; then what is mounted has another number. And what is hidden must have its own number
 * nowhere.
 */
function checkInside(stat: string, { places, hidden }: BoundMounts): string {
  const known = places.flatMap((place) =>
    place.kind === 'mount' && place.identity !== undefined ? [{ path: place.path, identity: place.identity }] : [],
  );
  const masked = [...hidden, ...places.filter(({ kind }) => kind === 'hidden')];
  if (known.length + hidden.length === 0) return '';
  const secret = [...new Set(hidden.map(({ identity }) => `*${quoted(`\n${identity}\n`)}*`))].join('|');
  return [
    `seen=${numbersOf(stat, [...known, ...masked])}; `,
    known.length === 0
      ? ''
      : `case "$seen${NEW_LINE}" in ${quoted(`${known.map(({ identity }) => identity).join('\n')}\n`)}*) ;; *) ${refusal(SWAPPED_TEXT)} ;; esac; `,
    secret === '' ? '' : `case "${NEW_LINE}$seen${NEW_LINE}" in ${secret}) ${refusal(SEEN_TEXT)} ;; esac; `,
    'unset seen; ',
  ].join('');
}

const NEW_LINE = '\n';

/** One `device:inode` for each that is there, in their order. */
function numbersOf(stat: string, places: readonly { readonly path: string }[]): string {
  return `"$(${quoted(stat)} -c %d:%i -- ${places.map(({ path }) => quoted(path)).join(' ')} 2>/dev/null)"`;
}

function refusal(text: string): string {
  return `{ echo ${quoted(text)} >&2; exit ${REFUSED_EXIT_CODE}; }`;
}
