/** Backends that keep their contract but for one thing: what the contract is for is to find each of them. */
import type {
  AgentRunParams,
  AgentRunResult,
  AgentRuntime,
  RunPermissionAnswer,
} from '../../src/actors/run/agent-runtime.ts';
import type { AgentRunEvent, RunPayload } from '../../src/machines/run/run-output.ts';
import type { Flaw, PlayedRuntime } from './played-runtime.ts';

/** What is wrong with it, a part of the sentence that finds it, and what is not as it should be. */
type Broken = readonly [flaw: string, foundBy: string, flaw: Flaw];

type Tell = (event: AgentRunEvent) => void;

/** Its events go through `change` on their way to the listener. */
const telling =
  (change: (event: AgentRunEvent, tell: Tell) => void): Flaw =>
  (sound) => ({
    run: (params) =>
      sound.run({ ...params, onEvent: (event) => change(event, (changed) => params.onEvent?.(changed)) }),
  });

const resolving =
  (change: (result: AgentRunResult, params: AgentRunParams) => unknown): Flaw =>
  (sound) => ({
    run: async (params) => change(await sound.run(params), params) as AgentRunResult,
  });

const given =
  (change: (params: AgentRunParams, sound: PlayedRuntime) => AgentRunParams): Flaw =>
  (sound) => ({ run: (params) => sound.run(change(params, sound)) });

const isPhase = (event: AgentRunEvent, phase: string): boolean =>
  'phase' in event.data && event.stream === 'lifecycle' && event.data.phase === phase;
const isTool = (event: AgentRunEvent, phase: string): boolean => event.stream === 'tool' && event.data.phase === phase;
const never = (): Promise<never> => new Promise(() => undefined);

/** A listener that throws ends the run. */
const fragile: Flaw = (sound) => ({
  run(params) {
    let thrown: unknown;
    const onEvent = (event: AgentRunEvent): void => {
      try {
        params.onEvent?.(event);
      } catch (error) {
        thrown = error;
      }
    };
    return sound
      .run({ ...params, onEvent })
      .then((result) => (thrown === undefined ? result : Promise.reject(thrown as Error)));
  },
});

const talkative = telling((event, tell) => {
  tell(event);
  if (isPhase(event, 'end')) setImmediate(() => tell(event));
});

const late: Flaw = (sound) => ({ run: (params) => Promise.resolve().then(() => sound.run(params)) });

/** Whoever comes last hears everybody. */
const mixing = (): Flaw => {
  let newest: AgentRunParams['onEvent'];
  return (sound) => ({
    run(params) {
      newest = params.onEvent;
      return sound.run({ ...params, onEvent: (event) => newest?.(event) });
    },
  });
};

/** An id is taken for ever. */
const unforgetting: Flaw = (sound) => {
  const known = new Set<string>();
  return {
    run(params) {
      if (known.has(params.runId)) return Promise.reject(new Error('the id was used before'));
      known.add(params.runId);
      return sound.run(params);
    },
  };
};

const replacing: Flaw = (sound) => ({
  async run(params) {
    await sound.abort(params.runId);
    while (sound.isRunActive(params.runId)) await new Promise((resolve) => setImmediate(resolve));
    return sound.run(params);
  },
});

const inPayloads = (change: (payload: RunPayload, index: number) => RunPayload | undefined): Flaw =>
  resolving((result) => ({
    ...result,
    payloads: result.payloads.flatMap((payload, index) => change(payload, index) ?? []),
  }));

