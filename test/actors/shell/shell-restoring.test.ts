import { chmod, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { ShellRecords } from '../../../src/actors/shell/shell-records.ts';
import type { CompanionWake } from '../../../src/actors/wake/wake-companion.ts';
import type { ToolContext } from '../../../src/actors/turn/tool.ts';
import { createShellRecordFiles } from '../../../src/adapters/shell/shell-record-files.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { ShellHistory } from '../../../src/machines/turn/shell/shell-results.ts';
import { IDENTITY, SESSION_ID, foldAll, newEvent } from '../../support/session-events.ts';
import { knownSecrets, leftOpen } from '../../support/sandbox.ts';
import { followedSession } from './followed-session.ts';
import type { FollowedSession } from './followed-session.ts';
import { openShellStage } from './shell-stage.ts';
import type { ShellStage, ShellStageOptions } from './shell-stage.ts';

let folder: string;
let followed: FollowedSession;
let records: ShellRecords;
let stages: ShellStage[];
let calls: number;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'restoring-')));
  await mkdir(join(folder, 'session'));
  await mkdir(join(folder, 'workspace/sub'), { recursive: true });
  followed = await followedSession(createSystemClock());
  records = createShellRecordFiles(() => join(folder, 'session/runtime/shells'));
  stages = [];
  calls = 10;
});
afterEach(async () => {
  for (const stage of stages) await stage[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A runtime over the same session and workspace. */
async function runtime(options: ShellStageOptions = {}): Promise<ShellStage> {
  const stage = await openShellStage({ folder, records, sessions: followed.ports, ...options });
  stages.push(stage);
  return stage;
}

/** What is there after the process has gone without a word. */
async function killed(stage: ShellStage): Promise<void> {
  const folderOf = join(folder, 'session/runtime/shells');
  const kept = await Promise.all((await readdir(folderOf)).map(async (name) => [name, await readFile(join(folderOf, name), 'utf8')] as const));
  await stage.close();
  for (const [name, text] of kept) await writeFile(join(folderOf, name), text);
}

/** Sets a variable by a call that is in the log, as every call of a wake is. */
async function set(stage: ShellStage, name: string, value: string | null, { shell, environment }: { readonly shell?: string; readonly environment?: ToolContext['environment'] } = {}): Promise<unknown> {
  calls += 1;
  const callId = `call_${calls}`;
  const input = { name, value: value === null ? null : (environment?.secrets.text(value) ?? value), ...(shell === undefined ? {} : { shell }) };
  await followed.store.append(SESSION_ID, [newEvent(calls, { type: 'agent.tool_use', data: { callId, name: 'shell_set_env', input, spanId: 'span_1' } })]);
  const events: readonly SessionEvent[] = await followed.store.read(SESSION_ID);
  const wake = { state: () => foldAll(events) } as CompanionWake;
  return stage.call('shell_set_env', { name, value, ...(shell === undefined ? {} : { shell }) }, { callId, wake, ...(environment === undefined ? {} : { environment }) });
}

describe('a shell whose process has ended', () => {
  it.each([
    ['with its runtime', (stage: ShellStage) => stage.close()],
    ['without a word', killed],
  ])('%s is opened again when it is used, in its folder, with its variables and its history', async (_, end) => {
    const first = await runtime();
    await first.call('shell_open', { name: 'build' });
    await first.exec('cd sub', { shell: 'build' });
    await set(first, 'MODE', "it's $HOME", { shell: 'build' });
    await set(first, 'GONE', 'x', { shell: 'build' });
    await set(first, 'GONE', null, { shell: 'build' });
    await first.exec('LOST=1; export ALSO_LOST=1; true', { shell: 'build' });
    await end(first);

    const second = await runtime();
    expect(second.subject('shell_exec', { shell: 'build', command: 'pwd' })).toMatchObject({ cwd: join(folder, 'workspace/sub') });
    const reply = await second.exec('pwd; echo "$MODE [$GONE$LOST$ALSO_LOST]"', { shell: 'build' });
    expect(reply).toMatchObject({
      output: `${join(folder, 'workspace/sub')}\nit's $HOME []\n`,
      restored: true,
      because: 'the process in which it was open has ended',
      notRestored: ['functions, aliases, background jobs, and variables that commands have set'],
    });
    expect(await second.exec('true', { shell: 'build' })).not.toHaveProperty('restored');
    const { entries, variables } = await second.call<ShellHistory>('shell_history', { shell: 'build' });
    expect(entries.map(({ command }) => command)).toEqual(['cd sub', 'export MODE', 'export GONE', 'unset GONE', 'LOST=1; export ALSO_LOST=1; true', 'pwd; echo "$MODE [$GONE$LOST$ALSO_LOST]"', 'true']);
    expect(variables).toEqual(['MODE']);
  });

  it('is opened again by use of the main one, and by a change of its folder or of a variable', async () => {
    const first = await runtime();
    await first.exec('cd sub');
    await first.call('shell_open', { name: 'a' });
    await first.call('shell_open', { name: 'b' });
    await first.close();
    const second = await runtime();
    expect(await second.exec('pwd')).toMatchObject({ output: `${join(folder, 'workspace/sub')}\n`, restored: true });
    expect(await second.call('shell_set_cwd', { shell: 'a', cwd: 'sub' })).toMatchObject({ restored: true, cwd: join(folder, 'workspace/sub') });
    expect(await set(second, 'X', '1', { shell: 'b' })).toMatchObject({ restored: true });
  });

  it('says what ran in it and is not known, and tells its history before anybody uses it', async () => {
    const first = await runtime();
    await first.exec('sleep 3000', { timeoutMs: 0 });
    await expect.poll(() => records.read(IDENTITY, 'main')?.entries.at(-1)?.status).toBe('running');
    await killed(first);
    const second = await runtime();
    expect(await second.call('shell_history')).toMatchObject({ open: false, ended: expect.stringContaining('opened again when it is used'), entries: [{ command: 'sleep 3000' }] });
    expect(second.describe(IDENTITY)).toMatchObject([{ shell: 'main', open: false }]);
    for (const tool of ['shell_wait', 'shell_read_last_output']) await expect(second.call(tool)).rejects.toMatchObject({ code: 'SHELL_CLOSED', hint: expect.stringContaining('opened again') });
    expect((await second.exec('true')).notRestored).toContain('the command that ran in it; how far it came is not known');
    expect(await second.call('shell_history')).toMatchObject({ entries: [{ command: 'sleep 3000', status: 'shell_ended' }, { command: 'true', status: 'exited' }] });
  });

  it('begins in the workspace when its folder has gone, and says so', async () => {
    const first = await runtime();
    await first.exec('cd sub');
    await first.close();
    await rm(join(folder, 'workspace/sub'), { recursive: true });
    const reply = await (await runtime()).exec('pwd');
    expect(reply).toMatchObject({ output: `${join(folder, 'workspace')}\n`, restored: true });
    expect(reply.notRestored).toContain(`its folder ${join(folder, 'workspace/sub')}, which cannot be entered any more`);
  });

  it('runs nothing in another folder than the one that was allowed', async () => {
    const first = await runtime();
    await first.exec('cd sub');
    await first.close();
    await rm(join(folder, 'workspace/sub'), { recursive: true });
    const second = await runtime();
    const subject = second.subject('shell_exec', { command: 'touch ran' });
    await expect(second.exec('touch ran', {}, { subject })).rejects.toMatchObject({ code: 'FOLDER_CHANGED' });
    expect(await readdir(join(folder, 'workspace'))).toEqual([]);
  });

  it('gets its secrets from the vault again, never from a file, and says which it cannot have', async () => {
    const secrets = knownSecrets({ 'github/token': 'tok-1234567890', 'github/other': 'oth-1234567890' });
    const environment = leftOpen({ workspace: join(folder, 'workspace'), secrets });
    const first = await runtime({ sessionEnvironment: environment });
    await first.call('shell_open', { secrets: { TOKEN: 'github/token', OTHER: 'github/other' } });
    await set(first, 'WITH', 'has tok-1234567890 in it', { environment });
    await first.exec('echo tok-1234567890');
    await first.close();
    expect(await readFile(join(folder, 'session/runtime/shells/main.json'), 'utf8')).not.toContain('tok-1234567890');

    const fewer = leftOpen({ workspace: join(folder, 'workspace'), secrets: knownSecrets({ 'github/token': 'tok-1234567890' }) });
    const reply = await (await runtime({ sessionEnvironment: fewer })).exec('echo "${#TOKEN} [$OTHER$WITH]"');
    expect(reply).toMatchObject({ output: '14 []\n', restored: true });
    expect(reply.notRestored).toEqual(expect.arrayContaining(['the variable OTHER: there is no secret github/other', 'the variable WITH: its value had a secret in it, which no log has']));
  });

  it('is not opened again once it was closed, ended by itself, or its session was', async () => {
    const first = await runtime();
    await first.call('shell_open', { name: 'closed' });
    await first.call('shell_close', { shell: 'closed' });
    await first.call('shell_open', { name: 'exited' });
    await first.exec('exit 3', { shell: 'exited' });
    await expect.poll(() => records.names(IDENTITY)).toEqual([]);
    await first.call('shell_open', { name: 'over' });
    expect(records.names(IDENTITY)).toEqual(['over']);
    await first.closeSession(SESSION_ID);
    expect(records.names(IDENTITY)).toEqual([]);
    const second = await runtime();
    for (const shell of ['closed', 'exited', 'over']) await expect(second.exec('true', { shell })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
  });

  it('can be closed, and opened anew in its place', async () => {
    const first = await runtime();
    for (const name of ['a', 'b']) {
      await first.call('shell_open', { name });
      await first.exec('cd sub', { shell: name });
    }
    await first.close();
    const second = await runtime();
    expect(await second.call('shell_close', { shell: 'a' })).toEqual({ shell: 'a', closed: true });
    await expect(second.exec('pwd', { shell: 'a' })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    expect(await second.call('shell_open', { name: 'b' })).toEqual({ shell: 'b', cwd: join(folder, 'workspace') });
    expect(await second.exec('pwd', { shell: 'b' })).not.toHaveProperty('restored');
  });
});

describe('a shell whose session has gone on in another process', () => {
  it('is not used any more, and writes nothing over what is known of the newer one', async () => {
    const first = await runtime();
    const second = await runtime();
    await first.exec('true');
    expect(await second.exec('cd sub')).toMatchObject({ restored: true });
    const newer = records.read(IDENTITY, 'main')?.instance;
    expect(first.subject('shell_exec', { command: 'pwd' })).toMatchObject({ cwd: join(folder, 'workspace/sub') });
    await expect(first.call('shell_read_last_output')).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    await first.close();
    expect(records.read(IDENTITY, 'main')?.instance).toBe(newer);
    const third = await runtime();
    expect(await third.exec('pwd')).toMatchObject({ output: `${join(folder, 'workspace/sub')}\n`, restored: true });
    const back = await second.exec('pwd');
    expect(back).toMatchObject({ restored: true, because: 'its session has gone on in another process since' });
  });
});

describe('what is kept of open shells', () => {
  const file = (): string => join(folder, 'session/runtime/shells/main.json');

  it('is for its owner only, and leaves nothing half written', async () => {
    const first = await runtime();
    for (let n = 0; n < 5; n += 1) await first.exec(`echo ${n}`);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'session/runtime/shells'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, 'session/runtime/shells'))).toEqual(['main.json']);
  });

  it.each([
    ['torn', '{"version":1,"inst'],
    ['empty', ''],
    ['of another version', '{"version":2}'],
    ['something else', '[]'],
    ['with more than it may have', JSON.stringify({ version: 1, instance: 'x', variables: [], entries: [], forgotten: 0, more: true })],
  ])('is nothing when it is %s', async (_, text) => {
    await mkdir(join(folder, 'session/runtime/shells'), { recursive: true });
    await writeFile(file(), text);
    const stage = await runtime();
    expect(await stage.exec('pwd')).toMatchObject({ opened: true, output: `${join(folder, 'workspace')}\n` });
    expect(records.read(IDENTITY, 'main')).toMatchObject({ version: 1 });
  });

  it('sets no variable that the log does not set', async () => {
    const first = await runtime();
    await first.exec('true');
    await set(first, 'REAL', 'value');
    await first.close();
    const record = JSON.parse(await readFile(file(), 'utf8')) as { variables: unknown[] };
    await writeFile(file(), JSON.stringify({ ...record, variables: [{ name: 'OTHER', seq: 2 }, { name: 'REAL', seq: 1 }, { name: 'NEVER', seq: 99 }] }));
    const reply = await (await runtime()).exec('echo "[$OTHER$REAL$NEVER]"');
    expect(reply.output).toBe('[]\n');
    expect(reply.notRestored).toHaveLength(4);
  });

  it('never brings back the folder of a session that was deleted', async () => {
    const stage = await runtime();
    await stage.exec('true');
    await rm(join(folder, 'session'), { recursive: true });
    expect(await stage.exec('echo on')).toMatchObject({ output: 'on\n' });
    await expect(stat(join(folder, 'session'))).rejects.toThrow('ENOENT');
  });

  it.skipIf(process.getuid?.() === 0)('is nothing where it cannot be written, and shells work without', async () => {
    await chmod(join(folder, 'session'), 0o500);
    const stage = await runtime();
    expect(await stage.exec('echo on')).toMatchObject({ output: 'on\n' });
    expect(records.names(IDENTITY)).toEqual([]);
    await chmod(join(folder, 'session'), 0o700);
  });

  it('is nothing where something else is in the way, and shells work without', async () => {
    await writeFile(join(folder, 'session/runtime'), '');
    const stage = await runtime();
    expect(await stage.exec('echo on')).toMatchObject({ output: 'on\n', opened: true });
    expect(await stage.exec('echo on')).toMatchObject({ output: 'on\n' });
    expect(records.names(IDENTITY)).toEqual([]);
  });
});
