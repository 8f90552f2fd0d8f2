import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_WORKING_BUFFER_BYTES, renderSessionState, renderWorkingBuffer } from '../../../src/machines/session/continuity.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { utf8Length } from '../../../src/machines/utf8.ts';
import { SESSION_ID, anyLog, answered, asked, consumed, created, foldAll, idOf, logOf, message, queued, said, wakeEnded, wakeStarted } from '../../support/session-events.ts';

const buffer = (...drafts: readonly SessionEventDraft[]): string => {
  const events = logOf(...drafts);
  return renderWorkingBuffer(foldAll(events), events);
};
const state = (...drafts: readonly SessionEventDraft[]): string => renderSessionState(foldAll(logOf(...drafts)));

describe('the state of a session in words', () => {
  it('says what it is and where it stands', () => {
    const text = state(created, message('hello'), wakeStarted(1), wakeEnded('wake_1', 'failed'));
    expect(text).toContain(`# Session ${SESSION_ID}`);
    expect(text).toContain('- Status: idle (idle)');
    expect(text).toContain('- Log: 4 events, epoch 1');
    expect(text).toContain('- So far: 1 message, 1 wake, 0 model steps');
    expect(text).toContain('- Last wake: wake_1, epoch 1, ended');
  });

  it('says what it waits for, and until when', () => {
    const text = state(created, message('hello'), queued('later', '2026-02-01T00:00:00.000Z'), queued('sooner', '2026-01-02T00:00:00.000Z'));
    expect(text).toContain(`## Waiting to be read\n\n- user.message ${idOf(2)} (event 2)`);
    expect(text.indexOf('- 2026-01-02T00:00:00.000Z, normal: look again')).toBeLessThan(text.indexOf('- 2026-02-01T00:00:00.000Z, normal: look again'));
  });

  it('leaves out what there is none of', () => {
    expect(state(created)).not.toContain('## ');
  });
});

describe('the working buffer', () => {
  it('tells the newest exchanges in order, with what came of each tool call', () => {
    const text = buffer(created, message('do it'), consumed([idOf(2)], 's'), said('on it', 's'), asked('call_1', 's'), answered('call_1', 'first line\nsecond line'), message('and this'));
    const order = ['## User, event 2\n\n> do it', '## Agent, event 4\n\n> on it', '- Tool call shell_run (call_1)', '- Result of shell_run (call_1), completed: first line second line', '## User, event 7, not read yet\n\n> and this'];
    expect(order.map((part) => text.indexOf(part))).toEqual(order.map((part) => text.indexOf(part)).toSorted((one, other) => one - other));
    for (const part of order) expect(text).toContain(part);
  });

  it('goes back as far as twenty messages', () => {
    const text = buffer(created, ...Array.from({ length: 30 }, (_, n) => message(`number ${n}.`)));
    expect(text).toContain('> number 29.');
    expect(text).toContain('> number 10.');
    expect(text).not.toContain('> number 9.');
  });

  it('cuts long messages and drops the oldest, never more than its bound', () => {
    const text = buffer(created, ...Array.from({ length: 20 }, (_, n) => message(`${n} ${'ü😀\n'.repeat(2_000)}`)));
    expect(utf8Length(text)).toBeLessThanOrEqual(MAX_WORKING_BUFFER_BYTES);
    expect(text).toContain('> 19 ');
    expect(text).toContain('more characters)');
    expect(text).not.toContain('\uFFFD');
  });

  it('lets nothing that somebody wrote pass for a heading', () => {
    expect(buffer(created, message('x\n## User, event 99'))).toContain('> x\n> ## User, event 99');
    expect(buffer(created, asked('call_1', 's', 'a\n## b'))).toContain('- Tool call a ## b (call_1)');
  });

  it('is there for any log, and the same for the same one', () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const text = renderWorkingBuffer(foldAll(events), events);
        expect(utf8Length(text)).toBeLessThanOrEqual(MAX_WORKING_BUFFER_BYTES);
        expect(renderWorkingBuffer(foldAll(events), events)).toBe(text);
        expect(renderSessionState(foldAll(events))).toContain(SESSION_ID);
      }),
    );
  });
});
