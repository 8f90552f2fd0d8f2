/** The newest part of a conversation, read backwards, is the same as that of the whole. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadTranscript } from '../../../src/actors/wake/session-transcript.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { MAX_TRANSCRIPT_CHARACTERS } from '../../../src/machines/session/limits.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { boundTranscript } from '../../../src/machines/turn/transcript-bounds.ts';
import { assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import {
  IDENTITY,
  answered,
  asked,
  consumed,
  created,
  foldAll,
  idOf,
  message,
  newEvent,
  queued,
  resting,
  running,
  said,
  spanCompleted,
  spanStarted,
  toolStarted,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

interface Turn {
  readonly characters: number;
  readonly steps: readonly { readonly calls: number; readonly characters: number }[];
  readonly usesQueuedWake: boolean;
}

/** Found by the property below: a log that fits, of which a window by the size of its events read too little. */
const COUNTEREXAMPLE: Turn[] = [
  {
    characters: 1,
    steps: [
      { calls: 5, characters: 30000 },
      { calls: 5, characters: 500 },
      { calls: 4, characters: 1 },
    ],
    usesQueuedWake: false,
  },
  {
    characters: 1,
    steps: [
      { calls: 2, characters: 500 },
      { calls: 4, characters: 1 },
    ],
    usesQueuedWake: true,
  },
  {
    characters: 20000,
    steps: [
      { calls: 2, characters: 1 },
      { calls: 3, characters: 500 },
      { calls: 1, characters: 1 },
      { calls: 2, characters: 30000 },
    ],
    usesQueuedWake: true,
  },
  {
    characters: 1,
    steps: [
      { calls: 3, characters: 500 },
      { calls: 1, characters: 500 },
      { calls: 0, characters: 1 },
    ],
    usesQueuedWake: true,
  },
  {
    characters: 20000,
    steps: [
      { calls: 5, characters: 500 },
      { calls: 0, characters: 1 },
      { calls: 5, characters: 500 },
      { calls: 3, characters: 500 },
    ],
    usesQueuedWake: true,
  },
  {
    characters: 1,
    steps: [
      { calls: 2, characters: 500 },
      { calls: 3, characters: 30000 },
    ],
    usesQueuedWake: false,
  },
  { characters: 1, steps: [{ calls: 1, characters: 30000 }], usesQueuedWake: true },
];

const turn: fc.Arbitrary<Turn> = fc.record({
  characters: fc.constantFrom(1, 500, 20_000),
  steps: fc.array(fc.record({ calls: fc.integer({ min: 0, max: 5 }), characters: fc.constantFrom(1, 500, 30_000) }), {
    minLength: 1,
    maxLength: 4,
  }),
  usesQueuedWake: fc.boolean(),
});

/** A log as wakes write it, one wake for each turn; the last one may be cut off in the middle. */
function logOfTurns(turns: readonly Turn[], cut: number): SessionEventDraft[] {
  const drafts: SessionEventDraft[] = [created];
  for (const [index, { characters, steps, usesQueuedWake }] of turns.entries()) {
    drafts.push(message(`message ${index} ${'m'.repeat(characters)}`));
    const messageId = idOf(drafts.length);
    if (usesQueuedWake) drafts.push(queued(`queued_${index}`));
    drafts.push(wakeStarted(index + 1, `wake_${index + 1}`, usesQueuedWake ? [`queued_${index}`] : []), running);
    for (const [number, step] of steps.entries()) {
      const span = `span_${index}_${number}`;
      const calls = Array.from({ length: step.calls }, (_, call) => `call_${index}_${number}_${call}`);
      drafts.push(spanStarted(span));
      if (number === 0) drafts.push(consumed([messageId], span));
      drafts.push(
        said(`step ${number} of ${index}`, span),
        ...calls.map((call) => asked(call, span)),
        spanCompleted(span),
      );
      for (const call of calls) drafts.push(toolStarted(call), answered(call, 'r'.repeat(step.characters)));
    }
    drafts.push(wakeEnded(`wake_${index + 1}`, 'sleep', usesQueuedWake ? [`queued_${index}`] : []), resting);
  }
  return drafts.slice(0, drafts.length - Math.min(cut, drafts.length - 1));
}

