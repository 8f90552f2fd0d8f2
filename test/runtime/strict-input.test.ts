/** What a program gives and is not known is refused with its name, and with what was probably meant. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgentRuntime, defineAgent } from '../../src/index.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let home: TemporaryHome;
let runtime: NodeRuntime;
let sessionId: string;
let say: Parameters<typeof createAgentRuntime>[0]['answer'];

beforeEach(async () => {
  home = await temporaryHome();
  say = async (_params, voice) => voice.say('Heard.');
  const backend = createAgentRuntime({ id: 'mine', answer: (params, voice) => say(params, voice) });
  const agent = defineAgent({ id: 'one', model: 'mine/any', instructions: 'Listen.' });
  runtime = await createNodeRuntime({ home: home.path, agents: [agent], backends: [backend] });
  ({ sessionId } = await runtime.sessions.create({ agentId: 'one' }));
});
afterEach(async () => {
  await runtime.shutdown();
  await home.remove();
});

type Call = (value: never) => unknown;
const message = { type: 'user.message', text: 'Go' } as const;

describe('a misspelt key is refused', () => {
  it.each<[string, Call, object, string, string]>([
    [
      'in a new session',
      (value) => runtime.sessions.create(value),
      { agntId: 'one' },
      'SESSION_REQUEST_INVALID',
      '"agntId" (did you mean "agentId"?)',
    ],
    [
      'in the options of a message',
      (value) => runtime.sessions.send(sessionId, message, value),
      { idempotencykey: 'a' },
      'SESSION_REQUEST_INVALID',
      'did you mean "idempotencyKey"?',
    ],
    [
      'in a filter of sessions',
      (value) => runtime.sessions.list(value),
      { agnetId: 'one' },
      'SESSION_REQUEST_INVALID',
      'did you mean "agentId"?',
    ],
    [
      'in the options of a wake',
      (value) => runtime.wake(sessionId, value),
      { singal: undefined },
      'WAKE_OPTIONS_INVALID',
      '"singal" (did you mean "signal"?)',
    ],
    [
      'in the options of a trigger',
      (value) => runtime.trigger(sessionId, value),
      { human: 'none' },
      'WAKE_OPTIONS_INVALID',
      'did you mean "humans"?',
    ],
    [
      'in the options of a worker',
      (value) => runtime.startWorker(value),
      { concurency: 1 },
      'WORKER_OPTIONS_INVALID',
      'did you mean "concurrency"?',
    ],
    [
      'in the stop of a worker',
      (value) => runtime.startWorker().stop(value),
      { runing: 'abort' },
      'WORKER_OPTIONS_INVALID',
      'did you mean "running"?',
    ],
    [
      'in a filter of tasks',
      (value) => runtime.tasks.list(value),
      { kinds: 'process' },
      'TASK_FILTER_INVALID',
      'did you mean "kind"?',
    ],
    [
      'in a new agent',
      (value) => runtime.agents.create(value),
      { agentId: 'two', sorce: '' },
      'AGENT_INVALID',
      'did you mean "source"?',
    ],
    [
      'in a backend',
      (value) => createAgentRuntime(value),
      { id: 'x', anser: say },
      'AGENT_RUNTIME_INVALID',
      'answer: expected a function',
    ],
    [
      'in the options of a runtime',
      (value) => createNodeRuntime(value),
      { agnets: [] },
      'RUNTIME_OPTIONS_INVALID',
      'did you mean "agents"?',
    ],
    [
      'below an option of a runtime',
      (value) => createNodeRuntime(value),
      { runConfig: { providrs: {} } },
      'RUNTIME_OPTIONS_INVALID',
      'did you mean "providers"?',
    ],
  ])('%s', async (_where, call, value, code, text) => {
    await expect(async () => call(value as never)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(text) as unknown,
    });
  });

  it('in a message that has an option in it, with where that belongs', async () => {
    const within = { ...message, delivery: 'steer' };
    await expect(runtime.sessions.send(sessionId, within as never)).rejects.toMatchObject({
      code: 'SESSION_REQUEST_INVALID',
      hint: '"delivery" is an option, the third argument: send(id, message, { delivery }).',
    });
  });

  it('and a value that means nothing, too', async () => {
    await expect(runtime.wake(sessionId, { signal: 1 as never })).rejects.toMatchObject({
      code: 'WAKE_OPTIONS_INVALID',
    });
    expect(() => runtime.tasks.list({ status: 'runing' as never })).toThrow(/status: /);
    await expect(runtime.agents.create(undefined as never)).rejects.toMatchObject({ code: 'AGENT_INVALID' });
  });
});

describe('a directive of a backend', () => {
  const woken = async (): Promise<unknown> => {
    await runtime.sessions.send(sessionId, message);
    return runtime.wake(sessionId);
  };

  it('that is not complete is refused where it is given, with what it lacks', async () => {
    let refusal: unknown;
    say = async (_params, voice) => {
      try {
        voice.direct({ outcome: 'sleep', followUpSeconds: 3_600 } as never);
      } catch (error) {
        refusal = error;
        voice.direct({ outcome: 'sleep', summary: 'In an hour again.', followUpSeconds: 3_600 });
      }
    };
    expect(await woken()).toMatchObject({ outcome: 'sleep', summary: 'In an hour again.' });
    expect(refusal).toMatchObject({
      code: 'DIRECTIVE_INVALID',
      message: expect.stringMatching(/the directive is not valid: summary: /) as unknown,
    });
    expect((await runtime.sessions.status(sessionId)).queuedWakes).toHaveLength(1);
  });

  it('that is thrown is the failure of the run, which the log tells', async () => {
    say = async (_params, voice) => voice.direct({ outcome: 'sleep' } as never);
    expect(await woken()).toMatchObject({
      outcome: 'failed',
      error: { message: expect.stringContaining('the directive is not valid: summary: ') as unknown },
    });
  });

  it('that a model gave means sleep when it is wrong, and is recorded', async () => {
    say = async (_params, voice) => voice.relay({ outcome: 'sleep' });
    expect(await woken()).toMatchObject({ outcome: 'sleep' });
    const types = [];
    for await (const { type } of runtime.sessions.events(sessionId)) types.push(type);
    expect(types).toContain('directive.rejected');
  });
});
