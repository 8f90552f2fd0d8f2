/** What the work of a job may say beside doing it: how often it may ask, and what it cannot decide. */
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_OPEN_PERMISSIONS } from '../../../src/actors/task/runner-events.ts';
import { handedAround } from '../../../src/actors/subagent/large-output.ts';
import type { BackgroundTaskEvent } from '../../../src/machines/task/task-state.ts';
import { closeManagers, managerSetup } from '../../support/manager-setup.ts';
import { settled } from '../../support/manual-runner.ts';
import { createScriptedRunner, jobRequest } from '../../support/scripted-subagents.ts';

afterEach(closeManagers);

const REQUEST = { type: 'background_task_permission_request', toolName: 'write', toolArgs: {} } as const;

describe('a job that asks and does not wait', () => {
  it('is told no beyond what may be open, and nobody else hears of it', async () => {
    const { manager, runner } = managerSetup();
    const heard: BackgroundTaskEvent[] = [];
    manager.subscribe((event) => heard.push(event));
    const { id } = await manager.spawn(jobRequest({ permissionPolicy: 'prompt' }));
    const work = runner.of(id);
    const ask = (requestId: string): void => work.say({ ...REQUEST, requestId });
    for (let index = 0; index < MAX_OPEN_PERMISSIONS + 3; index += 1) ask(`r${index}`);
    await settled();
    expect(work.answers).toEqual([256, 257, 258].map((index) => ({ requestId: `r${index}`, allowed: false })));
    expect(heard.filter(({ type }) => type === 'background_task_permission_request')).toHaveLength(
      MAX_OPEN_PERMISSIONS,
    );
    work.say({ type: 'background_task_permission_resolved', requestId: 'r0' });
    ask('again');
    await manager.answerPermission(id, 'again', true);
    expect(work.answers.at(-1)).toEqual({ requestId: 'again', allowed: true });
    work.resolve();
    await manager.wait(id);
  });

  it('is told so once it has started, where it asked before', async () => {
    const { manager, runner } = managerSetup();
    let begin = (): void => undefined;
    runner.onStart = async ({ jobId, emit }) => {
      await settled();
      for (let index = 0; index <= MAX_OPEN_PERMISSIONS; index += 1)
        emit({ ...REQUEST, taskId: jobId, requestId: `r${index}` });
      await new Promise<void>((resolve) => (begin = resolve));
    };
    const spawned = await manager.spawn(jobRequest({ permissionPolicy: 'prompt' }));
    await settled();
    await settled();
    begin();
    await settled();
    const denied = { requestId: `r${MAX_OPEN_PERMISSIONS}`, allowed: false };
    expect(runner.of(spawned.id).answers).toEqual([denied]);
  });

  it('is heard each time where its runner takes no denials: it would wait for ever', async () => {
    const runner = createScriptedRunner({ answerPermission: undefined as never });
    const { manager } = managerSetup({ runner });
    const heard: BackgroundTaskEvent[] = [];
    manager.subscribe((event) => heard.push(event));
    const { id } = await manager.spawn(jobRequest({ permissionPolicy: 'prompt' }));
    for (let index = 0; index <= MAX_OPEN_PERMISSIONS; index += 1)
      runner.of(id).say({ ...REQUEST, requestId: `r${index}` });
    const asked = heard.filter(({ type }) => type === REQUEST.type);
    expect(asked).toHaveLength(MAX_OPEN_PERMISSIONS + 1);
  });
});

describe('the answer of a job', () => {
  it('lies where it was put, whatever its work says', async () => {
    const metadata = { outputPath: '/etc/shadow', outputBytes: 1, outputNotKept: 'x', summary: 's' };
    const records = { keepOutput: async () => ({ path: '/kept/output.txt', bytes: 100_000 }) };
    expect(await handedAround({ jobId: 'agent_1', output: 'short', metadata }, records)).toEqual({
      jobId: 'agent_1',
      output: 'short',
      metadata: { summary: 's' },
    });
    expect(await handedAround({ jobId: 'agent_1', output: 'short', metadata }, undefined)).toEqual({
      jobId: 'agent_1',
      output: 'short',
      metadata: { summary: 's' },
    });
    const long = await handedAround({ jobId: 'agent_1', output: 'x'.repeat(100_000), metadata }, records);
    expect(long.metadata).toEqual({ summary: 's', outputPath: '/kept/output.txt', outputBytes: 100_000 });
    expect(await handedAround({ jobId: 'agent_1', output: 'short' }, records)).toEqual({
      jobId: 'agent_1',
      output: 'short',
    });
  });
});