const life: readonly Broken[] = [
  [
    'starts twice',
    'announces one start first',
    telling((event, tell) => [...(isPhase(event, 'start') ? [event] : []), event].forEach(tell)),
  ],
  ['goes on after its end', 'announces one start first', talkative],
  ['never ends', 'announces one start first', telling((event, tell) => isPhase(event, 'end') || tell(event))],
  ['leaves numbers out', 'numbers its events', telling((event, tell) => tell({ ...event, seq: event.seq * 2 }))],
  ['numbers from 0', 'numbers its events', telling((event, tell) => tell({ ...event, seq: event.seq - 1 }))],
  ['names another run', 'numbers its events', telling((event, tell) => tell({ ...event, runId: 'other' }))],
  [
    'tells the time as people do',
    'numbers its events',
    telling((event, tell) => tell({ ...event, ts: new Date(event.ts).toUTCString() })),
  ],
  [
    'streams a part only',
    'streams exactly the text',
    telling((event, tell) =>
      tell(
        event.stream === 'assistant'
          ? { ...event, data: { ...event.data, text: event.data.text.trim().slice(0, 9) } }
          : event,
      ),
    ),
  ],
  [
    'resolves with a part only',
    'streams exactly the text',
    inPayloads((payload) => (payload.type === 'text' ? { type: 'text', text: payload.text.slice(1) } : payload)),
  ],
  [
    'takes reasoning for text',
    'apart from what it said',
    inPayloads((payload) => (payload.type === 'reasoning' ? { type: 'text', text: payload.text } : payload)),
  ],
  ['uses less than nothing', 'plain data', resolving((result) => ({ ...result, usage: { inputTokens: -1 } }))],
  [
    'resolves with what is no data',
    'plain data',
    resolving((result) => ({ ...result, meta: { compacted: false, since: new Date(0) } })),
  ],
  [
    'is not sure what it used',
    'about what was used',
    resolving((result) => ({ ...result, usage: { inputTokens: 99 } })),
  ],
  [
    'knows no prompts',
    'takes a prompt',
    (sound) => ({
      run: (params) => (params.messages === undefined ? Promise.reject(new Error('no messages')) : sound.run(params)),
    }),
  ],
  [
    'forgets its instructions',
    'gives the model its instructions',
    given((params) => ({ ...params, instructions: undefined })),
  ],
  [
    'turns the conversation around',
    'gives the model its instructions',
    given((params) => ({ ...params, messages: params.messages?.toReversed() ?? [], prompt: undefined })),
  ],
  ['breaks with its listener', 'does not mind a listener', fragile],
];

const failing: readonly Broken[] = [
  [
    'rejects when it fails',
    'with the kind rate_limit',
    resolving((result) => (result.meta?.error === undefined ? result : Promise.reject(new Error('failed')))),
  ],
  [
    'takes one kind for another',
    'with the kind rate_limit',
    resolving((result) => ({ ...result, meta: { error: { kind: 'unknown', message: 'x' } } })),
  ],
  [
    'announces another failure',
    'with the kind rate_limit',
    telling((event, tell) =>
      tell(
        isPhase(event, 'error')
          ? ({ ...event, data: { phase: 'error', error: { kind: 'unknown', message: 'x' } } } as AgentRunEvent)
          : event,
      ),
    ),
  ],
  [
    'fails and says that it ended',
    'with the kind auth',
    telling((event, tell) =>
      tell(isPhase(event, 'error') ? ({ ...event, data: { phase: 'end' } } as AgentRunEvent) : event),
    ),
  ],
  [
    'stays active when it has failed',
    'not active any more when it has failed',
    (sound) => ({ run: (params) => sound.run(params), isRunActive: () => true }),
  ],
  [
    'puts the secret into the failure',
    'to itself when it fails',
    resolving((result, { credential }) => ({
      ...result,
      meta: { error: { kind: 'auth', message: `refused: ${credential?.secret}` } },
    })),
  ],
  [
    'puts the secret into an event',
    'to itself when it answers',
    (sound) => ({
      run: (params) =>
        sound.run({ ...params, model: JSON.stringify([{ do: 'think', text: params.credential?.secret }]) }),
    }),
  ],
  ['passes on what others tell', 'when others tell it', given((params) => ({ ...params, credential: undefined }))],
];

