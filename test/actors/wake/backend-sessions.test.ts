/**
 * Backends with sessions of their own: what they are given to go on with, when they begin anew and why, and messages
 * that reach a turn.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentRunParams, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { answered, ends, openBackendSetup, requests } from '../../support/backend-setup.ts';
import type { BackendSetup, BackendSetupOptions } from '../../support/backend-setup.ts';
import { providerProblems, shapeProblems } from '../../support/provider-rules.ts';
import { until } from '../../support/session-setup.ts';
import { fails, says, toldRuntime } from '../../support/told-runtime.ts';
import type { Act } from '../../support/told-runtime.ts';

let open: BackendSetup;
afterEach(() => open.setup[Symbol.asyncDispose]());

const stage = async (acts: readonly Act[], options?: BackendSetupOptions): Promise<void> => {
  open = await openBackendSetup(acts, options);
};
const wake = () => open.setup.runtime.wake(open.id);
const send = (text: string, delivery?: 'queue' | 'steer') =>
  open.setup.runtime.sessions.send(open.id, { type: 'user.message', text }, delivery === undefined ? {} : { delivery });
const turn = async (text: string) => {
  await send(text);
  return wake();
};
const bound = () => open.setup.dataOf(open.id, 'backend.session_bound');
const textsOf = (messages: readonly ProviderMessage[] | undefined): string[] =>
  (messages ?? []).flatMap(({ content }) => content.flatMap((part) => ('text' in part ? [part.text] : [])));
const given = ({ resume, messages }: AgentRunParams) => ({
  resumes: resume?.sessionId,
  generation: resume?.generation,
  told: textsOf(resume?.newMessages ?? messages),
});

const inSession =
  (text: string, sessionId = 'thread', more: { readonly reseeded?: string } = {}): Act =>
  () => ({ payloads: [{ type: 'text', text }], meta: { modelSteps: 1, sessionId, ...more } });

describe('the next turn of a backend that has a session', () => {
  it('is given what came since, under the same generation', async () => {
    await stage([inSession('One.'), inSession('Two.', 'thread-2'), inSession('Three.')]);
    await wake();
    await turn('And now?');
    await turn('And then?');
    expect(open.backend.asked.map(given)).toEqual([
      { resumes: undefined, generation: undefined, told: ['Go'] },
      { resumes: 'thread', generation: 1, told: ['And now?'] },
      { resumes: 'thread-2', generation: 1, told: ['And then?'] },
    ]);
    expect((await bound()).map(({ generation, reseeded }) => [generation, reseeded])).toEqual([
      [1, undefined],
      [1, undefined],
      [1, undefined],
    ]);
  });

  it('begins a new generation when the backend says that the session was gone', async () => {
    await stage([inSession('One.'), inSession('Two.', 'new', { reseeded: 'No conversation found.' })]);
    await wake();
    await turn('And now?');
    expect((await bound()).at(-1)).toMatchObject({
      generation: 2,
      sessionId: 'new',
      reseeded: 'No conversation found.',
    });
  });

  it.each([
    ['', 'empty'],
    ['x'.repeat(1_001), 'too long'],
    ['a\ud800b', 'not to be stored'],
  ])(
    'begins anew after an id that the log does not take, and the turn that was paid for counts: %#',
    async (sessionId) => {
      await stage([inSession('One.', sessionId), inSession('Two.', 'thread', { reseeded: 'r'.repeat(2_000_000) })]);
      expect(await wake()).toMatchObject({ outcome: 'sleep' });
      expect(await bound()).toEqual([]);
      await turn('And now?');
      expect(given(open.backend.asked[1] as AgentRunParams)).toEqual({
        resumes: undefined,
        generation: undefined,
        told: ['Go', 'One.', 'And now?'],
      });
      expect((await bound()).map(({ generation, reseeded }) => [generation, reseeded?.length])).toEqual([[1, 500]]);
    },
  );

  it('is given all of the conversation, in a new generation, when the session expires before it has said a word', async () => {
    await stage([inSession('One.'), fails('session_expired'), inSession('Two.', 'new')]);
    await wake();
    await turn('And now?');
    expect(given(open.backend.asked[2] as AgentRunParams)).toMatchObject({
      resumes: undefined,
      told: ['Go', 'One.', 'And now?'],
    });
    expect((await bound()).at(-1)).toMatchObject({ generation: 2, reseeded: 'The session of the backend was gone.' });
  });

  it('does not go on where a turn has failed', async () => {
    await stage([inSession('One.'), fails('server_error'), inSession('Two.', 'new')]);
    await wake();
    expect(await turn('And now?')).toMatchObject({ outcome: 'failed' });
    await wake();
    expect(given(open.backend.asked[2] as AgentRunParams)).toMatchObject({
      resumes: undefined,
      told: ['Go', 'One.', 'And now?'],
    });
    expect((await bound()).at(-1)).toMatchObject({
      generation: 2,
      reseeded: expect.stringContaining('had not seen all') as string,
    });
  });

  it('does not go on where another backend has answered since', async () => {
    const other = toldRuntime('other', [says('From the other.')]);
    await stage([inSession('One.'), fails('billing'), inSession('Three.', 'new')], {
      others: [other],
      agent: { fallbacks: [{ provider: 'other', model: 'm' }] },
    });
    await wake();
    await turn('And now?');
    await turn('And then?');
    expect(given(open.backend.asked[2] as AgentRunParams)).toMatchObject({
      resumes: undefined,
      told: ['Go', 'One.', 'And now?', 'From the other.', 'And then?'],
    });
    expect((await bound()).map(({ generation }) => generation)).toEqual([1, 2]);
  });

  it('goes on after a person has cut it short, from what it had said by then', async () => {
    const cut: Act = ({ abortSignal }, tell) =>
      new Promise((resolve) => {
        tell({ stream: 'assistant', data: { kind: 'text', text: 'Half' } });
        abortSignal?.addEventListener(
          'abort',
          () =>
            resolve({
              payloads: [{ type: 'text', text: 'Half' }],
              meta: { sessionId: 'thread', error: { kind: 'aborted', message: 'stopped' } },
            }),
          { once: true },
        );
      });
    await stage([inSession('One.'), cut, inSession('Three.')]);
    await wake();
    await send('And now?');
    const waking = wake();
    await until(() => open.backend.asked.length === 2);
    await open.setup.runtime.sessions.interrupt(open.id);
    expect(await waking).toMatchObject({ outcome: 'interrupted' });
    await turn('Go on');
    expect(open.backend.asked.map(given)[2]).toMatchObject({ resumes: 'thread', generation: 1 });
    expect(open.backend.asked.map(given)[2]?.told.at(-1)).toBe('Go on');
  });

  it('goes on with the session of the account that it belongs to, and with no other', async () => {
    const profiles = [
      { id: 'one', provider: 'told' },
      { id: 'two', provider: 'told' },
    ];
    await stage([inSession('One.', 'of one'), fails('auth'), inSession('Two.', 'of two')], {
      profiles: {
        list: async () => profiles,
        credential: async (profileId) => ({ profileId }),
        add: async () => undefined,
        remove: async () => false,
      },
      agent: { profiles: ['one', 'two'] },
    });
    await wake();
    await turn('And now?');
    expect(open.backend.asked.map(({ credential, resume }) => [credential?.profileId, resume?.sessionId])).toEqual([
      ['one', undefined],
      ['one', 'of one'],
      ['two', undefined],
    ]);
    expect((await bound()).at(-1)).toMatchObject({
      profile: 'two',
      generation: 2,
      reseeded: 'The session before belongs to another account.',
    });
  });

  it('is begun anew where the conversation was too long for it', async () => {
    await stage([
      inSession('One. '.repeat(50)),
      inSession('Two. '.repeat(50)),
      fails('context_overflow'),
      inSession('Three.', 'new'),
    ]);
    await wake();
    await turn('And now?');
    await turn('And then?');
    expect(open.backend.asked.map(({ resume }) => resume?.sessionId)).toEqual([
      undefined,
      'thread',
      'thread',
      undefined,
    ]);
    expect((await bound()).at(-1)).toMatchObject({
      generation: 2,
      reseeded: 'The session of the backend holds what was too much to read.',
    });
    expect(await open.setup.dataOf(open.id, 'run.context_reduced')).toHaveLength(1);
  });
});

describe('a message for a turn that runs', () => {
  /** Takes what it is given, when it is ready to; runs until told to end. */
  function taker({ isReady = () => true }: { readonly isReady?: (text: string) => boolean } = {}) {
    const took: string[] = [];
    const offered: string[] = [];
    let finish = (_text: string): void => undefined;
    let tellMore = (_text: string): void => undefined;
    const act: Act = ({ abortSignal }, tell) => {
      tellMore = (text) => tell({ stream: 'assistant', data: { kind: 'text', text } });
      return new Promise((resolve) => {
        finish = (text) => resolve(answered(text));
        abortSignal?.addEventListener('abort', () => finish('Stopped.'), { once: true });
      });
    };
    const traits: Partial<AgentRuntime> = {
      queueMessage: async (_runId, text) => {
        offered.push(text);
        if (!isReady(text)) return false;
        took.push(text);
        return true;
      },
    };
    return {
      act,
      traits,
      took,
      offered,
      finish: (text = 'Done.') => finish(text),
      says: (text: string) => tellMore(text),
    };
  }

  const running = async (): Promise<{ readonly waking: ReturnType<typeof wake> }> => {
    const waking = wake();
    await until(() => open.backend.asked.length === 1);
    return { waking };
  };

  it('reaches it once, in the order in which they came, and is read with the step', async () => {
    const backend = taker();
    await stage([backend.act], { traits: backend.traits });
    const { waking } = await running();
    await Promise.all([send('first', 'steer'), send('second', 'steer')]);
    await until(() => backend.took.length === 2);
    backend.finish();
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 1 });
    expect([backend.took, backend.offered]).toEqual([
      ['first', 'second'],
      ['first', 'second'],
    ]);
    expect(await open.setup.state(open.id)).toMatchObject({ pending: [] });
    expect((await open.setup.dataOf(open.id, 'message.consumed')).map(({ eventIds }) => eventIds.length)).toEqual([3]);
  });

  it('that is not taken keeps those after it waiting, and is read by the next step', async () => {
    const backend = taker({ isReady: (text) => text !== 'first' });
    await stage([backend.act, says('I have read it.')], { traits: backend.traits });
    const { waking } = await running();
    await send('first', 'steer');
    await send('second', 'steer');
    await until(() => backend.offered.length > 1);
    backend.finish();
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 2 });
    expect(backend.took).toEqual([]);
    expect(textsOf(open.backend.asked[1]?.messages).slice(-1)).toEqual(['second']);
    expect(await open.setup.state(open.id)).toMatchObject({ pending: [] });
  });

  it('that came before the backend was ready is offered again when it says something', async () => {
    let isReady = false;
    const backend = taker({ isReady: () => isReady });
    await stage([backend.act], { traits: backend.traits });
    const { waking } = await running();
    await send('early', 'steer');
    await until(() => backend.offered.length > 0);
    isReady = true;
    backend.says('I begin.');
    await until(() => backend.took.length === 1);
    backend.finish();
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 1 });
    expect(backend.took).toEqual(['early']);
  });

  it('waits for the next step where it is to be queued', async () => {
    const backend = taker();
    await stage([backend.act, says('Second.')], { traits: backend.traits });
    const { waking } = await running();
    await send('later', 'queue');
    backend.finish();
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 2 });
    expect(backend.offered).toEqual([]);
  });

  it('is not lost when the turn that took it fails', async () => {
    const backend = taker();
    const dies: Act = async (params, tell) => {
      await backend.act(params, tell);
      return { payloads: [], meta: { error: { kind: 'server_error', message: 'died' } } };
    };
    await stage([dies, says('I have read it.')], { traits: backend.traits });
    const { waking } = await running();
    await send('take this', 'steer');
    await until(() => backend.took.length === 1);
    backend.finish();
    expect(await waking).toMatchObject({ outcome: 'failed' });
    expect((await open.setup.state(open.id)).pending).toHaveLength(2);
    expect(await wake()).toMatchObject({ outcome: 'sleep' });
    expect(textsOf(open.backend.asked[1]?.messages)).toEqual(['Go', 'take this']);
  });

  it('does not hold the session when the backend never says whether it has taken it', async () => {
    const backend = taker();
    await stage([backend.act, says('Read now.')], { traits: { queueMessage: () => new Promise(() => undefined) } });
    const { waking } = await running();
    await send('take this', 'steer');
    await open.setup.clock.advance(1);
    backend.finish();
    let outcome: unknown;
    void waking.then((value) => {
      outcome = value;
    });
    await until(async () => {
      await open.setup.clock.advance(1_000);
      return outcome !== undefined;
    });
    expect(outcome).toMatchObject({ outcome: 'sleep', modelSteps: 2 });
  });

  it('that one attempt took is not counted as read by another', async () => {
    let take = (_isTaken: boolean): void => undefined;
    let fail = (): void => undefined;
    const first: Act = () =>
      new Promise(
        (resolve) => (fail = () => resolve({ payloads: [], meta: { error: { kind: 'billing', message: 'no' } } })),
      );
    const other = toldRuntime('other', [says('From the other.')], { runs: 'turn', queueMessage: async () => false });
    await stage([first, says('Read.')], {
      others: [other],
      agent: { fallbacks: [{ provider: 'other', model: 'm' }] },
      traits: { queueMessage: () => new Promise((resolve) => (take = resolve)) },
    });
    const { waking } = await running();
    await send('take this', 'steer');
    await until(async () => (await open.setup.state(open.id)).pending.length === 2);
    await new Promise((resolve) => setImmediate(resolve));
    fail();
    await until(() => other.asked.length === 1);
    take(true);
    await waking;
    const read = (await open.setup.dataOf(open.id, 'message.consumed')).flatMap(({ eventIds }) => eventIds);
    expect(textsOf(other.asked[0]?.messages)).toEqual(['Go']);
    expect(new Set(read).size).toBe(read.length);
    expect(other.asked.length + open.backend.asked.length).toBeGreaterThan(2);
  });
});

describe('the conversation after turns of a backend', () => {
  it('holds its tools and their results in order, as every provider takes it', async () => {
    const backend: Act = (_params, tell) => {
      requests(tell, '1', 'Read', { path: 'a' });
      ends(tell, '1', 'one');
      return answered('Done.');
    };
    await stage([backend, says('Two.')]);
    await wake();
    await turn('And now?');
    const { messages = [] } = open.backend.asked[1] ?? {};
    expect([...providerProblems(messages), ...shapeProblems(messages)]).toEqual([]);
    expect(
      messages.flatMap(({ content }) =>
        content.flatMap((part) => (part.type === 'tool_call' || part.type === 'tool_result' ? [part.type] : [])),
      ),
    ).toEqual(['tool_call', 'tool_result']);
  });
});
