/** The small project that the demo's agent mends: real files in a real git repository, with one test that fails. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { hasCode } from '../../adapters/system/error-codes.ts';

const FILES = {
  'cart.mjs': `/** What a cart costs, in cents. */
export function total(lines) {
  return lines.reduce((sum, line) => sum + line.cents, 0);
}
`,
  'cart.test.mjs': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from './cart.mjs';

test('an empty cart costs nothing', () => assert.equal(total([]), 0));

test('two of a thing cost twice as much as one', () => {
  assert.equal(total([{ name: 'tea', cents: 250, quantity: 2 }]), 500);
});
`,
} as const;

const GIT_TIMEOUT_MS = 30_000;
const run = promisify(execFile);

/** Makes the repository in `folder`, with everything committed. Commits there need no identity from outside. */
export async function makeProject(folder: string): Promise<readonly string[]> {
  await git(folder, 'init', '--quiet');
  // Not --initial-branch: older versions of git do not know it.
  await git(folder, 'symbolic-ref', 'HEAD', 'refs/heads/main');
  await git(folder, 'config', 'user.name', 'Wakechart demo');
  await git(folder, 'config', 'user.email', 'demo@wakechart.invalid');
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, name), content);
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '--message', 'A cart that adds up');
  return Object.keys(FILES);
}

export interface Commit {
  readonly hash: string;
  readonly subject: string;
}

export async function newestCommit(folder: string): Promise<Commit> {
  const [hash = '', subject = ''] = (await git(folder, 'log', '-1', '--format=%h%n%s')).split('\n');
  return { hash, subject };
}

async function git(folder: string, ...words: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', words, { cwd: folder, timeout: GIT_TIMEOUT_MS });
    return stdout.trim();
  } catch (cause) {
    const message = hasCode(cause, 'ENOENT')
      ? 'the demo needs git, and there is no git on the PATH'
      : `the demo could not use git: ${messageOf(cause)}`;
    throw new RuntimeError('DEMO_NEEDS_GIT', message, {
      category: 'process',
      hint: 'Install git 2.0 or newer, then run the demo again.',
      cause,
    });
  }
}
