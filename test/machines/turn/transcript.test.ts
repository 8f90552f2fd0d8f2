import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { TranscriptBuilder, UNKNOWN_RESULT, assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { boundTranscript } from '../../../src/machines/turn/transcript-bounds.ts';
import {
  anyLog,
  answered,
  asked,
  consumed,
  created,
  directed,
  eventAt,
  idOf,
  logOf,
  message,
  queued,
  running,
  said,
  spanStarted,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const transcript = (...drafts: readonly SessionEventDraft[]): readonly ProviderMessage[] =>
  assembleTranscript(logOf(...drafts));
const user = (...texts: string[]): ProviderMessage => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
});

describe('a transcript', () => {
  it('is the same built event by event and at once, and checking it changes nothing', () => {
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
        const texts = transcript(...drafts).flatMap((shown) =>
          shown.role === 'user' ? shown.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
        );
        expect(texts.filter((text) => text !== '(The conversation begins here.)')).toEqual(
          steps.flatMap((isStep, index) => (isStep ? [] : [`m${index}`])),
        );
      }),
    );
  });

  it('puts a message where it was read, not where it arrived', () => {
    const log = [
      message('first'),
      message('while it spoke'),
      consumed([idOf(1)], 'a'),
      said('to the first', 'a'),
      consumed([idOf(2)], 'b'),
      said('to the second', 'b'),
    ];
    expect(
      transcript(...log).map(({ role, content }) => [
        role,
        content.map((part) => ('text' in part ? part.text : part.type)),
      ]),
    ).toEqual([
      ['user', ['first']],
      ['assistant', ['to the first']],
      ['user', ['while it spoke']],
      ['assistant', ['to the second']],
    ]);
  });

  it('gives results in the order of the calls, however they came', () => {
    const [, , tool] = transcript(
      message('go'),
      consumed([idOf(1)], 'a'),
      asked('c1', 'a'),
      asked('c2', 'a'),
      answered('c2', 'two'),
      answered('c1', 'one'),
    );
    expect(tool).toMatchObject({
      role: 'tool',
      content: [
        { callId: 'c1', output: 'one' },
        { callId: 'c2', output: 'two' },
      ],
    });
  });

  it('gives a call without a result one that says so', () => {
    expect(transcript(asked('c1', 'a'), asked('c2', 'a'), answered('c1', 'one')).at(-1)).toMatchObject({
      content: [
        { callId: 'c1', outcome: 'completed' },
        { callId: 'c2', outcome: 'unknown', output: UNKNOWN_RESULT },
      ],
    });
  });

  it('keeps the first of two results', () => {
    expect(transcript(asked('c', 'a'), answered('c', 'first'), answered('c', 'second')).at(-1)).toMatchObject({
      content: [{ output: 'first' }],
    });
  });

  it('keeps what was thought, said and asked in one step together', () => {
    const drafts: SessionEventDraft[] = [
      { type: 'agent.thinking', data: { text: 'hm', spanId: 'a' } },
      said('I check.', 'a'),
      asked('c', 'a'),
      answered('c'),
    ];
    expect(transcript(...drafts)[1]).toMatchObject({
      role: 'assistant',
      content: [{ type: 'reasoning' }, { type: 'text' }, { type: 'tool_call' }],
    });
  });

  it('asks the model to go on after it said that it would', () => {
    expect(transcript(said('More to do.', 'a'), directed('continue', 'a')).at(-1)).toMatchObject({
      role: 'user',
      content: [{ text: expect.stringContaining('Go on') as string }],
    });
  });

  it('tells the model which of its wakes is due', () => {
    const log = [queued('q'), created, wakeStarted(1, 'w', ['q', 'unknown']), running];
    expect(transcript(...log)).toEqual([user('A wake that you queued is due: check again')]);
  });

  it('tells of a due wake after the results that a dead wake left open', () => {
    const log = [queued('q'), asked('c', 'a'), wakeStarted(1, 'w', ['q']), answered('c', 'late')];
    expect(transcript(...log).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(transcript(...log)[2]).toMatchObject({ content: [{ output: 'late' }] });
  });

  it('tells what a custom tool answered, and what was wrong with a directive', () => {
    expect(
      transcript({ type: 'user.custom_tool_result', data: { requestId: 'r', toolName: 'ask', output: { yes: true } } }),
    ).toEqual([user('Result of the custom tool "ask" (request r): {"yes":true}')]);
    expect(
      transcript({ type: 'directive.rejected', data: { reason: 'no summary', received: '{}', spanId: 'a' } }),
    ).toEqual([user('Your directive was not understood and counted as sleep: no summary')]);
  });

  it('is not touched by how wakes end', () => {
    expect(transcript(created, message('x'), wakeStarted(1), running, wakeEnded('wake_1', 'failed'))).toEqual([
      user('x'),
    ]);
  });
});

