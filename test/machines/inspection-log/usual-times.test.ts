/** How long steps and calls of an agent took before. */
import { expect, it } from 'vitest';
import { OpenTimes, UsualTimes } from '../../../src/machines/inspection-log/usual-times.ts';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { START_MS, asked, spanStarted, toolStarted } from '../../support/session-events.ts';

/** @param seconds from the beginning */
function at(seconds: number, draft: SessionEventDraft): SessionEvent {
  return { ...draft, at: new Date(START_MS + seconds * 1_000).toISOString() } as SessionEvent;
}

const ended = (callId: string, outcome: 'completed' | 'failed' = 'completed'): SessionEventDraft => ({
  type: 'agent.tool_result',
  data: { callId, name: 'shell_run', outcome, output: {} },
});

it('is the longest of one kind, known from the third one on, and without what failed', () => {
  const times = new UsualTimes();
  const open = new OpenTimes();
  const run = (id: string, seconds: number, outcome?: 'completed' | 'failed'): void => {
    open.see(at(0, asked(id, 's')), times);
    open.see(at(5, toolStarted(id)), times);
    open.see(at(5 + seconds, ended(id, outcome)), times);
  };
  run('a', 3);
  run('b', 12);
  run('c', 900, 'failed');
  open.see(at(0, asked('d', 's')), times);
  expect(open.kind).toBeUndefined();
  open.see(at(0, toolStarted('d')), times);
  const { kind = '' } = open;
  expect(times.of(kind)).toBeUndefined();
  run('e', 4);
  expect(times.of(kind)).toBe(12_000);
  open.see(at(0, ended('d')), times);
  open.see(at(0, spanStarted('s')), times);
  expect(times.of(open.kind ?? '')).toBeUndefined();
});
