import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createShellRunTool } from '../../../src/actors/turn/shell-run-tool.ts';
import type { ToolContext } from '../../../src/actors/turn/tool.ts';
import type { ShellRunInput, ShellRunOutput } from '../../../src/machines/turn/shell-run.ts';
import { IDENTITY } from '../../support/session-events.ts';
import { hasSandbox, knownSecrets, leftOpen, shutIn } from '../../support/sandbox.ts';
import type { EnvironmentRequest } from '../../support/sandbox.ts';
import { nodeShellHost, openShellStage } from './shell-stage.ts';
import type { ShellStage } from './shell-stage.ts';

let folder: string;
let workspace: string;
let stage: ShellStage;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'shut-in-')));
  workspace = join(folder, 'workspace');
  await mkdir(join(workspace, 'sub'), { recursive: true });
  await writeFile(join(folder, 'outside'), 'secret of others');
  stage = await openShellStage({ folder });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const inSandbox = (request: Partial<EnvironmentRequest> = {}): ReturnType<typeof shutIn> =>
  shutIn({ workspace, ...request });

async function processesWith(word: string): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(word)).length;
}

describe('a persistent shell on the host', () => {
  it('tells that something was left running in it', async () => {
    await stage.exec('true');
    expect(await stage.leftRunning(IDENTITY)).toBeUndefined();
    await stage.exec('sleep 60 >/dev/null 2>&1 &');
    expect(await stage.leftRunning(IDENTITY)).toBe('1 process in shell main');
  });
});