/** The messages as [role, what each part says]. */
const outline = (messages: readonly ProviderMessage[]): unknown[] =>
  messages.map(({ role, content }) => [
    role,
    content.map((part) => ('text' in part && part.text !== undefined ? part.text : part.type)),
  ]);
const compacted = (throughSeq: number, summary = 'What was.'): SessionEventDraft => ({
  type: 'context.compacted',
  data: { throughSeq, summary, tokensBefore: 9, tokensAfter: 1 },
});
const SUMMARY = expect.stringMatching(/^\[Summary of the conversation[^\n]*\]\nWhat was\.$/u) as string;

describe('a transcript that every provider takes', () => {
  it('begins with a user message, whoever spoke first', () => {
    expect(outline(transcript(said('Hello.', 'a')))).toEqual([
      ['user', ['(The conversation begins here.)']],
      ['assistant', ['Hello.']],
    ]);
    expect(transcript()).toEqual([]);
  });

  it('holds no blank text, no white space at the end of what was said, and no lone surrogate', () => {
    const log = [
      message(' \n'),
      consumed([idOf(1)], 'a'),
      said(' ', 'a'),
      said('Done. \n', 'a'),
      message('cut \ud83d'),
    ];
    expect(outline(transcript(...log))).toEqual([
      ['user', ['(The message is blank.)']],
      ['assistant', ['Done.']],
      ['user', ['cut \uFFFD']],
    ]);
    const [, , tool] = transcript(asked('c', 'a'), {
      type: 'agent.tool_result',
      data: { callId: 'c', name: 'shell_run', outcome: 'completed', output: { '\udfff': '\\udfff \ud83d' } },
    });
    expect(tool).toMatchObject({ content: [{ output: { '\uFFFD': '\\udfff \uFFFD' } }] });
    expect(transcript(asked('c', 'a'), answered('c', ' '))[2]).toMatchObject({
      content: [{ output: '(The tool returned nothing.)' }],
    });
  });

  it('leaves out a step that only thought', () => {
    const thought: SessionEventDraft = { type: 'agent.thinking', data: { text: 'hm', spanId: 'a' } };
    expect(transcript(message('one'), consumed([idOf(1)], 'a'), thought, message('two'))).toEqual([user('one', 'two')]);
  });

  it('gives calls ids, names and inputs that are taken, the same in call and result', () => {
    const uuid = 'call_0199a0b0-1234-7abc-8def-012345678901';
    const call = (callId: string, name: string, input: unknown): SessionEventDraft => ({
      type: 'agent.tool_use',
      data: { callId, name, input, spanId: 'a' },
    });
    const [, assistant, tool] = transcript(
      call('ä b', '', 'text'),
      call('_ä_b', 'rm -rf/', [1]),
      call('c', 'é'.repeat(99), null),
      call(uuid, 'x', { a: 1 }),
      answered(uuid),
    );
    const calls = [
      { callId: '__b', name: 'unnamed', input: { input: 'text' } },
      { callId: '___b', name: 'rm_-rf_', input: { input: [1] } },
      { callId: 'c', name: '_'.repeat(64), input: { input: null } },
      { callId: 'call_0199a0b012347abc8def012345678901', name: 'x', input: { a: 1 } },
    ];
    expect(assistant?.content).toMatchObject(calls);
    expect(tool?.content).toMatchObject(calls.map(({ callId, name }) => ({ callId, name })));
  });

  it('gives an id that comes again in a later step another one, with its own result', () => {
    const log = transcript(
      asked('c', 'a'),
      answered('c', 'one'),
      asked('c', 'b'),
      answered('c', 'two'),
      asked('c_2', 'b'),
    );
    expect(log.flatMap((shown) => (shown.role === 'tool' ? shown.content : []))).toMatchObject([
      { callId: 'c', output: 'one' },
      { callId: 'c_2', output: 'two' },
      { callId: 'c_2_2', outcome: 'unknown' },
    ]);
  });

  it('names an attachment and describes it for those who cannot see it', () => {
    const attachment = {
      kind: 'image' as const,
      name: 'a "b".png',
      mediaType: 'image/png',
      bytes: 1,
      sha256: 'a'.repeat(64),
      path: 'in/a.png',
    };
    expect(
      transcript({ type: 'user.message', data: { text: 'Check.', delivery: 'queue', attachments: [attachment] } }),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Check.' },
          {
            type: 'text',
            text: '[Attached image "a \\"b\\".png" (image/png, 1 byte); in the workspace it is "in/a.png"]',
          },
          {
            type: 'file',
            mediaType: 'image/png',
            name: 'a "b".png',
            path: 'in/a.png',
            bytes: 1,
            sha256: 'a'.repeat(64),
          },
        ],
      },
    ]);
  });
});

