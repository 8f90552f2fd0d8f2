import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { TranscriptBuilder, UNKNOWN_RESULT, assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { anyLog, answered, asked, consumed, created, directed, idOf, logOf, message, queued, running, said, wakeEnded, wakeStarted } from '../../support/session-events.ts';

const transcript = (...drafts: readonly SessionEventDraft[]): ProviderMessage[] => assembleTranscript(logOf(...drafts));
const user = (...texts: string[]): ProviderMessage => ({ role: 'user', content: texts.map((text) => ({ type: 'text', text })) });

/** What every provider asks for. */
function expectWellFormed(messages: readonly ProviderMessage[]): void {
  for (const [index, current] of messages.entries()) {
    const next = messages[index + 1];
    if (current.role === 'assistant') {
      const calls = current.content.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
      expect(new Set(calls).size).toBe(calls.length);
      expect(next?.role === 'tool' ? next.content.map(({ callId }) => callId) : []).toEqual(calls);
    }
    if (current.role === 'tool') expect(messages[index - 1]?.role).toBe('assistant');
    if (current.role === 'user') expect(next?.role).not.toBe('user');
    expect(current.content.length).toBeGreaterThan(0);
  }
}

describe('a transcript', () => {
  it('follows each tool call at once with exactly one result, for every prefix of every log', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const builder = new TranscriptBuilder();
        expectWellFormed(builder.messages());
        for (const event of log) {
          builder.ingest(event);
          expectWellFormed(builder.messages());
        }
      }),
    );
  });

  it('is the same built event by event and at once, and looking at it changes nothing', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const builder = new TranscriptBuilder();
        for (const event of log) {
          builder.messages();
          builder.ingest(event);
        }
        expect(builder.messages()).toEqual(assembleTranscript(log));
      }),
    );
  });

  it('shows no message twice and loses none', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 20 }), (steps) => {
        const drafts: SessionEventDraft[] = [];
        const waiting: string[] = [];
        for (const [index, isStep] of steps.entries()) {
          if (isStep) {
            drafts.push(consumed(waiting.splice(0), `s${index}`));
            drafts.push(said('reply', `s${index}`));
          } else {
            drafts.push(message(`m${index}`));
            waiting.push(idOf(drafts.length));
          }
        }
        const texts = transcript(...drafts).flatMap((shown) => (shown.role === 'user' ? shown.content.map(({ text }) => text) : []));
        expect(texts).toEqual(steps.flatMap((isStep, index) => (isStep ? [] : [`m${index}`])));
      }),
    );
  });

  it('puts a message where it was read, not where it arrived', () => {
    const log = [message('first'), message('while it spoke'), consumed([idOf(1)], 'a'), said('to the first', 'a'), consumed([idOf(2)], 'b'), said('to the second', 'b')];
    expect(transcript(...log).map(({ role, content }) => [role, content.map((part) => ('text' in part ? part.text : part.type))])).toEqual([
      ['user', ['first']],
      ['assistant', ['to the first']],
      ['user', ['while it spoke']],
      ['assistant', ['to the second']],
    ]);
  });

  it('gives results in the order of the calls, however they came', () => {
    const [, , tool] = transcript(message('go'), consumed([idOf(1)], 'a'), asked('c1', 'a'), asked('c2', 'a'), answered('c2', 'two'), answered('c1', 'one'));
    expect(tool).toMatchObject({ role: 'tool', content: [{ callId: 'c1', output: 'one' }, { callId: 'c2', output: 'two' }] });
  });

  it('gives a call without a result one that says so', () => {
    expect(transcript(asked('c1', 'a'), asked('c2', 'a'), answered('c1', 'one')).at(-1)).toMatchObject({
      content: [{ callId: 'c1', outcome: 'completed' }, { callId: 'c2', outcome: 'unknown', output: UNKNOWN_RESULT }],
    });
  });

  it('keeps the first of two results', () => {
    expect(transcript(asked('c', 'a'), answered('c', 'first'), answered('c', 'second')).at(-1)).toMatchObject({ content: [{ output: 'first' }] });
  });

  it('keeps what was thought, said and asked in one step together', () => {
    const drafts: SessionEventDraft[] = [{ type: 'agent.thinking', data: { text: 'hm', spanId: 'a' } }, said('I look.', 'a'), asked('c', 'a'), answered('c')];
    expect(transcript(...drafts)[0]).toMatchObject({ role: 'assistant', content: [{ type: 'reasoning' }, { type: 'text' }, { type: 'tool_call' }] });
  });

  it('asks the model to go on after it said that it would', () => {
    expect(transcript(said('More to do.', 'a'), directed('continue', 'a')).at(-1)).toMatchObject({ role: 'user', content: [{ text: expect.stringContaining('Go on') as string }] });
  });

  it('tells the model which of its wakes is due', () => {
    const log = [queued('q'), created, wakeStarted(1, 'w', ['q', 'unknown']), running];
    expect(transcript(...log)).toEqual([user('A wake that you queued is due: look again')]);
  });

  it('tells of a due wake after the results that a dead wake left open', () => {
    const log = [queued('q'), asked('c', 'a'), wakeStarted(1, 'w', ['q']), answered('c', 'late')];
    expect(transcript(...log).map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    expect(transcript(...log)[1]).toMatchObject({ content: [{ output: 'late' }] });
  });

  it('tells what a custom tool answered, and what was wrong with a directive', () => {
    expect(transcript({ type: 'user.custom_tool_result', data: { requestId: 'r', toolName: 'ask', output: { yes: true } } })).toEqual([user('Result of the custom tool "ask" (request r): {"yes":true}')]);
    expect(transcript({ type: 'directive.rejected', data: { reason: 'no summary', received: '{}', spanId: 'a' } })).toEqual([user('Your directive was not understood and counted as sleep: no summary')]);
  });

  it('is not touched by how wakes end', () => {
    expect(transcript(created, message('x'), wakeStarted(1), running, wakeEnded('wake_1', 'failed'))).toEqual([user('x')]);
  });
});