describe.skipIf(!hasSandbox)('a persistent shell in a sandbox', () => {
  it('sees what the session may see, and keeps its folder and variables', async () => {
    const environment = await inSandbox();
    expect(
      await stage.exec('cat ../outside 2>/dev/null || echo nothing; cd /workspace/sub; KEPT=1', {}, { environment }),
    ).toMatchObject({ output: 'nothing\n', opened: true, cwd: join(workspace, 'sub') });
    expect(await stage.exec('echo $KEPT; pwd -P; touch here', {}, { environment })).toMatchObject({
      output: `1\n${join(workspace, 'sub')}\n`,
      exitCode: 0,
    });
    expect(await readdir(join(workspace, 'sub'))).toEqual(['here']);
  });

  it('says where a command would run, also where that is only in the sandbox, or in a mount', async () => {
    const data = join(folder, 'data');
    await mkdir(join(data, 'deep'), { recursive: true });
    const environment = await inSandbox({
      mounts: [{ kind: 'declared', path: '/data', directory: data, access: 'rw' }],
    });
    const judged = async (to: string): Promise<unknown> => {
      await stage.exec(`cd ${to}`, {}, { environment });
      return stage.subject('shell_exec', { command: 'ls' }, environment);
    };
    expect(await judged('sub')).toMatchObject({ cwd: join(workspace, 'sub') });
    expect(await judged('/data/deep')).toMatchObject({ cwd: join(data, 'deep') });
    expect(await judged('/usr')).toMatchObject({ cwd: '/usr' });
    expect(
      await stage.exec(
        'pwd',
        {},
        { environment, subject: { kind: 'shell', command: 'pwd', cwd: '/usr', isolated: false } },
      ),
    ).toMatchObject({ output: '/usr\n' });
    await expect(
      stage.exec(
        'pwd',
        {},
        { environment, subject: { kind: 'shell', command: 'pwd', cwd: workspace, isolated: false } },
      ),
    ).rejects.toMatchObject({ code: 'FOLDER_CHANGED' });
  });

  it('tells that something was left running in it, also what has left its parent', async () => {
    const environment = await inSandbox();
    await stage.exec('true', {}, { environment });
    expect(await stage.leftRunning(IDENTITY)).toBeUndefined();
    await stage.exec('(setsid sleep 60 >/dev/null 2>&1 &) ; sleep 60 >/dev/null 2>&1 &', {}, { environment });
    expect(await stage.leftRunning(IDENTITY)).toBe('2 processes in shell main');
    expect(await stage.leftRunning({ sessionId: 'other' })).toBeUndefined();
    await stage.call('shell_close', {}, { environment });
    expect(await stage.leftRunning(IDENTITY)).toBeUndefined();
  });

  it('notices that its folder has gone', async () => {
    const environment = await inSandbox();
    await stage.exec('cd sub', {}, { environment });
    await rm(join(workspace, 'sub'), { recursive: true });
    await expect(stage.exec('ls', {}, { environment })).rejects.toMatchObject({ code: 'SHELL_FOLDER_GONE' });
    expect(await stage.call('shell_set_cwd', { cwd: '/workspace' }, { environment })).toMatchObject({ cwd: workspace });
  });

  it('lives on when a stop interrupts its command', async () => {
    const environment = await inSandbox();
    await stage.exec('KEPT=1', {}, { environment });
    const controller = new AbortController();
    const stopped = stage.exec('sleep 3000; touch after', {}, { environment, signal: controller.signal });
    await expect.poll(() => processesWith('sleep\x003000')).toBe(1);
    controller.abort(new Error('stop'));
    await expect(stopped).rejects.toThrow('stop');
    expect(await processesWith('sleep\x003000')).toBe(0);
    expect(await stage.exec('echo $KEPT; ls', {}, { environment })).toMatchObject({ output: '1\nsub\n', exitCode: 0 });
    expect(await stage.call('shell_history', {}, { environment })).toMatchObject({
      entries: [{ status: 'exited' }, { status: 'stopped' }, { status: 'exited' }],
    });
  });

  it('is ended with a command that takes no interrupt, and with everybody whom that has started', async () => {
    const environment = await inSandbox();
    await stage.exec(
      '(setsid sh -c \'trap "" INT TERM HUP; while :; do sleep 0.2; done; : deaf-one\' &)',
      {},
      { environment },
    );
    const controller = new AbortController();
    const stopped = stage.exec(
      'exec sh -c \'trap "" INT TERM; : > deaf; while :; do sleep 0.2; done; : deaf-two\'',
      {},
      { environment, signal: controller.signal },
    );
    await expect.poll(() => readdir(workspace)).toContain('deaf');
    controller.abort(new Error('stop'));
    await expect(stopped).rejects.toThrow('stop');
    expect([await processesWith('deaf-one'), await processesWith('deaf-two')]).toEqual([0, 0]);
  });

  it('says what bubblewrap says when it cannot be opened', async () => {
    const environment = await inSandbox();
    await rename(workspace, join(folder, 'aside'));
    await mkdir(workspace);
    await expect(stage.exec('ls', {}, { environment })).rejects.toMatchObject({
      code: 'SHELL_NOT_OPENED',
      message: expect.stringContaining('a mounted folder was replaced'),
    });
  });

  it('is opened anew, as it was, when the environment of its session changes, and the reply says so', async () => {
    await stage.exec('cd sub; LOST=1', {}, { environment: leftOpen({ workspace }) });
    const environment = await inSandbox({ fingerprint: 'stricter' });
    const reply = await stage.exec(
      'pwd -P; echo "[$LOST]"; cat ../../outside 2>/dev/null || echo nothing',
      {},
      { environment },
    );
    expect(reply).toMatchObject({
      output: `${join(workspace, 'sub')}\n[]\nnothing\n`,
      restored: true,
      because: expect.stringMatching(/^SHELL_ENVIRONMENT_CHANGED: /),
    });
    expect(reply.notRestored).toEqual(['functions, aliases, background jobs, and variables that are not exported']);
    expect(await stage.exec('pwd', {}, { environment })).not.toHaveProperty('restored');
  });

  it('that was busy in another environment does not go on in that', async () => {
    const environment = leftOpen({ workspace });
    await stage.exec('sleep 3001', { timeoutMs: 0 }, { environment });
    const reply = await stage.exec('echo on', {}, { environment: await inSandbox() });
    expect(reply).toMatchObject({ output: 'on\n', restored: true });
    expect(reply.notRestored).toContain('the command that ran in it; how far it came is not known');
    expect(await processesWith('sleep\x003001')).toBe(0);
  });
});

describe('secrets for a shell', () => {
  const secrets = knownSecrets({ 'github/token': 'tok-1234567890' });

  it('are in its environment for its life, and in nothing that it keeps', async () => {
    const environment = leftOpen({ workspace, secrets });
    await stage.call('shell_open', { secrets: { GITHUB_TOKEN: 'github/token' } }, { environment });
    expect((await stage.exec('printf "%s" "$GITHUB_TOKEN" | wc -c', {}, { environment })).output.trim()).toBe('14');
    expect(
      await stage.exec('printf tok-1234; printf 567890; echo " $GITHUB_TOKEN"; : tok-1234567890', {}, { environment }),
    ).toMatchObject({ output: '[github/token] [github/token]\n' });
    const told = JSON.stringify([
      await stage.call('shell_history', {}, { environment }),
      await stage.call('shell_read_last_output', {}, { environment }),
      stage.describe(IDENTITY),
    ]);
    expect(told).not.toContain('tok-1234567890');
    expect(told).toContain('"variables":["GITHUB_TOKEN"]');
  });

  it.each([
    { GITHUB_TOKEN: 'github/other' },
    { PATH: 'github/token' },
    { LD_PRELOAD: 'github/token' },
    { GIT_SSH_COMMAND: 'github/token' },
    { 'A B': 'github/token' },
    { TOKEN: 'token' },
  ])('are refused as %j, and nothing is opened', async (given) => {
    await expect(
      stage.call('shell_open', { secrets: given }, { environment: leftOpen({ workspace, secrets }) }),
    ).rejects.toThrow();
    expect(stage.tasks.list({ status: 'running' })).toEqual([]);
  });

  it('are refused where nobody knows of vaults', async () => {
    await expect(stage.call('shell_open', { secrets: { TOKEN: 'github/token' } })).rejects.toMatchObject({
      code: 'SECRET_UNKNOWN',
    });
  });
});