const stopping: readonly Broken[] = [
  [
    'begins though it was stopped',
    'stopped before it starts',
    given(({ abortSignal, ...params }) => (abortSignal?.aborted === true ? params : { ...params, abortSignal })),
  ],
  ['is deaf to signals', 'stopped by its signal right after', given(({ abortSignal: _signal, ...params }) => params)],
  ['is deaf to its id', 'stopped by its id before the model says', () => ({ abort: () => Promise.resolve() })],
  [
    'never returns from a stop',
    'stopped by its id right after',
    (sound) => ({ abort: (runId) => sound.abort(runId).then(never) }),
  ],
  [
    'forgets what it said',
    'stopped by its signal in the middle',
    resolving((result) => (result.meta?.error === undefined ? result : { ...result, payloads: [] })),
  ],
  [
    'is stopped by chance',
    'stopped by its id in the middle',
    resolving((result) => ({ ...result, meta: { error: { kind: 'unknown', message: 'x' } } })),
  ],
  [
    'is ended by a stop',
    'stopped by its signal before',
    telling((event, tell) =>
      tell(isPhase(event, 'aborted') ? ({ ...event, data: { phase: 'end' } } as AgentRunEvent) : event),
    ),
  ],
  [
    'refuses to stop what it does not know',
    'takes the stop of a run',
    (sound) => ({
      abort: (runId) => (sound.isRunActive(runId) ? sound.abort(runId) : Promise.reject(new Error('unknown'))),
    }),
  ],
];

const together: readonly Broken[] = [
  ['is never active', 'is active from the call on', () => ({ isRunActive: () => false })],
  ['is active a little later', 'is active from the call on', late],
  ['mixes runs up', 'runs two at once', (sound) => mixing()(sound)],
  ['takes an id once', 'takes the id of a run that has ended', unforgetting],
  [
    'stops them all',
    'stops one of two',
    (sound) => ({ abort: async () => void (await Promise.all(['run_1', 'run_2'].map((runId) => sound.abort(runId)))) }),
  ],
  ['replaces the run that has its id', 'refuses the id of an active run', replacing],
  ['takes messages for anybody', 'takes no message', () => ({ queueMessage: () => Promise.resolve(true) })],
  ['swallows messages', 'takes a message while', () => ({ queueMessage: () => Promise.resolve(true) })],
  ['takes no messages', 'takes a message while', () => ({ queueMessage: () => Promise.resolve(false) })],
];

const declared: readonly Broken[] = [
  ['has no id', 'what is declared', () => ({ id: '' })],
  ['is of the other kind', 'what is declared', ({ runs }) => ({ runs: runs === 'step' ? 'turn' : 'step' })],
  [
    'reads messages that it cannot be given',
    'what is declared',
    () => ({ messageIntake: 'running', queueMessage: undefined as never }),
  ],
];

const asking: readonly Broken[] = [
  [
    'gives every call the same id',
    'asks for tools in its payloads',
    inPayloads((payload) => (payload.type === 'tool_call' ? { ...payload, callId: 'call' } : payload)),
  ],
  [
    'gives input as text',
    'asks for tools in its payloads',
    inPayloads((payload) =>
      payload.type === 'tool_call' ? { ...payload, input: JSON.stringify(payload.input) } : payload,
    ),
  ],
  [
    'asks for one tool only',
    'asks for tools in its payloads',
    inPayloads((payload, index) => (payload.type === 'tool_call' && index > 1 ? undefined : payload)),
  ],
  [
    'asks for tools behind the back of its listener',
    'tells each tool that it asks for',
    telling((event, tell) => event.stream === 'tool' || tell(event)),
  ],
];

export const brokenSteps: readonly Broken[] = [...declared, ...life, ...failing, ...stopping, ...together, ...asking];

