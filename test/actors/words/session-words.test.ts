/** Words as a program reads them: `for await (const word of runtime.words(id))`. */
import { describe, expect, it } from 'vitest';
import type { SessionWord } from '../../../src/machines/words/session-word.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';
import { SPEAKER, speakingBackend } from '../../support/speaking-backend.ts';
import type { SpeakingBackend } from '../../support/speaking-backend.ts';

interface Stage extends AsyncDisposable {
  readonly setup: SessionSetup;
  readonly backend: SpeakingBackend;
  readonly session: string;
  words(signal?: AbortSignal): AsyncIterator<SessionWord>;
}

async function open(options: Parameters<typeof openSetup>[0] = {}): Promise<Stage> {
  const backend = speakingBackend();
  const setup = await openSetup({ runtimes: [backend.runtime], ...options });
  const session = await setup.session([], { message: 'Tell me.', agent: SPEAKER });
  return {
    setup,
    backend,
    session,
    words: (signal) => setup.runtime.words(session, { signal })[Symbol.asyncIterator](),
    [Symbol.asyncDispose]: () => setup.close(),
  };
}

const said = (text: string): SessionWord => ({ type: 'said', kind: 'text', text });

async function take(words: AsyncIterator<SessionWord>): Promise<SessionWord | undefined> {
  const result = await words.next();
  return result.done === true ? undefined : result.value;
}

describe('the words of a session', () => {
  it('come as the model says them, and end with the place in the log that has them', async () => {
    await using stage = await open();
    const { setup, backend, session } = stage;
    const words = stage.words();
    const waking = setup.runtime.wake(session);
    const voice = await backend.voice();
    voice.think('Hm. ');
    expect(await take(words)).toEqual({ type: 'said', kind: 'reasoning', text: 'Hm. ' });
    voice.say('Once ');
    voice.say('upon');
    expect(await take(words)).toEqual(said('Once upon'));
    const { head } = await setup.runtime.sessions.status(session);
    backend.end();
    expect(await take(words)).toEqual({ type: 'logged', after: head });
    await waking;
    expect((await setup.log(session)).find(({ type }) => type === 'agent.message')?.seq).toBeGreaterThan(head);
  });

  it('begin with what was said of the step so far', async () => {
    await using stage = await open();
    const waking = stage.setup.runtime.wake(stage.session);
    const voice = await stage.backend.voice();
    voice.say('Once ');
    const words = stage.words();
    expect(await take(words)).toEqual(said('Once '));
    voice.say('upon');
    expect(await take(words)).toEqual(said('upon'));
    await words.return?.();
    expect(await take(words)).toBeUndefined();
    stage.backend.end();
    await waking;
    expect(await take(stage.words(AbortSignal.abort()))).toBeUndefined();
  });

  it('end when they are returned, aborted, or the runtime is shut down', async () => {
    const stage = await open();
    const abort = new AbortController();
    const endings = [stage.words(), stage.words(abort.signal), stage.words()].map((words) => {
      const next = words.next();
      return { words, next };
    });
    await endings[0]?.words.return?.();
    expect(await endings[0]?.next).toMatchObject({ done: true });
    abort.abort();
    expect(await endings[1]?.next).toMatchObject({ done: true });
    await stage.setup.runtime.shutdown();
    expect(await endings[2]?.next).toMatchObject({ done: true });
    expect(await take(stage.words())).toBeUndefined();
    await stage.setup.close();
  });

  it('are refused of a session that is not there', async () => {
    await using stage = await open();
    const words = stage.setup.runtime.words('01890000-0000-7000-8000-000000000000')[Symbol.asyncIterator]();
    await expect(words.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await take(words)).toBeUndefined();
  });

  it('are dropped for a reader that is slower than the model, which is told', async () => {
    await using stage = await open();
    const words = stage.words();
    const waking = stage.setup.runtime.wake(stage.session);
    const voice = await stage.backend.voice();
    for (let count = 0; count < 100; count += 1) voice.say('x'.repeat(1_000));
    voice.say('the end');
    expect(await take(words)).toEqual({ type: 'lost' });
    expect(await take(words)).toMatchObject({ type: 'said', text: expect.stringMatching(/x{100}the end$/) });
    stage.backend.end();
    await waking;
    expect(await take(words)).toMatchObject({ type: 'logged' });
  });

  it('hold no directive, which is no word for people', async () => {
    await using stage = await open();
    const words = stage.words();
    const waking = stage.setup.runtime.wake(stage.session);
    const voice = await stage.backend.voice();
    const text = 'Use `x`.\n  `y`\n```wakechart-directive\n{ "outcome": "sleep", "summary": "Done." }\n```\n';
    for (const character of text) voice.say(character);
    stage.backend.end();
    await waking;
    let told = '';
    for (let word = await take(words); word?.type === 'said'; word = await take(words)) told += word.text;
    expect(told).toBe('Use `x`.\n  `y`\n');
  });
});
