import { describe, expect, it } from 'vitest';
import { fireRequestOf } from '../../../src/machines/schedule/fire-request.ts';
import { backgroundTaskRequest } from '../../../src/machines/task/task-request.ts';
import type { ScheduledTaskRequest } from '../../../src/machines/task/task-request.ts';

const slot = '2026-01-01T00:05:00.000Z';
const scheduled = (changes: object): ScheduledTaskRequest =>
  backgroundTaskRequest.parse({
    kind: 'scheduled',
    label: 'nightly',
    cwd: '/',
    cronExpression: '@daily',
    ...changes,
  }) as ScheduledTaskRequest;
const fire = (changes: object): unknown => fireRequestOf(scheduled(changes), { scheduleId: 'backup', slot });

describe('the fire of a schedule', () => {
  it('with a command is a process with the settings of the schedule', () => {
    const changes = {
      command: 'make',
      shell: '/bin/bash',
      env: { A: '1' },
      outputLimitBytes: 9,
      timeoutMs: 7,
      depth: 1,
      priority: 3,
      parentSessionId: 's',
      mode: 'foreground',
    };
    expect(fire(changes)).toEqual({
      kind: 'process',
      label: `nightly @ ${slot}`,
      cwd: '/',
      metadata: { scheduleId: 'backup', slot },
      ...changes,
    });
  });

  it('with an instruction is an agent, of the type that is asked for or the default one', () => {
    expect(fire({ agentInstruction: 'Tidy up.', agentType: 'cleaner' })).toMatchObject({
      kind: 'agent',
      agentType: 'cleaner',
      prompt: 'Tidy up.',
    });
    expect(fire({ agentInstruction: 'Tidy up.' })).toMatchObject({ kind: 'agent', agentType: 'default' });
  });

  it('is a request that the task manager accepts', () => {
    expect(backgroundTaskRequest.safeParse(fire({ command: 'make' })).success).toBe(true);
    expect(backgroundTaskRequest.safeParse(fire({ agentInstruction: 'Tidy up.', idleTimeoutMs: 5 })).success).toBe(
      true,
    );
  });

  it('keeps the metadata of the schedule beside its own', () => {
    expect(fire({ command: 'make', metadata: { origin: 'cli', slot: 'mine' } })).toMatchObject({
      metadata: { origin: 'cli', scheduleId: 'backup', slot },
    });
  });
});