describe('what a step was given', () => {
  it('does not change when a result comes after it began: that is told later', () => {
    const log = [asked('c', 'a'), spanStarted('b'), answered('c', 'late'), said('Without it.', 'b')];
    const given = transcript(...log.slice(0, 1));
    expect(transcript(...log).slice(0, given.length)).toEqual(given);
    expect(transcript(...log).at(-1)).toEqual(
      user('The call c of shell_run came to its end only now (completed): late'),
    );
  });

  it('is followed by what it said, not by what the runtime noted meanwhile', () => {
    const log = [
      message('go'),
      spanStarted('a'),
      wakeEnded('w', 'interrupted'),
      consumed([idOf(1)], 'a'),
      said('Going', 'a'),
    ];
    expect(outline(transcript(...log))).toEqual([
      ['user', ['go']],
      ['assistant', ['Going']],
      ['user', [expect.stringContaining('interrupted')]],
    ]);
  });

  it('tells of a due wake once while it is tried, and again when the model has spoken since', () => {
    const due = [queued('q'), wakeStarted(1, 'w1', ['q']), spanStarted('a'), wakeStarted(2, 'w2', ['q'])];
    expect(transcript(...due)).toEqual([user('A wake that you queued is due: check again')]);
    expect(transcript(...due, spanStarted('b'), said('Checking.', 'b'), wakeStarted(3, 'w3', ['q'])).at(-1)).toEqual(
      user('A wake that you queued is due: check again'),
    );
  });
});

