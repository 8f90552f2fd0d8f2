/**
 * Files that our own process was started with, and that every process we start gets too. Node keeps all that it opens
 * to itself, and those up to 15; one above that, which a script may hold as a lock, would be open in a sandbox.
 */
import { access, readFile, readdir } from 'node:fs/promises';
import { RuntimeError } from '../../machines/errors.ts';

/** Shells close descriptors up to 9 by their number. */
const CLOSED_BY_ANY_SHELL = 9;
const CLOSE_ON_EXEC = 0o2000000;
const BASH = ['/bin/bash', '/usr/bin/bash'];

/**
 * A command line to begin with, which closes those before it becomes what follows. Empty where there are none. @throws
 * RuntimeError SANDBOX_UNAVAILABLE
 */
export async function descriptorCloser(): Promise<readonly string[]> {
  const open = await inherited();
  if (open.length === 0) return [];
  const there = await Promise.all(
    BASH.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  const bash = BASH.find((_, index) => there[index]);
  // Of one whose input is a socket, as a pipe of Node is, bash thinks that it came over the network, and would run and
  // hand on what is in ~/.bashrc.
  if (bash !== undefined)
    return [
      bash,
      '--norc',
      '--noprofile',
      '-c',
      `exec ${open.map((descriptor) => `${descriptor}>&-`).join(' ')}; exec "$@"`,
      'bash',
    ];
  throw new RuntimeError(
    'SANDBOX_UNAVAILABLE',
    `Wakechart was started with open files that a sandbox would have too (descriptors ${open.join(', ')}), and there is no bash to close them`,
    {
      category: 'process',
      hint: 'Start it without them, or install bash.',
    },
  );
}

async function inherited(): Promise<readonly number[]> {
  const descriptors = (await readdir('/proc/self/fd').catch(() => []))
    .map(Number)
    .filter((descriptor) => descriptor > CLOSED_BY_ANY_SHELL);
  const flags = await Promise.all(
    descriptors.map((descriptor) => readFile(`/proc/self/fdinfo/${descriptor}`, 'utf8').catch(() => '')),
  );
  return descriptors.filter((_, index) => {
    const octal = /^flags:\s*(?<octal>[0-7]+)/m.exec(flags[index] ?? '')?.groups?.['octal'];
    return octal !== undefined && (Number.parseInt(octal, 8) & CLOSE_ON_EXEC) === 0;
  });
}
