import { afterEach, describe, expect, it } from 'vitest';
import type { SessionEvent, SessionEventOf, SessionEventType } from '../../../src/machines/session/session-event.ts';
import type { AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { SUMMARY_INSTRUCTIONS } from '../../../src/machines/turn/compaction.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

let setup: SessionSetup;
let id: string;

afterEach(() => setup.close());

const words = (count: number): string => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

/** Says little, and sums up in as many words as it is told to. */
const speaker = (summary: string): AgentRuntime => ({
  id: 'speaker',
  run: async ({ instructions }) => ({
    payloads: [{ type: 'text', text: instructions === SUMMARY_INSTRUCTIONS ? summary : 'Noted.' }],
    meta: { modelSteps: 1 },
  }),
  abort: async () => undefined,
  isRunActive: () => false,
});

async function open(summary: string, whenFull: 'omit' | 'summarize'): Promise<void> {
  setup = await openSetup({ runtimes: [speaker(summary)] });
  id = await setup.session([], { agent: { provider: 'speaker', tools: [], context: { maxTokens: 4_000, whenFull } } });
}

async function exchange(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    await setup.runtime.sessions.send(id, { type: 'user.message', text: `Message ${done}: ${words(120)}` });
    await setup.runtime.wake(id);
  }
}

async function eventsOf<Type extends SessionEventType>(type: Type): Promise<SessionEventOf<Type>[]> {
  const events: SessionEvent[] = [];
  for await (const event of setup.runtime.sessions.events(id)) events.push(event);
  // Events of this type are what their type says, which the compiler cannot follow through a filter.
  return events.filter((event) => event.type === type) as unknown as SessionEventOf<Type>[];
}

describe('a conversation that has grown too long', () => {
  it('is summarized by the model, once, when its agent wants that; from then on the summary stands for what came before', async () => {
    await open('Noted.', 'summarize');
    await exchange(12);
    const compacted = await eventsOf('context.compacted');
    expect(compacted.length).toBeGreaterThan(0);
    for (const { data } of compacted) expect(data).toMatchObject({ summary: 'Noted.' });
    for (const { data } of compacted) expect(data.tokensAfter).toBeLessThan(data.tokensBefore * 0.7);
    const spans = await eventsOf('span.started');
    const first = spans.findIndex(({ data }) => data.kind === 'compaction');
    const after = spans.slice(first + 1).find(({ data }) => data.kind === 'model_step');
    expect(after?.data.contextTokens).toBeLessThan(spans[first - 1]?.data.contextTokens ?? 0);
    expect(spans.every(({ data }) => (data.contextTokens ?? 0) <= 4_000)).toBe(true);
    expect((await setup.runtime.sessions.get(id)).compactedThroughSeq).toBe(compacted.at(-1)?.data.throughSeq);
    // The log keeps it all.
    expect(await eventsOf('user.message')).toHaveLength(12);
  });

  it('is not summarized again and again when the summary is no shorter; what does not fit is left out then', async () => {
    await open(words(2_000), 'summarize');
    await exchange(10);
    expect(await eventsOf('context.compacted')).toEqual([]);
    const tries = (await eventsOf('span.completed')).filter(({ data }) => data.kind === 'compaction');
    expect(tries.length).toBeGreaterThan(0);
    expect(tries.length).toBeLessThan(5);
    for (const { data } of tries)
      expect(data).toMatchObject({
        outcome: 'failed',
        error: { message: expect.stringContaining('was not kept') as string },
      });
    expect((await eventsOf('span.started')).some(({ data }) => (data.omittedMessages ?? 0) > 0)).toBe(true);
    expect(await setup.runtime.sessions.get(id)).toMatchObject({ status: 'idle', pending: [] });
  });

  it('is cut without asking a model unless its agent wants a summary', async () => {
    await open('Noted.', 'omit');
    await exchange(12);
    expect((await eventsOf('span.started')).filter(({ data }) => data.kind === 'compaction')).toEqual([]);
    expect((await eventsOf('span.started')).at(-1)?.data.omittedMessages).toBeGreaterThan(0);
  });

  it('shows a message that alone is too long cut in the middle, and the log says so', async () => {
    await open('Noted.', 'omit');
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'x' });
    await setup.runtime.wake(id);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: words(20_000) });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    const [whole, cut] = await eventsOf('span.started');
    expect(cut?.data.contextTokens).toBeLessThanOrEqual(4_000);
    expect(cut?.data.shortenedMessages).toBe(1);
    expect(whole?.data).not.toHaveProperty('shortenedMessages');
  });
});
