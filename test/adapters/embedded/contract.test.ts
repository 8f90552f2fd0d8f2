import type { Clock, TimerHandle } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createEmbeddedAgentRuntime } from '../../../src/adapters/embedded/embedded-agent-runtime.ts';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import type {
  AgentRuntimeContractOptions,
  AgentRuntimeUnderTest,
  RunSetting,
} from '../../../src/testing/agent-runtime-contract-subject.ts';
import { describeAgentRuntime } from '../../contracts/agent-runtime.contract.ts';
import {
  answers,
  answersByEvent,
  drops,
  failsWithError,
  hangs,
  hangsAfter,
} from '../../support/http-models/behaviors.ts';
import type { Behavior } from '../../support/http-models/model-server.ts';
import { ModelServer } from '../../support/http-models/model-server.ts';
import type { EmbeddedApi } from '../../support/http-models/protocol.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

// The embedded backend as a subject of the contract of backends: each situation is a model of a server on loopback.

const FAILURES: Readonly<Partial<Record<RunFailureKind, Behavior>>> = {
  auth: failsWithError(401, { type: 'authentication_error', code: 'invalid_api_key', message: 'invalid key' }),
  rate_limit: failsWithError(
    429,
    { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Slow down.' },
    { 'retry-after': '3' },
  ),
  overloaded: failsWithError(529, { type: 'overloaded_error', code: 'overloaded', message: 'Overloaded' }),
  billing: failsWithError(402, {
    type: 'billing_error',
    code: 'insufficient_quota',
    message: 'Your account is spent.',
  }),
  server_error: drops,
  format: failsWithError(400, { type: 'invalid_request_error', message: 'temperature: expected at most 1' }),
  context_overflow: failsWithError(413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }),
  model_not_found: failsWithError(404, { type: 'not_found_error', code: 'model_not_found', message: 'no such model' }),
  empty_response: answers([]),
  refusal: answers([{ text: 'I would rather not' }], { reason: 'refusal' }),
};

const EMBEDDED_OPTIONS = {
  runs: 'step',
  failures: Object.keys(FAILURES) as RunFailureKind[],
  cannot: { awaitsMessage: 'a run is one model step' },
} as const satisfies AgentRuntimeContractOptions;

/** Real time, with the timers that are armed counted. */
class CountingClock implements Clock {
  readonly #clock = createSystemClock();
  readonly #armed = new Set<TimerHandle>();

  get pendingTimers(): number {
    return this.#armed.size;
  }

  now(): number {
    return this.#clock.now();
  }

  steadyNow(): number {
    return this.#clock.steadyNow();
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    const handle = this.#clock.setTimeout(() => {
      this.#armed.delete(handle);
      callback();
    }, delayMs);
    this.#armed.add(handle);
    return handle;
  }

  clearTimeout(handle: TimerHandle | undefined): void {
    if (handle !== undefined) this.#armed.delete(handle);
    this.#clock.clearTimeout(handle);
  }
}

async function openEmbeddedSubject(api: EmbeddedApi): Promise<AgentRuntimeUnderTest> {
  const server = await ModelServer.start();
  const home = await temporaryHome();
  const clock = new CountingClock();
  let models = 0;
  const model = (behavior: Behavior): Promise<Partial<RunSetting>> => {
    models += 1;
    server.when(`model-${models}`, behavior);
    return Promise.resolve({ model: `model-${models}` });
  };
  const pieces = (text: string): readonly string[] => [text.slice(0, 5), text.slice(5)].filter((piece) => piece !== '');
  return {
    runtime: createEmbeddedAgentRuntime({
      clock,
      environment: { FIXTURE_KEY: 'fixture' },
      onListenerError: () => undefined,
    }),
    setting: {
      sessionId: 'session_1',
      provider: 'fixture',
      model: 'none',
      config: {
        providers: { fixture: { backend: 'embedded', api, baseUrl: server.baseUrl(api), keyVariable: 'FIXTURE_KEY' } },
      },
      workspaceDir: home.path,
      agentDir: home.path,
      modelStepsTaken: 0,
    },
    situations: {
      answers: (text) => model(answersByEvent([{ text: pieces(text) }])),
      reasons: (reasoning, text) => model(answersByEvent([{ reasoning: pieces(reasoning) }, { text: pieces(text) }])),
      fails: (kind) => model(FAILURES[kind] ?? drops),
      tells: (secret) =>
        model(
          failsWithError(
            401,
            { type: 'authentication_error', message: `Incorrect key: ${secret}` },
            { 'x-echo': secret },
          ),
        ),
      hangs: () => model(hangs),
      hangsAfter: (text) => model(hangsAfter([{ text: pieces(text) }])),
      asksForTools: (text, uses) =>
        model(
          answersByEvent([
            { text },
            ...uses.map(({ name, input }, index) => ({
              tool: name,
              callId: `call_${index}`,
              input: JSON.stringify(input),
            })),
          ]),
        ),
      heard: () => Promise.resolve(heardIn(server.request.body)),
    },
    async leftBehind() {
      // The server hears of the end of a connection a little later than the client that cut it.
      await Promise.all(server.requests.map(({ ended }) => ended));
      const timers = clock.pendingTimers === 0 ? [] : [`${clock.pendingTimers} timers`];
      return server.openAnswers === 0 ? timers : [...timers, `${server.openAnswers} answers that go on`];
    },
    async close() {
      await server.close();
      await home.remove();
    },
  };
}

/** The instructions first, wherever the protocol has them. */
function heardIn({ system, instructions, messages, input }: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([system, instructions, messages, input]);
}

for (const api of ['anthropic', 'openai', 'openai-chat'] as const) {
  describeAgentRuntime(`the embedded backend over ${api}`, () => openEmbeddedSubject(api), {
    ...EMBEDDED_OPTIONS,
    skips: 1,
  });
}