const asked = (
  change: (ask: NonNullable<AgentRunParams['requestPermission']>) => AgentRunParams['requestPermission'],
): Flaw =>
  given(({ requestPermission, ...params }) =>
    requestPermission === undefined ? params : { ...params, requestPermission: change(requestPermission) },
  );

/** A denial is a failure of the run. */
const givingUp: Flaw = (sound) => ({
  async run(params) {
    const answers: string[] = [];
    const noting = (answer: RunPermissionAnswer): RunPermissionAnswer => {
      answers.push(answer.decision);
      return answer;
    };
    const noted = given(({ requestPermission, ...rest }) => ({
      ...rest,
      requestPermission: requestPermission && ((request) => requestPermission(request).then(noting)),
    }));
    const result = await noted(sound).run?.(params);
    if (result === undefined) throw new Error('it did not run');
    return answers.includes('deny')
      ? { ...result, meta: { error: { kind: 'refusal', message: 'it was denied' } } }
      : result;
  },
});

const silently: Flaw = resolving(({ meta: { reseeded: _silent, ...meta } = {}, ...result }) => ({ ...result, meta }));

const withoutSession: Flaw = given(({ resume: _resume, ...params }) => params);

const failingWithoutSession: Flaw = (sound) => ({
  run: (params): ReturnType<AgentRuntime['run']> =>
    params.resume === undefined || sound.sessions.has(params.resume.sessionId)
      ? sound.run(params)
      : sound.run({ ...params, model: JSON.stringify([{ do: 'fail', kind: 'session_expired' }]) }),
});

export const brokenTurns: readonly Broken[] = [
  ...declared,
  [
    'tells no ends of tools',
    'tells each tool that it runs',
    telling((event, tell) => isTool(event, 'ended') || tell(event)),
  ],
  [
    'ends tools twice',
    'tells each tool that it runs',
    telling((event, tell) => [...(isTool(event, 'ended') ? [event] : []), event].forEach(tell)),
  ],
  [
    'starts tools that nobody requested',
    'tells each tool that it runs',
    telling((event, tell) => isTool(event, 'requested') || tell(event)),
  ],
  [
    'leaves the tools that it ran to others',
    'out of its payloads',
    resolving((result) => ({
      ...result,
      payloads: [...result.payloads, { type: 'tool_call', callId: 'x', name: 'look_up', input: {} }],
    })),
  ],
  [
    'leaves a tool open when it is stopped',
    'ends a tool that runs',
    telling((event, tell) => isTool(event, 'ended') || tell(event)),
  ],
  ['asks twice', 'asks for permission once', asked((ask) => (request) => ask(request).then(() => ask(request)))],
  ['asks nobody', 'asks for permission once', asked(() => () => Promise.resolve({ decision: 'allow' }))],
  [
    'asks by another id',
    'asks for permission once',
    asked((ask) => (request) => ask({ ...request, callId: `permission-${request.callId}` })),
  ],
  [
    'runs what is denied',
    'does not run what is denied',
    asked((ask) => (request) => ask(request).then(() => ({ decision: 'allow' }))),
  ],
  ['gives up when something is denied', 'does not run what is denied', givingUp],
  [
    'takes a question that fails for a yes',
    'cannot be found out whether it may',
    asked((ask) => (request) => ask(request).catch(() => ({ decision: 'allow' }))),
  ],
  [
    'runs everything when no person can be asked',
    'when no person can be asked',
    given((params) => ({
      ...params,
      requestPermission: params.requestPermission ?? (() => Promise.resolve({ decision: 'allow' })),
    })),
  ],
  ['gives the whole conversation again', 'gives the model only what came since', withoutSession],
  [
    'names no session',
    'gives the model only what came since',
    resolving(({ meta: { sessionId: _nameless, ...meta } = {}, ...result }) => ({ ...result, meta })),
  ],
  ['begins anew in silence', 'whose session is gone', silently],
  ['fails when its session is gone', 'whose session is gone', failingWithoutSession],
];
