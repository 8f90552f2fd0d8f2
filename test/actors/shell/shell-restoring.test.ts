/** Shells that go on where they stood when the process that had them has ended. */
import { chmod, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ShellHistory } from '../../../src/machines/turn/shell/shell-results.ts';
import { IDENTITY, SESSION_ID } from '../../support/session-events.ts';
import { knownSecrets, leftOpen } from '../../support/sandbox.ts';
import type { ShellStage } from './shell-stage.ts';
import { RestoringStage } from './restoring-stage.ts';

let at: RestoringStage;
beforeEach(async () => {
  at = await RestoringStage.open();
});
afterEach(() => at[Symbol.asyncDispose]());

describe('a shell whose process has ended', () => {
  it.each([
    ['with its runtime', (stage: ShellStage) => stage.close()],
    ['without a word', (stage: ShellStage) => at.killed(stage)],
  ])('%s is opened again when it is used, in its folder, with its variables and its history', async (_, end) => {
    const first = await at.runtime();
    await first.call('shell_open', { name: 'build' });
    await first.exec('cd sub', { shell: 'build' });
    await at.set(first, 'MODE', "it's $HOME", { shell: 'build' });
    await at.set(first, 'GONE', 'x', { shell: 'build' });
    await at.set(first, 'GONE', null, { shell: 'build' });
    await first.exec('LOST=1; export KEPT=1; true', { shell: 'build' });
    await end(first);

    const second = await at.runtime();
    expect(second.subject('shell_exec', { shell: 'build', command: 'pwd' })).toMatchObject({
      cwd: join(at.folder, 'workspace/sub'),
    });
    const reply = await second.exec('pwd; echo "$MODE [$GONE$LOST$KEPT]"', { shell: 'build' });
    expect(reply).toMatchObject({
      output: `${join(at.folder, 'workspace/sub')}\nit's $HOME [1]\n`,
      restored: true,
      because: 'the process in which it was open has ended',
      notRestored: ['functions, aliases, background jobs, and variables that are not exported'],
    });
    expect(await second.exec('true', { shell: 'build' })).not.toHaveProperty('restored');
    const { entries, variables } = await second.call<ShellHistory>('shell_history', { shell: 'build' });
    expect(entries.map(({ command }) => command)).toEqual([
      'cd sub',
      'export MODE',
      'export GONE',
      'unset GONE',
      'LOST=1; export KEPT=1; true',
      'pwd; echo "$MODE [$GONE$LOST$KEPT]"',
      'true',
    ]);
    expect(variables).toEqual(['MODE']);
  });

  it('is opened again by use of the main one, and by a change of its folder or of a variable', async () => {
    const first = await at.runtime();
    await first.exec('cd sub');
    await first.call('shell_open', { name: 'a' });
    await first.call('shell_open', { name: 'b' });
    await first.close();
    const second = await at.runtime();
    expect(await second.exec('pwd')).toMatchObject({ output: `${join(at.folder, 'workspace/sub')}\n`, restored: true });
    expect(await second.call('shell_set_cwd', { shell: 'a', cwd: 'sub' })).toMatchObject({
      restored: true,
      cwd: join(at.folder, 'workspace/sub'),
    });
    expect(await at.set(second, 'X', '1', { shell: 'b' })).toMatchObject({ restored: true });
  });

  it('says what ran in it and is not known, and tells its history before anybody uses it', async () => {
    const first = await at.runtime();
    await first.exec('sleep 3000', { timeoutMs: 0 });
    await expect.poll(() => at.records.read(IDENTITY, 'main')?.entries.at(-1)?.status).toBe('running');
    await at.killed(first);
    const second = await at.runtime();
    expect(await second.call('shell_history')).toMatchObject({
      open: false,
      ended: expect.stringContaining('opened again when it is used'),
      entries: [{ command: 'sleep 3000', status: 'shell_ended' }],
    });
    expect(second.describe(IDENTITY)).toMatchObject([{ shell: 'main', open: false }]);
    for (const tool of ['shell_wait', 'shell_read_last_output'])
      await expect(second.call(tool)).rejects.toMatchObject({
        code: 'SHELL_CLOSED',
        hint: expect.stringContaining('opened again'),
      });
    expect((await second.exec('true')).notRestored).toContain(
      'the command that ran in it; how far it came is not known',
    );
    expect(await second.call('shell_history')).toMatchObject({
      entries: [
        { command: 'sleep 3000', status: 'shell_ended' },
        { command: 'true', status: 'exited' },
      ],
    });
  });

  it('begins in the workspace when its folder has gone, and says so', async () => {
    const first = await at.runtime();
    await first.exec('cd sub');
    await first.close();
    await rm(join(at.folder, 'workspace/sub'), { recursive: true });
    const reply = await (await at.runtime()).exec('pwd');
    expect(reply).toMatchObject({ output: `${join(at.folder, 'workspace')}\n`, restored: true });
    expect(reply.notRestored).toContain(
      `its folder ${join(at.folder, 'workspace/sub')}, which cannot be entered any more`,
    );
  });

  it('runs nothing in another folder than the one that was allowed', async () => {
    const first = await at.runtime();
    await first.exec('cd sub');
    await first.close();
    await rm(join(at.folder, 'workspace/sub'), { recursive: true });
    const second = await at.runtime();
    const subject = second.subject('shell_exec', { command: 'touch ran' });
    await expect(second.exec('touch ran', {}, { subject })).rejects.toMatchObject({ code: 'FOLDER_CHANGED' });
    expect(await readdir(join(at.folder, 'workspace'))).toEqual([]);
  });

  it('gets its secrets from the vault again, never from a file, and says which it cannot have', async () => {
    const secrets = knownSecrets({ 'github/token': 'tok-1234567890', 'github/other': 'oth-1234567890' });
    const environment = leftOpen({ workspace: join(at.folder, 'workspace'), secrets });
    const first = await at.runtime({ sessionEnvironment: environment });
    await first.call('shell_open', { secrets: { TOKEN: 'github/token', OTHER: 'github/other' } });
    await at.set(first, 'WITH', 'has tok-1234567890 in it', { environment });
    await first.exec('echo tok-1234567890');
    await first.close();
    expect(await readFile(join(at.folder, 'session/runtime/shells/main.json'), 'utf8')).not.toContain('tok-1234567890');

    const fewer = leftOpen({
      workspace: join(at.folder, 'workspace'),
      secrets: knownSecrets({ 'github/token': 'tok-1234567890' }),
    });
    const reply = await (await at.runtime({ sessionEnvironment: fewer })).exec('echo "${#TOKEN} [$OTHER$WITH]"');
    expect(reply).toMatchObject({ output: '14 []\n', restored: true });
    expect(reply.notRestored).toEqual(
      expect.arrayContaining([
        'the variable OTHER: there is no secret github/other',
        'the variable WITH: its value had a secret in it, which no log has',
      ]),
    );
    expect(reply.notRestored).toHaveLength(3);
  });

  it('is not opened again once it was closed, ended by itself, or its session was', async () => {
    const first = await at.runtime();
    await first.call('shell_open', { name: 'closed' });
    await first.call('shell_close', { shell: 'closed' });
    await first.call('shell_open', { name: 'exited' });
    await first.exec('exit 3', { shell: 'exited' });
    await expect.poll(() => at.records.names(IDENTITY)).toEqual([]);
    await first.call('shell_open', { name: 'over' });
    expect(at.records.names(IDENTITY)).toEqual(['over']);
    await first.closeSession(SESSION_ID);
    expect(at.records.names(IDENTITY)).toEqual([]);
    const second = await at.runtime();
    for (const shell of ['closed', 'exited', 'over'])
      await expect(second.exec('true', { shell })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
  });

  it('can be closed, and opened anew in its place', async () => {
    const first = await at.runtime();
    for (const name of ['a', 'b']) {
      await first.call('shell_open', { name });
      await first.exec('cd sub', { shell: name });
    }
    await first.close();
    const second = await at.runtime();
    expect(await second.call('shell_close', { shell: 'a' })).toEqual({ shell: 'a', closed: true });
    await expect(second.exec('pwd', { shell: 'a' })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    expect(await second.call('shell_open', { name: 'b' })).toEqual({ shell: 'b', cwd: join(at.folder, 'workspace') });
    expect(await second.exec('pwd', { shell: 'b' })).not.toHaveProperty('restored');
  });
});

describe('a shell whose session has gone on in another process', () => {
  it('is not used any more, and writes nothing over what is known of the newer one', async () => {
    const first = await at.runtime();
    const second = await at.runtime();
    await first.exec('true');
    expect(await second.exec('cd sub')).toMatchObject({ restored: true });
    const newer = at.records.read(IDENTITY, 'main')?.instance;
    expect(first.subject('shell_exec', { command: 'pwd' })).toMatchObject({ cwd: join(at.folder, 'workspace/sub') });
    await expect(first.call('shell_read_last_output')).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    await first.close();
    expect(at.records.read(IDENTITY, 'main')?.instance).toBe(newer);
    const third = await at.runtime();
    expect(await third.exec('pwd')).toMatchObject({ output: `${join(at.folder, 'workspace/sub')}\n`, restored: true });
    const back = await second.exec('pwd');
    expect(back).toMatchObject({ restored: true, because: 'its session has gone on in another process since' });
  });
});

describe('what is kept of open shells', () => {
  const file = (): string => join(at.folder, 'session/runtime/shells/main.json');

  it('is for its owner only, and leaves nothing half written', async () => {
    const first = await at.runtime();
    for (let n = 0; n < 5; n += 1) await first.exec(`echo ${n}`);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(join(at.folder, 'session/runtime/shells'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(at.folder, 'session/runtime/shells'))).toEqual(['main.json']);
  });

  it.each([
    ['torn', '{"version":1,"inst'],
    ['empty', ''],
    ['of another version', '{"version":2}'],
    ['something else', '[]'],
    [
      'with more than it may have',
      JSON.stringify({ version: 1, instance: 'x', variables: [], entries: [], forgotten: 0, more: true }),
    ],
  ])('is nothing when it is %s', async (_, text) => {
    await mkdir(join(at.folder, 'session/runtime/shells'), { recursive: true });
    await writeFile(file(), text);
    const stage = await at.runtime();
    expect(await stage.exec('pwd')).toMatchObject({ opened: true, output: `${join(at.folder, 'workspace')}\n` });
    expect(at.records.read(IDENTITY, 'main')).toMatchObject({ version: 1 });
  });

  it('sets no variable that the log does not set', async () => {
    const first = await at.runtime();
    await first.exec('true');
    await at.set(first, 'REAL', 'value');
    await first.close();
    const record = JSON.parse(await readFile(file(), 'utf8')) as { variables: unknown[] };
    await writeFile(
      file(),
      JSON.stringify({
        ...record,
        variables: [
          { name: 'OTHER', seq: 2 },
          { name: 'REAL', seq: 1 },
          { name: 'NEVER', seq: 99 },
        ],
      }),
    );
    const reply = await (await at.runtime()).exec('echo "[$OTHER$REAL$NEVER]"');
    expect(reply.output).toBe('[]\n');
    expect(reply.notRestored).toHaveLength(4);
  });

  it('never brings back the folder of a session that was deleted', async () => {
    const stage = await at.runtime();
    await stage.exec('true');
    await rm(join(at.folder, 'session'), { recursive: true });
    expect(await stage.exec('echo on')).toMatchObject({ output: 'on\n' });
    await expect(stat(join(at.folder, 'session'))).rejects.toThrow('ENOENT');
  });

  it.skipIf(process.getuid?.() === 0)('is nothing where it cannot be written, and shells work without', async () => {
    await chmod(join(at.folder, 'session'), 0o500);
    const stage = await at.runtime();
    expect(await stage.exec('echo on')).toMatchObject({ output: 'on\n' });
    expect(at.records.names(IDENTITY)).toEqual([]);
    await chmod(join(at.folder, 'session'), 0o700);
  });

  it('is nothing where something else is in the way, and shells work without', async () => {
    await writeFile(join(at.folder, 'session/runtime'), '');
    const stage = await at.runtime();
    expect(await stage.exec('echo on')).toMatchObject({ output: 'on\n', opened: true });
    expect(await stage.exec('echo on')).toMatchObject({ output: 'on\n' });
    expect(at.records.names(IDENTITY)).toEqual([]);
  });
});

describe('a change of the main shell before there is one', () => {
  it('opens it, as a command does, and says so', async () => {
    const stage = await at.runtime();
    expect(await stage.call('shell_set_cwd', { cwd: 'sub' })).toEqual({
      shell: 'main',
      cwd: join(at.folder, 'workspace/sub'),
      opened: true,
    });
    const other = await at.runtime();
    await other.call('shell_close');
    expect(await at.set(other, 'MODE', 'x')).toEqual({ shell: 'main', name: 'MODE', set: true, opened: true });
    expect(await other.exec('echo $MODE')).toMatchObject({ output: 'x\n' });
    for (const [tool, input] of [
      ['shell_set_cwd', { cwd: 'sub' }],
      ['shell_set_env', { name: 'A', value: 'b' }],
    ] as const)
      await expect(other.call(tool, { shell: 'build', ...input })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
  });
});
