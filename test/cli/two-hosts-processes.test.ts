/** Two machines over one database: a page of one sees what runs for a session on the other, and ends it there. */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FarProcesses } from '../../src/actors/inspection/inspection-source.ts';
import type { ClosableSource } from '../../src/actors/inspection/runtime-source.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { createHomeSource } from '../../src/node/inspector.ts';
import { migratedDatabase } from '../support/postgres-server.ts';
import type { FreshDatabase } from '../support/postgres-server.ts';
import { program } from './command-line.ts';
import { runs, sleeps } from './stage.ts';

/** A machine of its own as far as names and pids go: it shows no others, and others cannot see it as it is. */
const MACHINE = ['unshare', '--uts', '--pid', '--fork', '--mount-proc', '--kill-child'] as const;
const SOON = { timeout: 30_000, interval: 200 };

function canHaveMachines(): boolean {
  const [command, ...flags] = MACHINE;
  try {
    execFileSync(command, [...flags, 'hostname', 'far'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write(`inspector: ${MACHINE.join(' ')} does not work here, so two machines are not tried\n`);
    return false;
  }
}

let folder: string;
let database: FreshDatabase;
let viewer: NodeRuntime;
let source: ClosableSource;
let far: ChildProcess;

async function sessionOn(store: { readonly postgres: string }): Promise<string> {
  const maker = await createNodeRuntime({ home: join(folder, 'far'), store });
  await maker.agents.create({
    agentId: 'builder',
    source: { frontmatter: { name: 'builder', provider: 'script', model: 'script.json' }, instructions: 'Build.' },
  });
  const steps = [runs('echo compiling; sleep 3600'), sleeps('it was ended')];
  await writeFile(
    join(folder, 'far/agents/builder/script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps }),
  );
  const { sessionId } = await maker.sessions.create({ agentId: 'builder' });
  await maker.sessions.send(sessionId, { type: 'user.message', text: 'Build.' });
  await maker.shutdown();
  return sessionId;
}

function wakeFarAway(sessionId: string): ChildProcess {
  const [command, ...flags] = MACHINE;
  const wake = ['wake', '--session', sessionId, '--home', join(folder, 'far')];
  return spawn(command, [...flags, 'sh', '-c', 'hostname far && exec "$@"', 'sh', process.execPath, program, ...wake], {
    stdio: 'ignore',
    env: { ...process.env, WAKECHART_STORE: database.url, TMPDIR: folder },
  });
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wakechart-hosts-'));
  database = await migratedDatabase();
});
afterEach(async () => {
  far.kill('SIGKILL');
  source.close();
  await viewer.shutdown();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const namesOf = (told: FarProcesses | undefined): readonly unknown[] => [
  told?.is,
  told?.processes.map(({ title, state, host }) => [title, state, host]),
];

describe.runIf(canHaveMachines())('a session that another machine wakes', { timeout: 120_000 }, () => {
  it('is shown with what runs there, which is ended from here', async () => {
    const store = { postgres: database.url };
    const sessionId = await sessionOn(store);
    viewer = await createNodeRuntime({ home: join(folder, 'near'), store, readsOnly: true, reconcileOnStart: false });
    source = createHomeSource(viewer, { title: 'near', onProblem: () => undefined });
    far = wakeFarAway(sessionId);
    await expect
      .poll(async () => namesOf(await source.farProcesses?.(sessionId)), SOON)
      .toEqual([
        'told',
        [
          ['echo compiling; sleep 3600', 'running', 'this'],
          ['sleep 3600', 'running', 'this'],
        ],
      ]);
    const told = await source.farProcesses?.(sessionId);
    expect(told?.owner).toMatch(/^far:\d+$/);
    const [root, below] = told?.processes ?? [];
    expect(root).toMatchObject({ output: ['[stdout] compiling'], residentBytes: expect.any(Number) });
    expect(below).toMatchObject({ parentPid: root?.pid, processorMs: expect.any(Number) });
    expect(await source.processes(sessionId)).toEqual([]);

    await expect(source.endProcess?.(sessionId, 99_999, { isFar: true })).rejects.toMatchObject({
      code: 'INSPECTION_PROCESS_GONE',
    });
    await source.endProcess?.(sessionId, root?.pid ?? 0, { isFar: true });
    await expect.poll(async () => (await viewer.sessions.status(sessionId)).status, SOON).toBe('idle');
    const results: string[] = [];
    for await (const event of viewer.sessions.events(sessionId))
      if (event.type === 'agent.tool_result') results.push(JSON.stringify(event.data));
    expect(results).toEqual([expect.stringContaining('a person ended it in the inspector')]);
  });
});
