/** How commands are named that a person is to type next: as the program was called. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { installing } from '../../src/cli/invocation.ts';
import { program } from './command-line.ts';

let folder: TemporaryHome;
beforeEach(async () => {
  folder = await temporaryHome();
});
afterEach(() => folder.remove());

interface Called {
  readonly env?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** Runs `file` as a shell finds it, and answers with the hint about an agent that is not there and the help. */
function called(file: string, words: readonly string[], { env = {}, path = '' }: Called = {}): string {
  const { stdout, stderr } = spawnSync(file, words, {
    cwd: folder.path,
    encoding: 'utf8',
    env: { PATH: `${path}:${dirname(process.execPath)}:/usr/bin:/bin`, ...env },
  });
  return `${stdout}${stderr}`;
}

/** A link to the program in a folder of its own, as an installation makes it. */
function link(name: string, place = 'bin'): { readonly bin: string; readonly file: string } {
  const bin = join(folder.path, place);
  mkdirSync(bin, { recursive: true });
  // The built file may not be executable in a checkout: the link is called through its interpreter, as its first line says.
  const file = join(bin, name);
  symlinkSync(program, file);
  return { bin, file };
}

const MISSING = ['session', 'create', '--agent', 'none', '--home', 'h'];

it.each(['wakechart', 'wc-alias'])('a link %s on the PATH is what hints and examples call', (name) => {
  const { bin, file } = link(name);
  const options = { path: bin };
  expect(called(process.execPath, [file, ...MISSING], options)).toMatch(
    new RegExp(`^ +${name} agent create none --home .*/h$`, 'm'),
  );
  expect(called(process.execPath, [file, 'chat', '--help'], options)).toContain(`  $ ${name} chat --resume\n`);
});

it.each([
  ['a shell that has the programs of a package on its PATH calls them', {}, / wakechart agent create/],
  ['a script of npm has them there for itself alone', { npm_lifecycle_event: 'test' }, /main\.js agent create/],
])('%s', (_what, env, expected) => {
  const { bin, file } = link('wakechart', 'node_modules/.bin');
  expect(called(process.execPath, [file, ...MISSING], { path: bin, env })).toMatch(expected);
});

it('npx is called again', () => {
  const env = { npm_lifecycle_event: 'npx', npm_lifecycle_script: 'wakechart session create' };
  expect(called(process.execPath, [program, ...MISSING], { env })).toMatch(
    /^ +npx wakechart agent create none --home .*\/h$/m,
  );
});

it('the file that node was given is given again, also by what comes from below', () => {
  const shown = called(process.execPath, [program, 'task', 'cancel', 'aaaaaaaa/task_1', '--home', 'h']);
  expect(shown).toMatch(/TASK_NOT_FOUND/);
  expect(shown).not.toMatch(/(?<![\w/.-])wakechart [a-z]/);
  const doctor = called(process.execPath, [program, 'task', 'run', '--', '']);
  expect(doctor).toContain(`main.js task run -- npm test`);
});

it('a wrapper of another name, which the PATH leads elsewhere, is not taken for the program', () => {
  const { file } = link('other');
  const bin = join(folder.path, 'wrappers');
  mkdirSync(bin);
  writeFileSync(join(bin, 'other'), '#!/bin/sh\n');
  chmodSync(join(bin, 'other'), 0o755);
  expect(called(process.execPath, [file, ...MISSING], { path: bin })).toMatch(
    /^ +node \S*main\.js agent create none --home/m,
  );
  expect(readFileSync(join(bin, 'other'), 'utf8')).toContain('sh');
});

it('what is missing is installed where the program is: in its project, or for all', () => {
  const file = (place: string): string =>
    join(folder.path, place, 'node_modules', 'wakechart', 'dist', 'cli', 'main.js');
  mkdirSync(join(folder.path, 'project'));
  writeFileSync(join(folder.path, 'project', 'package.json'), '{}');
  expect([file('project'), file('lib'), '/checkout/dist/cli/main.js'].map((each) => installing(each))).toEqual([
    'npm install',
    'npm install -g',
    'npm install',
  ]);
});
