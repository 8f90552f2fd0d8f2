/** Jobs on a real disk whose process is gone, and the several that find them. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SubagentManager } from '../../../src/actors/subagent/subagent-manager.ts';
import { createFileJobRecords } from '../../../src/adapters/subagent-files/file-job-records.ts';
import { createMemoryLog, createScriptedRunner, jobRequest } from '../../support/scripted-subagents.ts';
import type { MemoryLog } from '../../support/scripted-subagents.ts';

let directory = '';
let log: MemoryLog;
const managers: SubagentManager[] = [];
const reported: unknown[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'jobs-'));
  log = createMemoryLog();
});

afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.shutdown()));
  await rm(directory, { recursive: true, force: true });
});

function process() {
  const runner = createScriptedRunner();
  const manager = new SubagentManager({
    runner,
    log,
    records: createFileJobRecords({ directory }),
    onListenerError: (error) => reported.push(error),
  });
  managers.push(manager);
  return { runner, manager };
}

/** Every record is that of a process which is not there any more. */
async function orphanAll(): Promise<void> {
  for (const name of (await readdir(directory)).filter((each) => each.endsWith('.json'))) {
    const stored = JSON.parse(await readFile(join(directory, name), 'utf8')) as { readonly owner: object };
    await writeFile(join(directory, name), JSON.stringify({ ...stored, owner: { ...stored.owner, began: '1' } }));
  }
}

const endsTold = (): string[] => log.told.flatMap(([what, { jobId }]) => (what === 'ended' ? [jobId] : [])).sort();

describe('jobs of a process that is gone', () => {
  it('are each settled once by all that start at once, and stay settled', async () => {
    const first = process();
    const jobs = await Promise.all(
      Array.from({ length: 12 }, () => first.manager.spawn(jobRequest({ metadata: { big: 1n } }))),
    );
    await orphanAll();
    const others = Array.from({ length: 4 }, process);
    const reports = (await Promise.all(others.map(({ manager }) => manager.reconcile()))).flat();
    expect(
      reports
        .filter(({ action }) => action === 'settled')
        .map(({ jobId }) => jobId)
        .sort(),
    ).toEqual(jobs.map(({ id }) => id).sort());
    expect(endsTold()).toEqual(jobs.map(({ id }) => id).sort());
    const later = process();
    expect(await later.manager.reconcile()).toEqual([]);
    expect(later.manager.list().map(({ status, timeoutReason }) => [status, timeoutReason])).toEqual(
      jobs.map(() => ['failed', 'stale_worker']),
    );
    expect((await later.manager.spawn(jobRequest())).id).toBe('agent_13');
  });

  it('are settled also where one record cannot be read, which is set aside and told of once', async () => {
    const first = process();
    for (let index = 0; index < 3; index += 1) await first.manager.spawn(jobRequest());
    await orphanAll();
    await writeFile(join(directory, 'agent_1.owner-1'), '');
    await writeFile(join(directory, 'agent_2.json'), '{');
    const { manager } = process();
    expect((await manager.reconcile()).map(({ jobId, action }) => [jobId, action])).toEqual([
      ['agent_1', 'settled'],
      ['agent_2', 'unreadable'],
      ['agent_3', 'settled'],
    ]);
    expect(await manager.reconcile()).toEqual([]);
    expect(manager.get('agent_1')?.error).toContain('its process died while it ran, or while it waited for its turn');
  });

  it('keep an end that was stored, with the whole of a large answer', async () => {
    const first = process();
    const { id } = await first.manager.spawn(jobRequest());
    log.before = (call) => {
      if (call === 'ended') throw new Error('killed here');
    };
    const output = 'x'.repeat(100_000);
    first.runner.of(id).resolve({ output });
    await first.manager.wait(id);
    expect(reported).toHaveLength(1);
    log.before = () => undefined;
    await orphanAll();
    const { manager } = process();
    expect(await manager.reconcile()).toEqual([expect.objectContaining({ jobId: id, action: 'finished' })]);
    const { metadata } = await manager.wait(id);
    expect(await readFile(String(metadata?.['outputPath']), 'utf8')).toBe(output);
    expect(endsTold()).toEqual([id]);
    await manager.close(id);
    expect(await readdir(directory)).toEqual(['closed']);
  });
});
