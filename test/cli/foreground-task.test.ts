import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { openForeground } from '../../src/cli/task/foreground-task.ts';
import { temporaryHome } from '../support/temporary-home.ts';

describe('a command with an idle limit', () => {
  it('may run for ever as long as it writes something now and then', async () => {
    const home = await temporaryHome();
    const clock = createSimulatedClock();
    const heard = new EventEmitter();
    const { tasks } = openForeground({
      home: home.path,
      onOutput: () => void heard.emit('output'),
      onEnding: () => undefined,
      watchdogClock: clock,
    });
    try {
      const { id } = await tasks.spawn({
        kind: 'process',
        label: 'echo',
        command: 'cat',
        cwd: home.path,
        idleTimeoutMs: 1000,
      });
      const ended = tasks.wait(id).catch((error: unknown) => error);
      for (let line = 1; line <= 3; line += 1) {
        const output = once(heard, 'output');
        await tasks.send(id, { stdin: `${line}\n`, end: false });
        await output;
        await clock.advance(900);
        expect(tasks.get(id)?.status).toBe('running');
      }
      await clock.advance(101);
      expect(await ended).toMatchObject({ code: 'TASK_IDLE' });
    } finally {
      await tasks.shutdown();
      await home.remove();
    }
  });
});
