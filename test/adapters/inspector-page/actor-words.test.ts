/** What the page says of an actor: what it is called, how long it took, how it ended. */
import { describe, expect, it } from 'vitest';
import { actorName, wholeName } from '../../../src/adapters/inspector-page/model/actor-names.ts';
import { badExit } from '../../../src/adapters/inspector-page/model/outcomes.ts';
import { spanOf, waitedMs } from '../../../src/adapters/inspector-page/model/spans.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';

const KEY = 'b:1';

describe('the name of an actor', () => {
  it.each([
    ['wake', 'ingress', 'wake for a message'],
    ['wake', 'wake', 'wake that was queued'],
    ['wake', 'retry', 'wake after a failure'],
    ['wake', 'manual', 'wake by command'],
    ['wake', 'constructor', 'wake constructor'],
    ['toolCall', 'git commit --all', 'git commit --all'],
  ])('of a %s labelled %s is %s', (kind, label, name) => {
    expect(actorName({ id: 'x', kind, facts: { label } })).toBe(name);
  });

  it('is bounded, and as long as there is space', () => {
    const call = { id: 'call_1', key: KEY, kind: 'toolCall', facts: { label: 'a'.repeat(100), name: 'shell_run' } };
    expect(actorName(call).length).toBeLessThan(100);
    expect(actorName(call, 200)).toBe(call.facts.label);
    expect(wholeName(call)).toContain(`${call.facts.label}\ntoolCall\ncall_1`);
  });
});

describe('how a command ended', () => {
  it.each([
    [undefined, undefined],
    [{ exitCode: '0' }, undefined],
    [{ exitCode: '1' }, 'exit 1'],
  ])('%j: %s', (facts, text) => {
    expect(badExit(facts)).toBe(text);
  });
});

describe('how long an actor took', () => {
  const told = (t: number, value: string, status: 'active' | 'done' = 'active'): InspectionRecord => ({
    s: t,
    t,
    a: KEY,
    ...(t === 1 ? { k: 'actor', id: KEY } : { k: 'step', type: 'E', taken: ['x'] }),
    value,
    status,
  });
  const timeline = new InspectionTimeline();
  timeline.append([
    told(1, 'queued'),
    told(101, 'working'),
    told(201, 'awaiting_permission'),
    told(1_201, 'awaiting_permission'),
    told(1_901, 'working'),
    told(2_301, 'completed', 'done'),
  ]);
  const at = (seq: number) => timeline.at(seq).actor(KEY)!;

  it('is from the first of it to its end, and how long it has been in its state while it lives', () => {
    expect(spanOf(at(2_301), 99_000)).toBe('2.3 s');
    expect(spanOf(at(1_201), 3_201)).toBe('3.0 s');
  });

  it('says how much of it was waiting: for a turn, and for a person', () => {
    expect(waitedMs(timeline.sequence(KEY), at(2_301).since)).toBe(1_800);
    expect(waitedMs(timeline.sequence(KEY), { s: 1_500, t: 1_500 })).toBe(1_399);
  });
});