describe('shell_run in an environment', () => {
  const run = async (
    input: ShellRunInput,
    context: Partial<ToolContext> = {},
    clock: Clock = createSystemClock(),
  ): Promise<ShellRunOutput> => {
    const tool = createShellRunTool(stage.tasks, {
      clock,
      host: nodeShellHost,
      environment: { set: { OURS: 'ours' } },
    });
    return (await tool.run(input, {
      session: IDENTITY,
      callId: 'call_1',
      workspaceDirectory: workspace,
      signal: new AbortController().signal,
      ...context,
    })) as ShellRunOutput;
  };

  it.skipIf(!hasSandbox)('runs in the sandbox, in the folder that is asked for by either name', async () => {
    const environment = await inSandbox();
    for (const cwd of ['sub', '/workspace/sub', join(workspace, 'sub')]) {
      expect(
        await run({ command: 'pwd -P; cat ../../outside 2>/dev/null || echo nothing; exit 3', cwd }, { environment }),
      ).toEqual({ output: `${join(workspace, 'sub')}\nnothing\n`, exitCode: 3, signalCode: null });
    }
    await expect(run({ command: 'pwd', cwd: '/workspace/..' }, { environment })).rejects.toMatchObject({
      code: 'PATH_OUTSIDE_WORKSPACE',
    });
    await expect(run({ command: 'pwd', cwd: '/usr' }, { environment })).rejects.toMatchObject({
      code: 'PATH_OUTSIDE_WORKSPACE',
    });
  });

  it.skipIf(!hasSandbox)('leaves nothing behind when its time is up or it is stopped', async () => {
    const environment = await inSandbox();
    const command = (word: string): string =>
      `(setsid nohup sh -c 'trap "" TERM HUP INT; while :; do sleep 0.2; done; : ${word}' >/dev/null 2>&1 &); echo begun; touch ${word}; trap "" TERM; while :; do sleep 0.2; done`;
    const clock = createSimulatedClock();
    const late = run({ command: command('late-one'), timeoutMs: 1_000 }, { environment }, clock);
    await expect.poll(() => readdir(workspace)).toContain('late-one');
    await clock.advance(1_000);
    expect(await late).toMatchObject({ output: 'begun\n', timedOut: true });
    const controller = new AbortController();
    const stopped = run({ command: command('late-two') }, { environment, signal: controller.signal });
    await expect.poll(() => readdir(workspace)).toContain('late-two');
    controller.abort(new Error('stop'));
    await expect(stopped).rejects.toThrow();
    expect([await processesWith('late-one'), await processesWith('late-two')]).toEqual([0, 0]);
  });

  it('has the variables of the environment besides those of the runtime, and none that load code into the sandbox itself', async () => {
    const variables = { pass: [], set: { THEIRS: 'theirs', LD_LIBRARY_PATH: '/nowhere', BASH_ENV: '/nowhere/x' } };
    const command = 'echo "$OURS $THEIRS [$LD_LIBRARY_PATH$BASH_ENV]"';
    expect((await run({ command }, { environment: leftOpen({ workspace, variables }) })).output).toBe(
      'ours theirs [/nowhere/nowhere/x]\n',
    );
    if (hasSandbox)
      expect((await run({ command }, { environment: await inSandbox({ variables }) })).output).toBe('ours theirs []\n');
    await expect(
      run({ command }, { environment: leftOpen({ workspace, variables: { pass: ['A B'], set: {} } }) }),
    ).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID' });
  });

  it('is given secrets that it names, and gives none back', async () => {
    const secrets = knownSecrets({ 'github/token': 'tok-1234567890' });
    const environment = leftOpen({ workspace, secrets });
    expect(
      await run(
        { command: 'echo "$TOKEN" > told; wc -c < told; cat told', secrets: { TOKEN: 'github/token' } },
        { environment },
      ),
    ).toMatchObject({ output: '15\n[github/token]\n' });
    await expect(
      run({ command: 'touch ran', secrets: { TOKEN: 'github/other' } }, { environment }),
    ).rejects.toMatchObject({ code: 'SECRET_UNKNOWN' });
    expect(await readdir(workspace)).not.toContain('ran');
  });
});
