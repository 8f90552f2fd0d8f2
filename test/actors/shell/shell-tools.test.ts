import { renameSync, symlinkSync } from 'node:fs';
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readToolInput } from '../../../src/machines/turn/tool-schema.ts';
import {
  shellExecDefinition,
  shellOpenDefinition,
  shellSetEnvDefinition,
} from '../../../src/machines/turn/shell/shell-definitions.ts';
import type { ToolDefinition } from '../../../src/machines/turn/tool-definition.ts';
import { settled } from '../../support/manual-runner.ts';
import { idOf } from '../../support/session-events.ts';
import { nodeShellHost, openShellStage } from './shell-stage.ts';
import type { ShellStage } from './shell-stage.ts';

let stage: ShellStage;
beforeEach(async () => {
  stage = await openShellStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

const outputOf = async (command: string, input: object = {}): Promise<string> =>
  (await stage.exec(command, input)).output;

describe('opening a shell', () => {
  it('begins it in a folder of the workspace, known by its real path', async () => {
    await mkdir(join(stage.workspace, 'sub'));
    await symlink('sub', join(stage.workspace, 'link'));
    expect(stage.subject('shell_open', { cwd: 'link' })).toEqual({
      kind: 'path',
      path: join(stage.workspace, 'sub'),
      access: 'read',
    });
    expect(await stage.call('shell_open', { name: 'a', cwd: 'link' })).toEqual({
      shell: 'a',
      cwd: join(stage.workspace, 'sub'),
    });
    expect(await outputOf('pwd; pwd -P', { shell: 'a' })).toBe(`${join(stage.workspace, 'sub')}\n`.repeat(2));
  });

  it.each(['..', '/', 'missing'])('refuses to begin in %s', async (cwd) => {
    await expect(stage.call('shell_open', { cwd })).rejects.toThrow();
    expect(stage.tasks.list()).toEqual([]);
  });

  it('says why when it does not work, and leaves nothing', async () => {
    await using own = await openShellStage({ host: { resolveInside: () => '/no/such/folder' } });
    await expect(own.call('shell_open', { cwd: 'x' })).rejects.toMatchObject({
      code: 'SHELL_NOT_OPENED',
      message: expect.stringContaining('/no/such/folder'),
    });
    expect(own.tasks.list()).toEqual([]);
    expect(await own.exec('echo ok')).toMatchObject({ output: 'ok\n', opened: true });
  });

  it('does not wait for a slot', async () => {
    await using own = await openShellStage({ maxConcurrent: 1 });
    await own.exec('echo x');
    await expect(own.call('shell_open', { name: 'b' })).rejects.toMatchObject({
      code: 'SHELL_NOT_OPENED',
      message: expect.stringContaining('slots'),
    });
    expect(own.tasks.list()).toHaveLength(1);
    expect(await own.exec('echo y')).toMatchObject({ output: 'y\n' });
  });

  it('has a limit for each session and one for all', async () => {
    const opened = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => stage.call('shell_open', { name: `s${index}` })),
    );
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    await expect(stage.call('shell_open', { name: 'more' })).rejects.toMatchObject({
      code: 'SHELL_LIMIT',
      details: { limit: 8 },
    });
    await stage.exec('exit', { shell: 's1' });
    expect(await stage.call('shell_open', { name: 'more' })).toMatchObject({ shell: 'more' });
    for (const session of [1, 2, 3]) {
      for (let index = 0; index < 8; index += 1)
        await stage.call('shell_open', { name: `s${index}` }, { sessionId: idOf(session) });
    }
    await expect(stage.call('shell_open', {}, { sessionId: idOf(4) })).rejects.toMatchObject({
      code: 'SHELL_LIMIT',
      details: { limit: 32 },
    });
    await stage.closeSession(idOf(2));
    expect(await stage.call('shell_open', {}, { sessionId: idOf(4) })).toMatchObject({ shell: 'main' });
  });

  it('keeps little of shells that have ended', async () => {
    for (let index = 0; index < 12; index += 1) {
      await stage.call('shell_open', { name: `s${index}` });
      await stage.exec('exit', { shell: `s${index}` });
    }
    await stage.call('shell_open', { name: 'last' });
    await expect(stage.call('shell_history', { shell: 's1' })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    expect(await stage.call('shell_history', { shell: 's11' })).toMatchObject({ open: false });
  });
});

/** Puts another folder in place of one: what was allowed for the one must not happen in the other. */
async function swap(folder: string): Promise<void> {
  await rename(join(stage.workspace, folder), join(stage.workspace, 'aside'));
  await mkdir(join(stage.workspace, 'other'));
  await symlink('other', join(stage.workspace, folder));
}

describe('a folder that was replaced after the call was allowed', () => {
  const changed = { code: 'FOLDER_CHANGED', hint: expect.stringContaining('again') as string };

  beforeEach(() => mkdir(join(stage.workspace, 'sub')));

  it('is not where a shell opens', async () => {
    const subject = stage.subject('shell_open', { cwd: 'sub' });
    await swap('sub');
    await expect(stage.call('shell_open', { cwd: 'sub' }, { subject })).rejects.toMatchObject(changed);
    expect(stage.tasks.list()).toEqual([]);
    expect(
      await stage.call('shell_open', { cwd: 'sub' }, { subject: stage.subject('shell_open', { cwd: 'sub' }) }),
    ).toMatchObject({ cwd: join(stage.workspace, 'other') });
  });

  it('is not where a shell opens when that happens while it opens', async () => {
    let isSwapped = false;
    // The last thing that is checked before the process starts.
    const environment = (): NodeJS.ProcessEnv => {
      if (!isSwapped) renameSync(join(own.workspace, 'sub'), join(own.workspace, 'aside'));
      if (!isSwapped) symlinkSync('aside', join(own.workspace, 'sub'));
      isSwapped = true;
      return process.env;
    };
    await using own: ShellStage = await openShellStage({ host: { environment } });
    await mkdir(join(own.workspace, 'sub'));
    await expect(
      own.call('shell_open', { cwd: 'sub' }, { subject: own.subject('shell_open', { cwd: 'sub' }) }),
    ).rejects.toMatchObject(changed);
    expect([isSwapped, own.tasks.list({ status: 'running' })]).toEqual([true, []]);
    expect(await own.call('shell_open', { cwd: 'aside' })).toMatchObject({ shell: 'main' });
  });

  it('is not where a shell is moved to', async () => {
    await stage.call('shell_open');
    const subject = stage.subject('shell_set_cwd', { cwd: 'sub' });
    await swap('sub');
    await expect(stage.call('shell_set_cwd', { cwd: 'sub' }, { subject })).rejects.toMatchObject(changed);
    expect(await outputOf('pwd -P')).toBe(`${stage.workspace}\n`);
  });

  it.skipIf(process.platform !== 'linux')(
    'is not where a command runs, although the shell has been in it all the time',
    async () => {
      await stage.call('shell_open', { cwd: 'sub' });
      const subject = stage.subject('shell_exec', { command: 'touch ran' });
      expect(subject).toEqual({
        kind: 'shell',
        command: 'touch ran',
        cwd: join(stage.workspace, 'sub'),
        isolated: false,
      });
      await swap('sub');
      await expect(stage.exec('touch ran', {}, { subject })).rejects.toMatchObject(changed);
      expect(await readdir(join(stage.workspace, 'aside'))).toEqual([]);
      // Asked again, it is allowed for where it would run.
      const anew = stage.subject('shell_exec', { command: 'touch ran' });
      expect(anew).toMatchObject({ cwd: join(stage.workspace, 'aside') });
      expect(await stage.exec('touch ran', {}, { subject: anew })).toMatchObject({
        exitCode: 0,
        cwd: join(stage.workspace, 'aside'),
      });
      expect(await readdir(join(stage.workspace, 'aside'))).toEqual(['ran']);
    },
  );

  it('is not where a command runs when another call has moved the shell, or closed it', async () => {
    await stage.call('shell_open');
    const subject = stage.subject('shell_exec', { command: 'touch ran' });
    await stage.call('shell_set_cwd', { cwd: 'sub' });
    await expect(stage.exec('touch ran', {}, { subject })).rejects.toMatchObject(changed);
    const inSub = stage.subject('shell_exec', { command: 'touch ran' });
    await stage.call('shell_close');
    await expect(stage.exec('touch ran', {}, { subject: inSub })).rejects.toMatchObject(changed);
    expect((await readdir(stage.workspace, { recursive: true })).filter((name) => name.endsWith('ran'))).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')('is noticed when it is gone', async () => {
    await stage.call('shell_open', { cwd: 'sub' });
    await rm(join(stage.workspace, 'sub'), { recursive: true });
    await expect(stage.exec('echo x')).rejects.toMatchObject({ code: 'SHELL_FOLDER_GONE' });
    await stage.call('shell_set_cwd', { cwd: '.' });
    expect(await outputOf('pwd')).toBe(`${stage.workspace}\n`);
  });
});

describe('shells of different sessions', () => {
  it('have nothing to do with each other', async () => {
    await stage.exec('x=mine');
    const other = { sessionId: idOf(9) };
    await expect(stage.exec('echo $x', { shell: 'main' }, other)).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    expect(await stage.exec('echo "[$x]"', {}, other)).toMatchObject({ output: '[]\n', opened: true });
    await stage.closeSession(idOf(9));
    expect(await outputOf('echo $x')).toBe('mine\n');
  });
});

describe('the environment of a shell', () => {
  const environment = {
    PATH: process.env['PATH'],
    HOME: '/nowhere',
    NPM_TOKEN: 'secret-1',
    AWS_SECRET_ACCESS_KEY: 'secret-2',
    NAMED: 'yes',
    ENV: '/tmp/evil',
    BASH_ENV: '/tmp/evil',
  };

  it('has what a command needs and what was named, and no secret of the runtime', async () => {
    await using own = await openShellStage({
      host: { ...nodeShellHost, environment: () => environment },
      environment: { pass: ['NAMED'], set: { ADDED: 'a b' } },
    });
    const { output } = await own.exec('env; tr "\\0" "\\n" </proc/$$/environ');
    for (const line of ['HOME=/nowhere', 'NAMED=yes', 'ADDED=a b']) expect(output.split('\n')).toContain(line);
    expect(output).not.toMatch(/secret|evil/);
  });

  it('offers no program of the workspace that is not named by its path, and no repository above it', async () => {
    const ofHost = (): NodeJS.ProcessEnv => ({
      PATH: [join(own.workspace, 'bin'), './bin', process.env['PATH']].join(':'),
      HOME: '/nowhere',
    });
    await using own: ShellStage = await openShellStage({ host: { environment: ofHost } });
    await mkdir(join(own.workspace, 'bin'));
    await writeFile(join(own.workspace, 'bin/ls'), '#!/bin/sh\necho hijacked\n', { mode: 0o755 });
    expect((await own.exec('(cd .. && git init -q); git rev-parse --show-toplevel 2>&1; ls')).output).toMatch(
      /^fatal: not a git repository[^]*\nbin\n$/,
    );
    expect((await own.exec('git init -q; mkdir sub; cd sub; git rev-parse --show-toplevel')).output).toBe(
      `${own.workspace}\n`,
    );
  });

  it('changes by shell_set_env for the commands to come, whose values nobody is told', async () => {
    const value = `it's "quoted" $(touch no) \\ \n twice`;
    await stage.call('shell_open', {});
    expect(await stage.call('shell_set_env', { name: 'TOKEN', value })).toEqual({
      shell: 'main',
      name: 'TOKEN',
      set: true,
    });
    expect(await outputOf('printf %s "$TOKEN"; sh -c \'printf %s "$TOKEN"\'')).toBe(value.repeat(2));
    await stage.call('shell_set_env', { name: 'OTHER', value: '' });
    expect(await stage.call('shell_set_env', { name: 'TOKEN', value: null })).toEqual({
      shell: 'main',
      name: 'TOKEN',
      set: false,
    });
    expect(await outputOf('echo "[${TOKEN-none}]"; ls')).toBe('[none]\n');
    const history = await stage.call('shell_history');
    expect(history).toMatchObject({
      variables: ['OTHER'],
      entries: [{ command: 'export TOKEN' }, {}, { command: 'export OTHER' }, { command: 'unset TOKEN' }, {}],
    });
    expect(JSON.stringify(history)).not.toContain('quoted');
    expect(JSON.stringify(stage.tasks.list())).not.toContain('quoted');
  });

  it('says which variable cannot be changed', async () => {
    await stage.exec('readonly FIXED=1');
    await expect(stage.call('shell_set_env', { name: 'FIXED', value: '2' })).rejects.toMatchObject({
      code: 'SHELL_VARIABLE_REFUSED',
    });
    await expect(stage.call('shell_set_env', { name: 'FIXED', value: null })).rejects.toMatchObject({
      code: 'SHELL_VARIABLE_REFUSED',
    });
    expect(await outputOf('echo $FIXED')).toBe('1\n');
  });
});

describe('shell_set_cwd', () => {
  it('moves the shell, whatever cd means in it', async () => {
    await mkdir(join(stage.workspace, 'a b'));
    await stage.exec('cd() { echo no; }; alias cd="echo no"; CDPATH=/');
    expect(await stage.call('shell_set_cwd', { cwd: 'a b' })).toEqual({
      shell: 'main',
      cwd: join(stage.workspace, 'a b'),
    });
    expect(await outputOf('pwd')).toBe(`${join(stage.workspace, 'a b')}\n`);
    await expect(stage.call('shell_set_cwd', { cwd: '../..' })).rejects.toMatchObject({
      code: 'PATH_OUTSIDE_WORKSPACE',
    });
    expect(await stage.call('shell_history')).toMatchObject({ cwd: join(stage.workspace, 'a b') });
  });

  it('says when the shell cannot go there', async () => {
    await using own = await openShellStage({ host: { resolveInside: () => '/proc/1/no-such-folder' } });
    await own.exec('echo x');
    await expect(own.call('shell_set_cwd', { cwd: 'x' })).rejects.toMatchObject({ code: 'SHELL_FOLDER_REFUSED' });
    expect(await own.exec('pwd')).toMatchObject({ output: `${own.workspace}\n`, cwd: own.workspace });
  });
});

describe('the history of a shell', () => {
  it('has the newest hundred commands, with their times and exit codes', async () => {
    for (let index = 0; index < 102; index += 1) await stage.exec(`(exit ${index})`);
    const { entries, forgotten } = await stage.call<{ entries: object[]; forgotten: number }>('shell_history');
    expect(forgotten).toBe(2);
    expect(entries).toHaveLength(100);
    expect(entries[0]).toMatchObject({
      command: '(exit 2)',
      exitCode: 2,
      status: 'exited',
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      endedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });
});

describe('what a model sends', () => {
  it.each<[ToolDefinition<never>, object, RegExp]>([
    [shellExecDefinition as ToolDefinition<never>, {}, /command/],
    [shellExecDefinition as ToolDefinition<never>, { command: '' }, /command/],
    [shellExecDefinition as ToolDefinition<never>, { command: 'a\0b' }, /without NUL/],
    [shellExecDefinition as ToolDefinition<never>, { command: 'x'.repeat(100_001) }, /command/],
    [shellExecDefinition as ToolDefinition<never>, { command: 'x', shell: '../x' }, /shell: expected a name/],
    [shellExecDefinition as ToolDefinition<never>, { command: 'x', timeoutMs: -1 }, /timeoutMs/],
    [shellExecDefinition as ToolDefinition<never>, { command: 'x', cwd: '/' }, /Unrecognized key/],
    [shellOpenDefinition as ToolDefinition<never>, { name: '' }, /name/],
    [shellSetEnvDefinition as ToolDefinition<never>, { name: 'A=B', value: 'x' }, /name of a variable/],
    [shellSetEnvDefinition as ToolDefinition<never>, { name: 'A;B', value: 'x' }, /name of a variable/],
    [shellSetEnvDefinition as ToolDefinition<never>, { name: 'A', value: 'x\0' }, /without NUL/],
    [shellSetEnvDefinition as ToolDefinition<never>, { name: 'A' }, /value/],
  ])('to %# is refused when it is %j', (definition, input, pattern) => {
    const reading = readToolInput(definition, input);
    expect(reading.ok ? '' : reading.reason).toMatch(pattern);
  });

  it.each([
    'shell_wait',
    'shell_close',
    'shell_history',
    'shell_read_last_output',
    'shell_set_cwd',
    'shell_set_env',
    'shell_exec',
  ])('to %s about a shell that is not there is answered at once', async (name) => {
    await expect(
      stage.call(name, { shell: 'before', command: 'x', cwd: '.', name: 'A', value: 'x' }),
    ).rejects.toThrow();
    const inputs: Record<string, object> = {
      shell_set_cwd: { cwd: '.' },
      shell_set_env: { name: 'A', value: 'x' },
      shell_exec: { command: 'x' },
    };
    await expect(stage.call(name, { shell: 'before', ...inputs[name] })).rejects.toMatchObject({
      code: 'SHELL_CLOSED',
      message: expect.stringContaining('the runtime restarted'),
      hint: expect.stringContaining('shell_open'),
    });
  });

  it('to a shell that has run nothing yet is told so', async () => {
    await stage.call('shell_open', {});
    await expect(stage.call('shell_wait')).rejects.toMatchObject({ code: 'SHELL_AT_REST' });
    await expect(stage.call('shell_read_last_output')).rejects.toMatchObject({ code: 'SHELL_AT_REST' });
  });
});

describe('closing all shells', () => {
  it('ends those at rest, at work and on their way, and opens no more', async () => {
    await stage.exec('echo x');
    await stage.call('shell_open', { name: 'busy' });
    const running = stage.exec('sleep 300', { shell: 'busy' });
    const opening = stage.call('shell_open', { name: 'new' }).catch((error: unknown) => error);
    await stage.close();
    expect(await running).toMatchObject({ exitCode: null, shellEnded: 'the runtime is shutting down' });
    expect(await opening).toMatchObject({ code: 'SHELL_NOT_OPENED' });
    expect(stage.tasks.list()).toEqual([]);
    await expect(stage.exec('echo x')).rejects.toMatchObject({ code: 'SHELLS_CLOSED' });
  });

  it('notices a task manager that is shut down first', async () => {
    await stage.exec('echo x');
    await stage.tasks.shutdown();
    await settled();
    await expect(stage.exec('echo x', { shell: 'main' })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    await expect(stage.exec('echo x')).rejects.toMatchObject({ code: 'SHELL_NOT_OPENED' });
  });
});