describe('a compacted transcript', () => {
  it('has one marked summary in place of everything up to there, and what came after', () => {
    const log = [
      message('one'),
      consumed([idOf(1)], 'a'),
      said('First.', 'a'),
      message('two'),
      consumed([idOf(4)], 'b'),
      said('Second.', 'b'),
      spanStarted('c'),
    ];
    expect(outline(transcript(...log, compacted(3)))).toEqual([
      ['user', [SUMMARY, 'two']],
      ['assistant', ['Second.']],
    ]);
    expect(transcript(...log, compacted(3))[0]?.content[0]).toMatchObject({ summarizesThroughSeq: 3 });
    expect(outline(transcript(...log, compacted(3), compacted(6)))).toEqual([['user', [SUMMARY]]]);
  });

  it('keeps what was unread then: messages, notes, and results that no step has seen', () => {
    const log = [
      message('unread'),
      asked('c', 'a'),
      compacted(2),
      answered('c', 'fresh'),
      wakeEnded('w', 'interrupted'),
    ];
    expect(outline(transcript(...log))).toEqual([
      ['user', [SUMMARY]],
      ['assistant', ['tool_call']],
      ['tool', ['tool_result']],
      ['user', [expect.stringContaining('interrupted'), 'unread']],
    ]);
  });

  it('goes by the newest summary, and by none that is blank or reaches less far', () => {
    const log = [message('one'), consumed([idOf(1)], 'a'), said('First.', 'a'), spanStarted('b')];
    const once = transcript(...log, compacted(4));
    expect(transcript(...log, compacted(4), compacted(1, 'older'), compacted(5, ' '))).toEqual(once);
  });

  it('says how far each message is settled', () => {
    const builder = new TranscriptBuilder();
    for (const event of logOf(
      message('one'),
      spanStarted('a'),
      consumed([idOf(1)], 'a'),
      said('First.', 'a'),
      message('two'),
      spanStarted('b'),
      consumed([idOf(5)], 'b'),
      said('Second.', 'b'),
    ))
      builder.ingest(event);
    expect(builder.rows().map(({ settledSeq }) => settledSeq)).toEqual([3, 4, 7, undefined]);
    expect(builder.head).toBe(8);
    builder.ingest(eventAt(9, compacted(4)));
    expect(builder.rows().map(({ settledSeq }) => settledSeq)).toEqual([7, undefined]);
    expect(builder.compactedThroughSeq).toBe(4);
  });

  it('is not settled by a step that writes a summary', () => {
    const log = [
      asked('c', 'a'),
      { ...spanStarted('sum'), data: { ...spanStarted('sum').data, kind: 'compaction' } } as SessionEventDraft,
      answered('c', 'in its place'),
    ];
    expect(transcript(...log).at(-1)).toMatchObject({ role: 'tool', content: [{ output: 'in its place' }] });
  });
});

describe('a result that answers a call', () => {
  it('is not shown as a message too, before the call has it', () => {
    const log: SessionEventDraft[] = [
      asked('c', 'a'),
      { type: 'agent.custom_tool_use', data: { requestId: 'r', name: 'ask', input: {}, callId: 'c' } },
      { type: 'user.custom_tool_result', data: { requestId: 'r', toolName: 'ask', output: 'yes' } },
    ];
    expect(transcript(...log).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });
});

describe('a conversation whose oldest part is dropped', () => {
  const MAX_TOKENS = 1_000;
  /** One message, and a long turn of calls upon it. */
  function longTurn(steps: number): TranscriptBuilder {
    const drafts = [
      created,
      message('TASK: mend it all.'),
      ...Array.from({ length: steps }, (_, index) => index).flatMap((index) => {
        const [spanId, callId] = [`s${index}`, `c${index}`];
        const read = index === 0 ? [consumed([idOf(2)], spanId)] : [];
        return [
          spanStarted(spanId),
          ...read,
          said('words '.repeat(40), spanId),
          asked(callId, spanId),
          answered(callId),
        ];
      }),
    ];
    const builder = new TranscriptBuilder();
    for (const event of logOf(...drafts)) builder.ingest(event);
    return builder;
  }

  it('still says what was asked for, when all that is left is the work on it', () => {
    const builder = longTurn(100);
    const before = builder.messages().length;
    builder.dropOldest(MAX_TOKENS);
    const left = builder.messages();
    expect(left.length).toBeLessThan(before / 2);
    expect(JSON.stringify(left[0])).toContain('TASK: mend it all.');
    const bounded = boundTranscript(left, { maxTokens: MAX_TOKENS });
    expect(bounded.kind === 'fits' && JSON.stringify(bounded.messages)).toContain('TASK: mend it all.');
  });

  it('still says it when it is dropped again, and stays as it is while it is short', () => {
    const builder = longTurn(100);
    for (let round = 0; round < 3; round += 1) builder.dropOldest(MAX_TOKENS / (round + 1));
    expect(JSON.stringify(builder.messages())).toContain('TASK: mend it all.');
    const short = longTurn(3);
    const before = short.messages();
    short.dropOldest(MAX_TOKENS);
    expect(short.messages()).toEqual(before);
  });
});
