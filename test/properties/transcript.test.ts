/**
 * What every conversation keeps to, whatever happened to its session: random legal logs, and events in any order at
 * all.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import type { ProviderMessage } from '../../src/machines/turn/provider-message.ts';
import { TranscriptBuilder, assembleTranscript } from '../../src/machines/turn/transcript.ts';
import { costsOf } from '../../src/machines/turn/conversation-costs.ts';
import { boundTranscript } from '../../src/machines/turn/transcript-bounds.ts';
import { providerProblems, shapeProblems } from '../support/provider-rules.ts';
import { anyLog } from '../support/session-events.ts';
import { legalLog, lenientLog } from './transcript-logs.ts';
import type { AnsweredStep, LegalLog } from './transcript-logs.ts';

/** A session that nothing has been said in gives nothing to send. */
function problemsOf(messages: readonly ProviderMessage[]): string[] {
  return messages.length === 0 ? [] : [...shapeProblems(messages), ...providerProblems(messages)];
}

function expectSound(events: readonly SessionEvent[], builder = new TranscriptBuilder()): void {
  for (const event of events) {
    builder.ingest(event);
    expect(problemsOf(builder.messages())).toEqual([]);
    expect(problemsOf(builder.messages([]))).toEqual([]);
  }
}

/** Message after message, part by part: what a provider keeps in its cache. */
const flat = (messages: readonly ProviderMessage[]): string[] =>
  messages.flatMap(({ role, content }) => content.map((part) => `${role} ${JSON.stringify(part)}`));

/** Replays the log and holds every prefix against what the steps answered before it were given. */
function expectStable({ events, answered }: LegalLog): void {
  const builder = new TranscriptBuilder();
  const given = new Map<AnsweredStep, string[]>();
  for (const event of events) {
    for (const step of answered) if (step.startSeq === event.seq) given.set(step, flat(builder.messages(step.reading)));
    builder.ingest(event);
    if (event.type === 'context.compacted') given.clear();
    const now = flat(builder.messages());
    for (const [step, shown] of given)
      if (event.seq >= step.answeredSeq) expect(now.slice(0, shown.length)).toEqual(shown);
  }
}

