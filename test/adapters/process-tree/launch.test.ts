/** How the root of a tree is started: real programs, asked what they were given. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { residentLimitIn } from '../../../src/machines/task/process-stat.ts';
import { residentLimitOf } from '../../../src/machines/task/resident-limit.ts';
import { launchIn } from '../../../src/adapters/process-tree/launch.ts';

const PATH = process.env['PATH'] ?? '';
const tag = randomUUID();

function said(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = { PATH },
): { readonly text: string; readonly error: string | undefined } {
  const launch = launchIn(tag, { program, args, cwd: '/', environment });
  const { stdout, error } = spawnSync(launch.program, [...launch.args], {
    cwd: '/',
    env: launch.environment,
    encoding: 'utf8',
  });
  return { text: stdout, error: error !== undefined && 'code' in error ? String(error.code) : undefined };
}

describe.skipIf(process.platform !== 'linux')('the root of a tree', () => {
  it.each([
    ['a shell', 'sh', ['-c', 'cat /proc/self/stat']],
    ['another shell', '/bin/bash', ['-c', 'cat "$1"', 'bash', '/proc/self/stat']],
    ['a program', 'cat', ['/proc/self/stat']],
    ['a program of Node', process.execPath, ['-e', 'process.stdout.write(fs.readFileSync("/proc/self/stat"))']],
  ])('has the limit of the tree: %s', (_, program, args) => {
    expect(residentLimitIn(said(program, args).text)).toBe(residentLimitOf(tag));
    expect(residentLimitIn(readFileSync('/proc/self/stat', 'utf8'))).not.toBe(residentLimitOf(tag));
  });

  it('gets its arguments and its variables as they are, and the tag', () => {
    const told = said(
      'node',
      [
        '-p',
        'JSON.stringify([process.argv.slice(1), process.env.OWN, process.env.WAKECHART_TASK.split(":").at(-1)])',
        "it's",
        '$HOME',
        '',
        '-c',
      ],
      { PATH, OWN: 'a b' },
    );
    expect(JSON.parse(told.text)).toEqual([["it's", '$HOME', '', '-c'], 'a b', tag]);
  });

  it('reads the lines of its command by the numbers that they have', () => {
    const { text } = said('bash', ['-c', 'echo $LINENO\necho $LINENO; echo "$0 $#"']);
    expect(text).toBe('1\n2\nbash 0\n');
  });

  it.each([
    ['is not there', '/no/such/program', 'ENOENT'],
    ['is in no folder of the path', 'no-such-program', 'ENOENT'],
    ['may not be executed', '/etc/passwd', 'EACCES'],
  ])('is told by the system when it %s', (_, program, code) => {
    expect(said(program, []).error).toBe(code);
  });
});

it('a limit is that of one tree, exact, and greater than any memory', () => {
  const limits = Array.from({ length: 2_000 }, () => residentLimitOf(randomUUID()) ?? 0);
  expect(new Set(limits).size).toBe(limits.length);
  expect(limits.every((limit) => Number.isSafeInteger(limit) && limit % 1024 === 0 && limit >= 2 ** 52)).toBe(true);
  expect(residentLimitOf('tag-1')).toBeUndefined();
});
