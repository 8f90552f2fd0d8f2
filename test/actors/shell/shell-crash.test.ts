/** What a process that is killed leaves of its shells, and what the next one makes of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createShellRecordFiles } from '../../../src/adapters/shell/shell-record-files.ts';
import { SESSION_ID } from '../../support/session-events.ts';
import { openShellStage } from './shell-stage.ts';

const DIST = new URL('../../../dist/', import.meta.url).href;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crash-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A process that opens two shells, one at rest and one at work, with a daemon beside them. */
const SCRIPT = `
  const load = (name) => import(${JSON.stringify(DIST)} + name);
  const { createShellTools } = await load('actors/shell/shell-tools.js');
  const { TaskOutputFeed } = await load('actors/shell/task-output-feed.js');
  const { BackgroundTaskManager } = await load('actors/task/background-task-manager.js');
  const { createSystemClock } = await load('actors/clock/system-clock.js');
  const { createProcessTree } = await load('adapters/process-tree/process-tree.js');
  const { createManagedShellProcessRunner } = await load('adapters/shell/shell-runner.js');
  const [folder, sessionId] = process.argv.slice(1);
  const clock = createSystemClock();
  const feed = new TaskOutputFeed();
  const processTree = createProcessTree({ clock, directory: folder + '/processes' });
  const runner = createManagedShellProcessRunner({ processTree, clock, onOutput: feed.take, environment: () => ({}) });
  const tasks = new BackgroundTaskManager({ runners: { process: runner }, clock, maxConcurrent: 32 });
  const host = { environment: () => process.env, interrupt: () => undefined, resolveInside: (workspace) => workspace, leadsThrough: () => false, folderOfProcess: () => ({ kind: 'unknown' }) };
  const { tools } = createShellTools({ tasks, feed, host, clock });
  const exec = (input) => tools.find(({ definition }) => definition.name === 'shell_exec').run(input, { session: { sessionId, agentId: 'a' }, callId: 'c', workspaceDirectory: folder, signal: new AbortController().signal });
  await exec({ command: 'echo $$ > rest; setsid sh -c "echo \\$\\$ > daemon; exec sleep 300" & while [ ! -s daemon ]; do sleep 0.01; done' });
  await tools[0].run({ name: 'work' }, { session: { sessionId, agentId: 'a' }, callId: 'c', workspaceDirectory: folder, signal: new AbortController().signal });
  await exec({ shell: 'work', command: 'echo $$ > work; trap "" HUP; sleep 300', timeoutMs: 0 });
  while (!(await import('node:fs')).existsSync(folder + '/work')) await new Promise((resolve) => setTimeout(resolve, 5));
  process.stdout.write('ready');
`;

const pidIn = async (name: string): Promise<number> => Number(await readFile(join(folder, name), 'utf8'));
const stateOf = async (pid: number): Promise<string> =>
  /\) (\S)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))?.[1] ?? 'gone';

/** A process that has a virtual environment active in its shell. */
const EXPORTING = `${SCRIPT.slice(0, SCRIPT.indexOf('  const { tools }'))}
  const { createShellRecordFiles } = await load('adapters/shell/shell-record-files.js');
  const records = createShellRecordFiles(() => folder + '/session/runtime/shells');
  const { tools } = createShellTools({ tasks, feed, host, clock, records });
  const exec = (input) => tools.find(({ definition }) => definition.name === 'shell_exec').run(input, { session: { sessionId, agentId: 'a' }, callId: 'c', workspaceDirectory: folder + '/workspace', signal: new AbortController().signal });
  await exec({ command: 'export VIRTUAL_ENV=$PWD/venv; export PATH=$VIRTUAL_ENV/bin:$PATH; export MY_TOKEN=never-kept' });
  process.stdout.write('ready');
`;

describe('a shell whose process was killed', () => {
  it('has in the next one what was exported in it, such as a virtual environment', async () => {
    await mkdir(join(folder, 'session'));
    await mkdir(join(folder, 'workspace/venv/bin'), { recursive: true });
    await writeFile(join(folder, 'workspace/venv/bin/tool'), '#!/bin/sh\necho "of $VIRTUAL_ENV"\n', { mode: 0o755 });
    const child = spawn(process.execPath, ['--input-type=module', '-e', EXPORTING, folder, SESSION_ID], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await exited;
    const records = createShellRecordFiles(() => join(folder, 'session/runtime/shells'));
    await using stage = await openShellStage({ folder, records });
    const reply = await stage.exec('tool; echo "[$MY_TOKEN]"');
    expect(reply).toMatchObject({ restored: true, output: expect.stringMatching(/^of .*\/workspace\/venv\n\[\]\n$/) });
    expect(reply.notRestored).toContain(
      'the exported variable MY_TOKEN: it looks like a key or a password, and those are kept nowhere',
    );
    // The command is in the history as in the log; what is kept to be set again is not that.
    const { exports } = JSON.parse(await readFile(join(folder, 'session/runtime/shells/main.json'), 'utf8')) as {
      exports: unknown;
    };
    expect(JSON.stringify(exports)).not.toContain('never-kept');
  });
});

describe('after a process with open shells was killed', () => {
  it('the next one ends the shells that live on, and what was started in them', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, folder, SESSION_ID], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    const pids = await Promise.all(['daemon', 'work', 'rest'].map(pidIn));
    for (const pid of pids) expect(await stateOf(pid)).toMatch(/[SRD]/);
    child.kill('SIGKILL');
    await exited;

    const reconciled = await createProcessTree({
      clock: createSystemClock(),
      directory: join(folder, 'processes'),
    }).reconcile();
    // A shell at rest ends with its input by itself; its daemon does not.
    expect(reconciled.map(({ action }) => action)).toEqual(['killed', 'killed']);
    for (const pid of pids) expect(['gone', 'Z', 'X']).toContain(await stateOf(pid));
    expect(
      await createProcessTree({ clock: createSystemClock(), directory: join(folder, 'processes') }).reconcile(),
    ).toEqual([]);
  });
});