describe('the conversation of a legal log', () => {
  it('is one that every provider takes, after each event', () => {
    fc.assert(
      fc.property(legalLog, ({ events }) => expectSound(events)),
      { numRuns: 50 },
    );
  });

  it('is one that every provider takes when events come where no wake would write them', () => {
    fc.assert(
      fc.property(lenientLog, ({ events }) => expectSound(events)),
      { numRuns: 75 },
    );
  });

  it('keeps what a step was given once it is answered, until a compaction', () => {
    fc.assert(
      fc.property(legalLog, (log) => expectStable(log)),
      { numRuns: 120 },
    );
  });

  it('is and costs the same whether a builder was asked at every step or only now, and what it gave before stays', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          legalLog.map(({ events }) => events),
          lenientLog.map(({ events }) => events),
          anyLog,
        ),
        (events) => {
          const builder = new TranscriptBuilder();
          const given: (readonly [rows: unknown, shown: string])[] = [];
          for (const event of events) {
            builder.ingest(event);
            const rows = builder.rows();
            given.push([rows, JSON.stringify(rows)]);
            const messages = builder.messages();
            const [kept, anew] = [costsOf(messages), costsOf(structuredClone(messages))];
            const half = messages.length >> 1;
            expect([kept.between(0, half), kept.between(half, messages.length), kept.starts]).toEqual([
              anew.between(0, half),
              anew.between(half, messages.length),
              anew.starts,
            ]);
          }
          for (const [rows, shown] of given) expect(JSON.stringify(rows)).toBe(shown);
          const fresh = new TranscriptBuilder();
          for (const event of events) fresh.ingest(event);
          expect(builder.rows()).toEqual(fresh.rows());
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is as sound when its oldest part is dropped now and then, and ends with the same words within a bound', () => {
    fc.assert(
      fc.property(
        legalLog,
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.boolean(), { minLength: 80, maxLength: 80 }),
        ({ events }, maxTokens, drops) => {
          const [dropping, whole] = [new TranscriptBuilder(), new TranscriptBuilder()];
          let openSpans = 0;
          for (const [index, event] of events.entries()) {
            dropping.ingest(event);
            whole.ingest(event);
            if (event.type === 'span.started') openSpans += 1;
            if (event.type === 'span.completed') openSpans = 0;
            if (drops[index % drops.length] === true && openSpans === 0) dropping.dropOldest(maxTokens);
            const [left, all] = [dropping.messages(), whole.messages()];
            expect(problemsOf(left)).toEqual([]);
            expect(flat(left).length).toBeLessThanOrEqual(flat(all).length + 1);
            const last = all.at(-1);
            if (last !== undefined) expect(left.at(-1)?.role).toBe(last.role);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('has every result in it once, in its place or told later', () => {
    fc.assert(
      fc.property(legalLog, ({ events }) => {
        const text = JSON.stringify(assembleTranscript(events.filter(({ type }) => type !== 'context.compacted')));
        for (const event of events) {
          const output =
            event.type === 'agent.tool_result' &&
            typeof event.data.output === 'string' &&
            event.data.output.startsWith('<output')
              ? event.data.output
              : undefined;
          if (output !== undefined) expect(text.split(output)).toHaveLength(2);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('is as sound when the builder begins in the middle of the log', () => {
    fc.assert(
      fc.property(legalLog, fc.nat(100), ({ events }, from) => {
        expectSound(events.slice(Math.min(from, events.length)), new TranscriptBuilder({ startsMidway: true }));
      }),
      { numRuns: 50 },
    );
  });

  it('is as sound within any bound', () => {
    fc.assert(
      fc.property(legalLog, fc.integer({ min: 1, max: 1_500 }), fc.nat(3), ({ events }, maxTokens, keepOutputs) => {
        const bounded = boundTranscript(assembleTranscript(events), { maxTokens, keepOutputs });
        if (bounded.kind === 'too_large') return;
        expect(bounded.tokens).toBeLessThanOrEqual(maxTokens);
        expect(problemsOf(bounded.messages)).toEqual([]);
      }),
      { numRuns: 120 },
    );
  });
});

describe('the conversation of any events at all', () => {
  it('is one that every provider takes, after each event', () => {
    fc.assert(
      fc.property(anyLog, (events) => expectSound(events)),
      { numRuns: 150 },
    );
  });

  it('is the same when events come twice', () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        expect(assembleTranscript(events.flatMap((event) => [event, event]))).toEqual(assembleTranscript(events));
      }),
    );
  });
});

describe('the random logs of this test', () => {
  it('hold all that they are meant to provoke', () => {
    const logs = fc.sample(legalLog, { numRuns: 200, seed: 1 });
    const types = new Set(logs.flatMap(({ events }) => events.map(({ type }) => type)));
    expect([...types]).toEqual(
      expect.arrayContaining([
        'agent.tool_result',
        'agent.thinking',
        'context.compacted',
        'event.unrecognized',
        'user.custom_tool_result',
        'session.child_idle',
        'permission.requested',
        'wake.queued',
      ]),
    );
    expect(logs.filter(({ answered }) => answered.length > 2).length).toBeGreaterThan(40);
    const texts = logs.map(({ events }) => JSON.stringify(assembleTranscript(events)));
    for (const words of [
      'came to its end only now',
      'is due',
      'interrupted',
      'Attached image',
      'Summary of',
      'Go on',
      '"unknown"',
      'custom tool',
    ])
      expect(texts.some((text) => text.includes(words))).toBe(true);
    expect(
      logs.some(({ events }) =>
        events.some((event) => event.type === 'session.created' && event.data.forkOf !== undefined),
      ),
    ).toBe(true);
  });
});