async function storeOf(drafts: readonly SessionEventDraft[]): Promise<{
  readonly store: MemoryEventStore;
  readonly state: SessionState;
  readonly whole: readonly ProviderMessage[];
}> {
  const store = new MemoryEventStore();
  const [first = created, ...rest] = drafts;
  await store.create(IDENTITY, [newEvent(1, first), ...rest.map((draft, index) => newEvent(index + 2, draft))]);
  const events = [];
  for (let from = 1; from <= drafts.length; from += 1_000)
    events.push(...(await store.read(IDENTITY.sessionId, { from })));
  return { store, state: foldAll(events), whole: assembleTranscript(events) };
}

/** As many as the characters that the window is made for, at four to a token. */
const bounds = { maxTokens: MAX_TRANSCRIPT_CHARACTERS / 4 };

function bounded(messages: readonly ProviderMessage[]): readonly ProviderMessage[] {
  const fitting = boundTranscript(messages, bounds);
  if (fitting.kind !== 'fits') throw new Error(`does not fit: ${fitting.tokens} tokens`);
  return fitting.messages;
}
/** Without the note about what is left out, which counts only what was read. */
const withoutNote = (messages: readonly ProviderMessage[]): ProviderMessage[] =>
  messages
    .map(
      ({ role, content }) =>
        ({
          role,
          content: (content as unknown as { text?: string }[]).filter(
            ({ text }) => text?.includes('earlier messages are left out') !== true,
          ),
        }) as unknown as ProviderMessage,
    )
    .filter(({ content }) => content.length > 0);

/** Every call has exactly one result, in the message after it. */
function expectPaired(messages: readonly ProviderMessage[]): void {
  for (const [index, current] of messages.entries()) {
    const calls =
      current.role === 'assistant'
        ? current.content.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []))
        : [];
    const next = messages[index + 1];
    expect(next?.role === 'tool' ? next.content.map(({ callId }) => callId) : []).toEqual(calls);
  }
}

describe('the transcript of a long session', () => {
  it('is the same as that of the whole log within the bound, wherever the log is cut off', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 40 }), fc.nat(30), async (turns, cut) => {
        const { store, state, whole } = await storeOf(logOfTurns(turns, cut));
        const loaded = bounded((await loadTranscript(store, state)).messages());
        expectPaired(loaded);
        expect(withoutNote(loaded)).toEqual(withoutNote(bounded(whole)));
      }),
      { numRuns: 60, examples: [[COUNTEREXAMPLE, 0]] },
    );
  });

  it('holds the message that has to be answered, and the call that waits, however far back they lie', async () => {
    const old: SessionEventDraft[] = [
      created,
      message('the oldest question'),
      wakeStarted(1),
      running,
      spanStarted('old'),
      asked('waits', 'old'),
      spanCompleted('old'),
    ];
    const noise = Array.from({ length: 900 }, (): SessionEventDraft => ({
      type: 'agent.thinking',
      data: { text: 't'.repeat(2_000), spanId: 'old' },
    }));
    const { store, state } = await storeOf([...old, ...noise]);
    const text = JSON.stringify((await loadTranscript(store, state)).messages());
    expect(text).toContain('the oldest question');
    expect(text).toContain('"callId":"waits"');
  });

  it('reads only as much of the log as a model could take', async () => {
    const { store, state } = await storeOf(
      logOfTurns(
        Array.from({ length: 800 }, () => ({
          characters: 20_000,
          steps: [{ calls: 1, characters: 500 }],
          usesQueuedWake: false,
        })),
        0,
      ),
    );
    const { counting, count } = countingReads(store);
    await loadTranscript(counting, state);
    expect(count()).toBeLessThan(state.head / 4);
  });

  it('begins with the summary, and reads no further back than what it stands for', async () => {
    const turns = Array.from({ length: 900 }, () => ({
      characters: 1,
      steps: [{ calls: 1, characters: 1 }],
      usesQueuedWake: false,
    }));
    const log = logOfTurns(turns, 0);
    const through = log.length;
    const after: SessionEventDraft[] = [
      summarized(through),
      message('and now'),
      spanStarted('now'),
      consumed([idOf(through + 2)], 'now'),
      said('Now this.', 'now'),
    ];
    const { store, state, whole } = await storeOf([...log, ...after]);
    const { counting, count } = countingReads(store);
    const builder = await loadTranscript(counting, state);
    expect(builder.messages()).toEqual(whole);
    expect(builder.head).toBe(state.head);
    expect(builder.messages()).toHaveLength(5);
    expect(count()).toBeLessThanOrEqual(256);
  });

  it('is the same as that of the whole log wherever a summary stands between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(smallTurn, { minLength: 1, maxLength: 60 }),
        fc.nat(59),
        fc.nat(60),
        async (turns, at, delay) => {
          const log = logOfTurns(turns, 0);
          // Where a wake had ended, and stored some time later, as a wake between two steps does.
          const ends = log.flatMap((draft, index) => (draft.type === 'wake.ended' ? [index + 1] : []));
          const through = ends[at % ends.length] ?? 1;
          const place = log.findIndex((draft, index) => index >= through + delay && draft.type === 'wake.ended');
          const drafts = place === -1 ? [...log, summarized(through)] : spliced(log, place + 1, summarized(through));
          const { store, state, whole } = await storeOf(drafts);
          expect((await loadTranscript(store, state)).messages()).toEqual(whole);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('holds a message that was sent before what is summarized and read after it', async () => {
    const noise = Array.from({ length: 600 }, (): SessionEventDraft => ({
      type: 'learning.captured',
      data: { learningId: 'l', kind: 'lesson', title: 't', detail: 'd', promoteToMemory: false },
    }));
    const log: SessionEventDraft[] = [created, message('sent early'), queued('q'), ...noise];
    const after: SessionEventDraft[] = [
      summarized(log.length),
      wakeStarted(1, 'w', ['q']),
      spanStarted('a'),
      consumed([idOf(2)], 'a'),
      said('Read.', 'a'),
      wakeEnded('w', 'sleep', ['q']),
      ...noise.slice(0, 300),
    ];
    const { store, state, whole } = await storeOf([...log, ...after]);
    const messages = (await loadTranscript(store, state)).messages();
    expect(messages).toEqual(whole);
    expect(JSON.stringify(messages)).toMatch(/is due: check again.*sent early/u);
  });

  it('begins with the summary even when more was said since than a model could take', async () => {
    const turns = Array.from({ length: 200 }, () => ({
      characters: 20_000,
      steps: [{ calls: 1, characters: 500 }],
      usesQueuedWake: false,
    }));
    const old: SessionEventDraft[] = [
      created,
      message('old'),
      spanStarted('o'),
      consumed([idOf(2)], 'o'),
      said('Older.', 'o'),
    ];
    const log = [...old, summarized(5), ...logOfTurns(turns, 0).slice(1)];
    const { store, state, whole } = await storeOf(
      log.map((draft, index) =>
        draft.type === 'message.consumed' && index > 5 ? consumed([idOf(index - 3)], draft.data.spanId) : draft,
      ),
    );
    const { counting, count } = countingReads(store);
    const messages = (await loadTranscript(counting, state)).messages();
    expect(messages[0]?.content[0]).toMatchObject({ summarizesThroughSeq: 5 });
    expect(messages.length).toBeLessThan(whole.length);
    expect(messages.slice(1)).toEqual(whole.slice(1 - messages.length));
    expect(count()).toBeLessThanOrEqual(state.head);
  });
});

