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
import { IDENTITY, answered, asked, consumed, created, foldAll, idOf, message, newEvent, queued, resting, running, said, spanCompleted, spanStarted, toolStarted, wakeEnded, wakeStarted } from '../../support/session-events.ts';

interface Turn {
  readonly characters: number;
  readonly steps: readonly { readonly calls: number; readonly characters: number }[];
  readonly usesQueuedWake: boolean;
}

/** Found by the property below: a log that fits, of which a window by the size of its events read too little. */
const COUNTEREXAMPLE: Turn[] = [
  { characters: 1, steps: [{ calls: 5, characters: 30000 }, { calls: 5, characters: 500 }, { calls: 4, characters: 1 }], usesQueuedWake: false },
  { characters: 1, steps: [{ calls: 2, characters: 500 }, { calls: 4, characters: 1 }], usesQueuedWake: true },
  { characters: 20000, steps: [{ calls: 2, characters: 1 }, { calls: 3, characters: 500 }, { calls: 1, characters: 1 }, { calls: 2, characters: 30000 }], usesQueuedWake: true },
  { characters: 1, steps: [{ calls: 3, characters: 500 }, { calls: 1, characters: 500 }, { calls: 0, characters: 1 }], usesQueuedWake: true },
  { characters: 20000, steps: [{ calls: 5, characters: 500 }, { calls: 0, characters: 1 }, { calls: 5, characters: 500 }, { calls: 3, characters: 500 }], usesQueuedWake: true },
  { characters: 1, steps: [{ calls: 2, characters: 500 }, { calls: 3, characters: 30000 }], usesQueuedWake: false },
  { characters: 1, steps: [{ calls: 1, characters: 30000 }], usesQueuedWake: true },
];

const turn: fc.Arbitrary<Turn> = fc.record({
  characters: fc.constantFrom(1, 500, 20_000),
  steps: fc.array(fc.record({ calls: fc.integer({ min: 0, max: 5 }), characters: fc.constantFrom(1, 500, 30_000) }), { minLength: 1, maxLength: 4 }),
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
      drafts.push(said(`step ${number} of ${index}`, span), ...calls.map((call) => asked(call, span)), spanCompleted(span));
      for (const call of calls) drafts.push(toolStarted(call), answered(call, 'r'.repeat(step.characters)));
    }
    drafts.push(wakeEnded(`wake_${index + 1}`, 'sleep', usesQueuedWake ? [`queued_${index}`] : []), resting);
  }
  return drafts.slice(0, drafts.length - Math.min(cut, drafts.length - 1));
}

async function storeOf(drafts: readonly SessionEventDraft[]): Promise<{ readonly store: MemoryEventStore; readonly state: SessionState; readonly whole: readonly ProviderMessage[] }> {
  const store = new MemoryEventStore();
  const [first = created, ...rest] = drafts;
  await store.create(IDENTITY, [newEvent(1, first), ...rest.map((draft, index) => newEvent(index + 2, draft))]);
  const events = [];
  for (let from = 1; from <= drafts.length; from += 1_000) events.push(...(await store.read(IDENTITY.sessionId, { from })));
  return { store, state: foldAll(events), whole: assembleTranscript(events) };
}

const bounds = { maxCharacters: MAX_TRANSCRIPT_CHARACTERS };
/** Without the note about what is left out, which counts only what was read. */
const withoutNote = (messages: readonly ProviderMessage[]): ProviderMessage[] =>
  messages.map(({ role, content }) => ({ role, content: (content as unknown as { text?: string }[]).filter(({ text }) => text?.includes('earlier messages are left out') !== true) }) as unknown as ProviderMessage).filter(({ content }) => content.length > 0);

/** Every call has exactly one result, in the message after it. */
function expectPaired(messages: readonly ProviderMessage[]): void {
  for (const [index, current] of messages.entries()) {
    const calls = current.role === 'assistant' ? current.content.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : [])) : [];
    const next = messages[index + 1];
    expect(next?.role === 'tool' ? next.content.map(({ callId }) => callId) : []).toEqual(calls);
  }
}

describe('the transcript of a long session', () => {
  it('is the same as that of the whole log within the bound, wherever the log is cut off', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 40 }), fc.nat(30), async (turns, cut) => {
        const { store, state, whole } = await storeOf(logOfTurns(turns, cut));
        const loaded = boundTranscript((await loadTranscript(store, state)).messages(), bounds);
        expectPaired(loaded);
        expect(withoutNote(loaded)).toEqual(withoutNote(boundTranscript(whole, bounds)));
      }),
      { numRuns: 60, examples: [[COUNTEREXAMPLE, 0]] },
    );
  });

  it('holds the message that has to be answered, and the call that waits, however far back they lie', async () => {
    const old: SessionEventDraft[] = [created, message('the oldest question'), wakeStarted(1), running, spanStarted('old'), asked('waits', 'old'), spanCompleted('old')];
    const noise = Array.from({ length: 900 }, (): SessionEventDraft => ({ type: 'agent.thinking', data: { text: 't'.repeat(2_000), spanId: 'old' } }));
    const { store, state } = await storeOf([...old, ...noise]);
    const text = JSON.stringify((await loadTranscript(store, state)).messages());
    expect(text).toContain('the oldest question');
    expect(text).toContain('"callId":"waits"');
  });

  it('reads only as much of the log as a model could take', async () => {
    const { store, state } = await storeOf(logOfTurns(Array.from({ length: 800 }, () => ({ characters: 20_000, steps: [{ calls: 1, characters: 500 }], usesQueuedWake: false })), 0));
    let read = 0;
    const counting = Object.assign(Object.create(store) as MemoryEventStore, {
      read: async (...parameters: Parameters<MemoryEventStore['read']>) => {
        const events = await store.read(...parameters);
        read += events.length;
        return events;
      },
    });
    await loadTranscript(counting, state);
    expect(read).toBeLessThan(state.head / 4);
  });
});
