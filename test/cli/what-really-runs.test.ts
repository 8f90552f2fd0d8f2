/** What runs for a session is seen from any process over its home, and can be ended there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InspectedProcess } from '../../src/actors/inspection/inspection-source.ts';
import type { ClosableSource } from '../../src/actors/inspection/runtime-source.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { createHomeSource } from '../../src/node/inspector.ts';
import type { NodeRuntime } from '../../src/node/node-runtime.ts';
import { start, until } from './command-line.ts';
import type { RunningCommand } from './command-line.ts';
import { Stage, runs, sleeps } from './stage.ts';

let stage: Stage;
/** As `wakechart inspect` opens it. */
let seen: NodeRuntime;
let source: ClosableSource;

beforeAll(async () => {
  stage = await Stage.open();
  seen = await createNodeRuntime({ home: stage.home, reconcileOnStart: false, readsOnly: true });
  source = createHomeSource(seen, { title: 'home', onProblem: () => undefined });
});

afterAll(async () => {
  source.close();
  await seen.shutdown();
  await stage.close();
});

/** A wake of another process whose command says nothing. */
async function silent(): Promise<{ readonly id: string; readonly woken: RunningCommand; readonly root: number }> {
  const { id } = await stage.sessionToWake(runs('echo compiling; sleep 3600'), sleeps('never said'));
  const woken = start(['wake', '--session', id, '--home', stage.home]);
  let root = 0;
  await until('its command to run', async () => {
    const found = await source.processes(id);
    root =
      found.find(({ title, parentPid }) => title === 'echo compiling; sleep 3600' && parentPid === undefined)?.pid ?? 0;
    return root !== 0 && found.some(({ title }) => title === 'sleep 3600');
  });
  return { id, woken, root };
}

/** What is on record is read once for all who ask within some seconds. */
const SOON = { timeout: 15_000 };

const shown = (processes: readonly InspectedProcess[]): readonly unknown[] =>
  processes.map(({ title, state, host }) => [title, state, host]);

async function resultsOf(id: string): Promise<readonly string[]> {
  return (await stage.eventsOf(id)).flatMap((event) =>
    event.type === 'agent.tool_result' ? [JSON.stringify(event.data)] : [],
  );
}

describe('a command of a wake in another process', () => {
  it('is shown as a tree with what it uses, and is ended from here by its process, which goes on', async () => {
    const { id, woken, root } = await silent();
    const processes = await source.processes(id);
    expect(shown(processes)).toEqual([
      ['echo compiling; sleep 3600', 'running', 'other'],
      ['sleep 3600', 'running', 'other'],
    ]);
    expect(processes[1]).toMatchObject({ parentPid: root });
    expect(processes[0]).toMatchObject({ output: ['[stdout] compiling'], limitMs: expect.any(Number) });
    expect(processes[0]).toHaveProperty('lastActivityAt');
    for (const { processorMs, residentBytes } of processes) {
      expect(processorMs).toBeGreaterThanOrEqual(0);
      expect(residentBytes).toBeGreaterThan(0);
    }
    await source.endProcess?.(id, root);
    expect(await source.processes(id)).toEqual([]);
    expect((await woken.ended).stdout).toContain('never said');
    expect(await resultsOf(id)).toEqual([expect.stringContaining('a person ended it in the inspector')]);
  });

  it('is shown as left when that process was killed, and is ended from here', async () => {
    const { id, woken, root } = await silent();
    woken.process.kill('SIGKILL');
    await woken.ended;
    await expect
      .poll(async () => shown(await source.processes(id)), SOON)
      .toEqual([
        ['echo compiling; sleep 3600', 'running', 'dead'],
        ['sleep 3600', 'running', 'dead'],
      ]);
    await source.endProcess?.(id, root);
    expect(await source.processes(id)).toEqual([]);
    await expect(source.endProcess?.(id, root)).rejects.toMatchObject({ code: 'INSPECTION_PROCESS_GONE' });
  });
});

describe('a command of a wake in this process', () => {
  it('is ended as a task that is cancelled, as the log says', async () => {
    const own = createHomeSource(stage.runtime, { title: 'home', onProblem: () => undefined });
    const { id } = await stage.sessionToWake(runs('echo compiling; sleep 3600'), sleeps('it was ended'));
    const woken = stage.runtime.wake(id);
    let pid = 0;
    await until('its command to run', async () => {
      const found = await own.processes(id);
      pid = found.find(({ host, title }) => host === 'this' && title === 'echo compiling; sleep 3600')?.pid ?? 0;
      return pid !== 0;
    });
    await own.endProcess?.(id, pid);
    expect((await woken).outcome).toBe('sleep');
    expect(await resultsOf(id)).toEqual([expect.stringContaining('a person ended it in the inspector')]);
    own.close();
  });
});
