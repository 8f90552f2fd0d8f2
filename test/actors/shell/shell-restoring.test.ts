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
  const kept = await Promise.all(
    (await readdir(folderOf)).map(async (name) => [name, await readFile(join(folderOf, name), 'utf8')] as const),
  );
  await stage.close();
  for (const [name, text] of kept) await writeFile(join(folderOf, name), text);
}

/** Sets a variable by a call that is in the log, as every call of a wake is. */
async function set(
  stage: ShellStage,
  name: string,
  value: string | null,
  { shell, environment }: { readonly shell?: string; readonly environment?: ToolContext['environment'] } = {},
): Promise<unknown> {
  calls += 1;
  const callId = `call_${calls}`;
  const input = {
    name,
    value: value === null ? null : (environment?.secrets.text(value) ?? value),
    ...(shell === undefined ? {} : { shell }),
  };
  await followed.store.append(SESSION_ID, [
    newEvent(calls, { type: 'agent.tool_use', data: { callId, name: 'shell_set_env', input, spanId: 'span_1' } }),
  ]);
  const events: readonly SessionEvent[] = await followed.store.read(SESSION_ID);
  const wake = { state: () => foldAll(events) } as CompanionWake;
  return stage.call(
    'shell_set_env',
    { name, value, ...(shell === undefined ? {} : { shell }) },
    { callId, wake, ...(environment === undefined ? {} : { environment }) },
  );
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
    await first.exec('LOST=1; export KEPT=1; true', { shell: 'build' });
    await end(first);

    const second = await runtime();
    expect(second.subject('shell_exec', { shell: 'build', command: 'pwd' })).toMatchObject({
      cwd: join(folder, 'workspace/sub'),
    });
    const reply = await second.exec('pwd; echo "$MODE [$GONE$LOST$KEPT]"', { shell: 'build' });
    expect(reply).toMatchObject({
      output: `${join(folder, 'workspace/sub')}\nit's $HOME [1]\n`,
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
    const first = await runtime();
    await first.exec('cd sub');
    await first.call('shell_open', { name: 'a' });
    await first.call('shell_open', { name: 'b' });
    await first.close();
    const second = await runtime();
    expect(await second.exec('pwd')).toMatchObject({ output: `${join(folder, 'workspace/sub')}\n`, restored: true });
    expect(await second.call('shell_set_cwd', { shell: 'a', cwd: 'sub' })).toMatchObject({
      restored: true,
      cwd: join(folder, 'workspace/sub'),
    });
    expect(await set(second, 'X', '1', { shell: 'b' })).toMatchObject({ restored: true });
  });

  it('says what ran in it and is not known, and tells its history before anybody uses it', async () => {
    const first = await runtime();
    await first.exec('sleep 3000', { timeoutMs: 0 });
    await expect.poll(() => records.read(IDENTITY, 'main')?.entries.at(-1)?.status).toBe('running');
    await killed(first);
    const second = await runtime();
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
    const first = await runtime();
    await first.exec('cd sub');
    await first.close();
    await rm(join(folder, 'workspace/sub'), { recursive: true });
    const reply = await (await runtime()).exec('pwd');
    expect(reply).toMatchObject({ output: `${join(folder, 'workspace')}\n`, restored: true });
    expect(reply.notRestored).toContain(
      `its folder ${join(folder, 'workspace/sub')}, which cannot be entered any more`,
    );
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

    const fewer = leftOpen({
      workspace: join(folder, 'workspace'),
      secrets: knownSecrets({ 'github/token': 'tok-1234567890' }),
    });
    const reply = await (await runtime({ sessionEnvironment: fewer })).exec('echo "${#TOKEN} [$OTHER$WITH]"');
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
    for (const shell of ['closed', 'exited', 'over'])
      await expect(second.exec('true', { shell })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
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
    [
      'with more than it may have',
      JSON.stringify({ version: 1, instance: 'x', variables: [], entries: [], forgotten: 0, more: true }),
    ],
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

describe('what commands have exported', () => {
  const file = (name = 'main'): string => join(folder, `session/runtime/shells/${name}.json`);
  /** Runs a command in a shell, kills its process, and runs another in the next. */
  async function across(
    command: string,
    then: string,
    environment?: ToolContext['environment'],
  ): Promise<{ readonly output: string; readonly notRestored: readonly string[]; readonly kept: string }> {
    const options = environment === undefined ? {} : { sessionEnvironment: environment };
    const first = await runtime(options);
    await first.exec(command);
    await killed(first);
    const kept = await readFile(file(), 'utf8');
    const { output, notRestored = [] } = await (await runtime(options)).exec(then);
    return { output, notRestored: notRestored.slice(1), kept };
  }

  it('is there again, so that a virtual environment works on', async () => {
    const bin = join(folder, 'workspace/venv/bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'python'), '#!/bin/sh\necho "the one of $VIRTUAL_ENV"\n', { mode: 0o755 });
    await writeFile(
      join(bin, 'activate'),
      'VIRTUAL_ENV=$(pwd)/venv; export VIRTUAL_ENV; PATH="$VIRTUAL_ENV/bin:$PATH"; export PATH\n',
    );
    const { output, notRestored, kept } = await across('. venv/bin/activate', 'python');
    expect(output).toBe(`the one of ${join(folder, 'workspace/venv')}\n`);
    expect(notRestored).toEqual([]);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(JSON.parse(kept)).toMatchObject({
      exports: { variables: [{ name: 'PATH' }, { name: 'VIRTUAL_ENV' }], notKept: [] },
    });
  });

  it('comes back whatever is in it, changed or removed since, from restart to restart', async () => {
    const value = 'it\'s "x" $HOME `id` \\ é\n\ttwo ; * end ';
    const { output } = await across(
      `export ODD='${value.replaceAll("'", String.raw`'\''`)}'; export EMPTY=; unset LANG; LANG=; export A=1; A=2; unset TZ`,
      'printf "%s|%s|%s" "$ODD" "${EMPTY-none}" "$A"',
    );
    expect(output).toBe(`${value}||2`);
    await killed(stages.at(-1) as ShellStage);
    expect((await (await runtime()).exec('printf %s "$ODD$A"')).output).toBe(`${value}2`);
  });

  it('is kept when the process dies while it is just being opened again', async () => {
    const first = await runtime();
    await first.exec('export A=1 B=2');
    await killed(first);
    const texts: string[] = [];
    const watched: ShellRecords = {
      ...records,
      async write(session, name, record) {
        texts.push(JSON.stringify(record.exports?.variables.map((variable) => variable.name)));
        await records.write(session, name, record);
      },
    };
    await (await runtime({ records: watched })).exec('true');
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) expect(text).toBe('["A","B"]');
  });

  it('is kept nowhere where it is a secret, and is named instead', async () => {
    const secrets = knownSecrets({ 'github/token': 'tok-1234567890' });
    const environment = leftOpen({ workspace: join(folder, 'workspace'), secrets });
    const command =
      'export API_KEY=plain-1 SAFE=yes COPY="has tok-1234567890 in it" PG=postgres://me:plain-2@host/db GH=ghp_plain3 MASKED="[redacted github/token]"';
    const { output, notRestored, kept } = await across(
      command,
      'echo "[$API_KEY$COPY$PG$GH$MASKED] $SAFE"',
      environment,
    );
    expect(output).toBe('[] yes\n');
    for (const name of ['API_KEY', 'COPY', 'PG', 'GH', 'MASKED'])
      expect(notRestored).toContainEqual(expect.stringContaining(`the exported variable ${name}: `));
    const { exports } = JSON.parse(kept) as { exports: unknown };
    for (const value of ['plain-1', 'plain-2', 'plain3', 'tok-1234567890'])
      expect(JSON.stringify([exports, notRestored])).not.toContain(value);
  });

  it('does not take the place of what comes from a vault or from the log', async () => {
    const environment = leftOpen({
      workspace: join(folder, 'workspace'),
      secrets: knownSecrets({ 'github/token': 'tok-1234567890' }),
    });
    const first = await runtime({ sessionEnvironment: environment });
    await first.call('shell_open', { secrets: { MINE: 'github/token' } });
    await set(first, 'MODE', 'of-the-call', { environment });
    await set(first, 'OTHER', 'of-the-call', { environment });
    await set(first, 'GONE', 'of-the-call', { environment });
    await first.exec('export MINE=changed; export OTHER=of-a-command; unset GONE');
    await killed(first);
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({
      exports: {
        variables: [
          { name: 'GONE', value: null },
          { name: 'OTHER', value: 'of-a-command' },
        ],
        notKept: [],
      },
    });
    const { output, notRestored } = await (
      await runtime({ sessionEnvironment: environment })
    ).exec('echo "${#MINE} $MODE $OTHER [$GONE]"');
    expect(output).toBe('14 of-the-call of-a-command []\n');
    expect(notRestored).toHaveLength(1);
  });

  it('is bounded in number and length, and says what it leaves out', async () => {
    const { output, notRestored, kept } = await across(
      'i=0; while [ $i -lt 150 ]; do export V$i=$i; i=$((i+1)); done; export A_LONG=$(head -c 20000 /dev/zero | tr "\\0" x)',
      'echo "[$A_LONG]$(env | grep -c "^V[0-9]")"',
    );
    expect(output).toBe('[]100\n');
    expect(notRestored).toContain('the exported variable A_LONG: its value is longer than 16384 characters');
    expect(notRestored.at(-1)).toMatch(/^21 more exported variables$/);
    const { exports } = JSON.parse(kept) as { exports: { variables: unknown[] } };
    expect(exports.variables).toHaveLength(100);
  });

  it('is not known of a shell that exports more than anybody reads, and it works on', async () => {
    const { output, notRestored } = await across(
      'i=0; BIG=$(head -c 120000 /dev/zero | tr "\\0" x); while [ $i -lt 12 ]; do export B$i=$BIG; i=$((i+1)); done; echo ${#B11}',
      'echo "[$B1]"',
    );
    expect(output).toBe('[]\n');
    expect(notRestored).toEqual([
      'variables that commands have exported: the shell does not say which there are, or they are too long',
    ]);
  });

  it.each([
    ['a variable that cannot be changed', 'readonly FIXED=1; export FIXED; export A=1', '1 1'],
    [
      'functions and aliases in the way',
      'printf() { echo no; }; pwd() { echo no; }; alias export=false printf=false set=false eval=false; \\export FIXED=1 A=1',
      '1 1',
    ],
    ['other separators and strictness', 'export FIXED=1 A=1 IFS=x; set -uf', '1 1'],
    ['output of jobs all the while', '(while :; do echo noise; done) & export FIXED=1 A=1', '1 1'],
  ])('is known in spite of %s', async (_, command, expected) => {
    const { output } = await across(command, 'echo "$FIXED" "$A"');
    expect(output.trim()).toBe(expected);
  });

  it('is said where no command can write, and nothing of it is in any output', async () => {
    const stage = await runtime();
    const { output } = await stage.exec(
      'export QUIET=value; (echo forged >&4); echo "status $?"; (sleep 0; echo forged >&4) & wait',
    );
    expect(output).toContain('status 2');
    expect(output.match(/4: Bad file descriptor/g)).toHaveLength(2);
    expect((await stage.exec('sleep 0')).output).toBe('');
  });
});

describe('a change of the main shell before there is one', () => {
  it('opens it, as a command does, and says so', async () => {
    const stage = await runtime();
    expect(await stage.call('shell_set_cwd', { cwd: 'sub' })).toEqual({
      shell: 'main',
      cwd: join(folder, 'workspace/sub'),
      opened: true,
    });
    const other = await runtime();
    await other.call('shell_close');
    expect(await set(other, 'MODE', 'x')).toEqual({ shell: 'main', name: 'MODE', set: true, opened: true });
    expect(await other.exec('echo $MODE')).toMatchObject({ output: 'x\n' });
    for (const [tool, input] of [
      ['shell_set_cwd', { cwd: 'sub' }],
      ['shell_set_env', { name: 'A', value: 'b' }],
    ] as const)
      await expect(other.call(tool, { shell: 'build', ...input })).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
  });
});
