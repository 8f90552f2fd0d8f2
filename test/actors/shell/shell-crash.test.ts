/** What a process that is killed leaves of its shells, and what the next one makes of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { SESSION_ID } from '../../support/session-events.ts';

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
const stateOf = async (pid: number): Promise<string> => (/\) (\S)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))?.[1] ?? 'gone');

describe('after a process with open shells was killed', () => {
  it('the next one ends the shells that live on, and what was started in them', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, folder, SESSION_ID], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    const pids = await Promise.all(['daemon', 'work', 'rest'].map(pidIn));
    for (const pid of pids) expect(await stateOf(pid)).toMatch(/[SR]/);
    child.kill('SIGKILL');
    await exited;

    const reconciled = await createProcessTree({ clock: createSystemClock(), directory: join(folder, 'processes') }).reconcile();
    // A shell at rest ends with its input by itself; its daemon does not.
    expect(reconciled.map(({ action }) => action)).toEqual(['killed', 'killed']);
    for (const pid of pids) expect(['gone', 'Z', 'X']).toContain(await stateOf(pid));
    expect(await createProcessTree({ clock: createSystemClock(), directory: join(folder, 'processes') }).reconcile()).toEqual([]);
  });
});
