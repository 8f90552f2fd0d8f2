/** Command lines that run something in a sandbox. What is mounted is looked at once more inside, before anything of the agent's runs. */
import type { SandboxedProgram } from '../../actors/environment/command-sandbox.ts';
import { quoted } from '../../machines/turn/shell/shell-script.ts';
import type { BoundMounts } from './bound-mounts.ts';

export interface SandboxLine {
  /** Comes before everything else. */
  readonly closer: readonly string[];
  /** Of bubblewrap: absolute. */
  readonly program: string;
  /** Its arguments, but for the folder and the command. */
  readonly shut: readonly string[];
  /** The program that tells what is mounted: absolute. */
  readonly stat: string;
  readonly bound: BoundMounts;
  /** A path as the sandbox has it. */
  readonly cwd: string;
}

/** Of a sandbox in which something else is mounted than was declared. Nothing has run in it. */
const SWAPPED_EXIT_CODE = 125;
const SWAPPED_TEXT = 'sandbox: a mounted folder was replaced after it was looked at; nothing was run';

/** That whoever starts the line may have left open. */
const CLOSED_DESCRIPTORS = [3, 4, 5, 6, 7, 8, 9].map((descriptor) => `${descriptor}>&-`).join(' ');

/** For `/bin/sh -c`, which becomes bubblewrap itself: to end that process is to end everything in the sandbox. */
export function commandLine(line: SandboxLine, command: string): string {
  const { command: program, args } = programLine(line, { command: '/bin/sh', args: ['-c', command] });
  return `exec ${[program, ...args].map(quoted).join(' ')} ${CLOSED_DESCRIPTORS}`;
}

export function programLine({ closer, program, shut, stat, bound, cwd }: SandboxLine, { command, args }: SandboxedProgram): SandboxedProgram {
  const [first = program, ...rest] = [...closer, program, ...shut, '--chdir', cwd, '--', '/bin/sh', '-c', `${check(stat, bound)}exec "$@"`, 'sh', command, ...args];
  return { command: first, args: rest };
}

/**
 * bubblewrap takes its sources by name. Who can write to the folder around one can put a link in its place between the look at it and the
 * mount; then what is mounted has another number.
 */
function check(stat: string, { places }: BoundMounts): string {
  const known = places.flatMap((place) => (place.kind === 'mount' && place.identity !== undefined ? [{ path: place.path, identity: place.identity }] : []));
  if (known.length === 0) return '';
  const seen = `"$(${quoted(stat)} -c %d:%i -- ${known.map(({ path }) => quoted(path)).join(' ')} 2>/dev/null)"`;
  return `[ ${seen} = ${quoted(known.map(({ identity }) => identity).join('\n'))} ] || { echo ${quoted(SWAPPED_TEXT)} >&2; exit ${SWAPPED_EXIT_CODE}; }; `;
}
