import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { IdleLine } from '../../../src/actors/task/idle-line.ts';
import type { LineMember } from '../../../src/actors/task/idle-line.ts';

const LIMIT_MS = 100;

describe('tasks that wait in one line for their idle deadlines', () => {
  it('are due at their own times, also when another one joins while one of them falls due', async () => {
    const clock = createSimulatedClock();
    const line = new IdleLine(LIMIT_MS, clock);
    const startMs = clock.steadyNow();
    const due: [string, number][] = [];
    const member = (name: string, whenDue: () => void = () => undefined): LineMember => ({
      joinedAtMs: 0,
      isInLine: false,
      lineBefore: undefined,
      lineAfter: undefined,
      due: () => {
        due.push([name, clock.steadyNow() - startMs]);
        whenDue();
      },
    });
    const third = member('third');
    line.join(
      member('first', () => line.join(third, clock.steadyNow())),
      clock.steadyNow(),
    );
    await clock.advance(10);
    line.join(member('second'), clock.steadyNow());
    await clock.advance(300);
    expect(due).toEqual([
      ['first', 100],
      ['second', 110],
      ['third', 200],
    ]);
  });
});