const smallTurn: fc.Arbitrary<Turn> = fc.record({
  characters: fc.constantFrom(1, 50),
  steps: fc.array(fc.record({ calls: fc.integer({ min: 0, max: 3 }), characters: fc.constantFrom(1, 50) }), {
    minLength: 1,
    maxLength: 3,
  }),
  usesQueuedWake: fc.boolean(),
});

function summarized(throughSeq: number): SessionEventDraft {
  return { type: 'context.compacted', data: { throughSeq, summary: 'What was.', tokensBefore: 9, tokensAfter: 1 } };
}

/** The log with one draft more at `place`; ids that later drafts name move with their drafts. */
function spliced(log: readonly SessionEventDraft[], place: number, draft: SessionEventDraft): SessionEventDraft[] {
  const moved = log.slice(place).map((each, index) =>
    each.type === 'message.consumed'
      ? consumed(
          each.data.eventIds.map((id) => movedId(id, { place, upTo: place + index })),
          each.data.spanId,
        )
      : each,
  );
  return [...log.slice(0, place), draft, ...moved];
}

function movedId(id: string, { place, upTo }: { readonly place: number; readonly upTo: number }): string {
  const at = Array.from({ length: upTo + 1 }, (_, index) => index + 1).find((seq) => idOf(seq) === id) ?? 0;
  return at > place ? idOf(at + 1) : id;
}

function countingReads(store: MemoryEventStore): { readonly counting: MemoryEventStore; readonly count: () => number } {
  let read = 0;
  const counting = Object.assign(Object.create(store) as MemoryEventStore, {
    read: async (...parameters: Parameters<MemoryEventStore['read']>) => {
      const events = await store.read(...parameters);
      read += events.length;
      return events;
    },
  });
  return { counting, count: () => read };
}
