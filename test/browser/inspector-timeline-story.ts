/**
 * A session in which much happened: attempts, a call that ran, a permission that waited, a child session, a step that
 * failed, a wake whose process died. And one of ten thousand events.
 */
import type { EventStore } from '../../src/actors/session/event-store.ts';
import { formatUuidV7 } from '../../src/machines/ids.ts';
import { handedDown } from '../../src/machines/permission/handed-down.ts';
import { checkDraft } from '../../src/machines/session/session-event.ts';
import type { NewSessionEvent, SessionEventDraft } from '../../src/machines/session/session-event.ts';

/** Seconds after the beginning, of which wake, and what. */
type Moment = readonly [number, number | undefined, SessionEventDraft];

const idOf = (n: number): string =>
  formatUuidV7({ unixMs: 1_767_225_600_000 + n, counter: n % 4096, random: new Uint8Array(8).fill(7) });

export const STORY = idOf(100_000);
export const CHILD = idOf(200_000);
/** When the last event of the story happens, in milliseconds after the first. */
export const STORY_MS = 1_512_000;

const SONNET = { provider: 'anthropic', model: 'claude-sonnet-4-5' } as const;
const GPT = { provider: 'openai', model: 'gpt-5' } as const;

const said = (text: string): SessionEventDraft => ({ type: 'user.message', data: { text, delivery: 'queue' } });
const wake = (epoch: number, trigger: 'ingress' | 'retry' | 'manual' = 'ingress'): SessionEventDraft => ({
  type: 'wake.started',
  data: { wakeId: `wake_${epoch}`, epoch, owner: 'host:4711', queuedWakeIds: [], trigger },
});
const slept = (epoch: number, outcome: 'requires_action' | 'failed' | 'lost' | 'sleep'): SessionEventDraft => ({
  type: 'wake.ended',
  data: {
    wakeId: `wake_${epoch}`,
    outcome,
    summary: outcome === 'lost' ? 'The process of this wake (host:4711) died before the wake ended.' : '',
    modelSteps: 1,
    completedWakeIds: [],
    ...(outcome === 'failed'
      ? { error: { code: 'RUN_FAILED', category: 'provider', message: 'the key was refused by the provider' } }
      : {}),
  },
});
const step = (
  spanId: string,
  candidate: { readonly provider: string; readonly model: string } = SONNET,
): SessionEventDraft => ({
  type: 'span.started',
  data: { spanId, kind: 'model_step', backend: 'embedded', ...candidate, step: 1 },
});
const stepEnd = (spanId: string, inputTokens: number, outputTokens: number): SessionEventDraft => ({
  type: 'span.completed',
  data: { spanId, kind: 'model_step', outcome: 'completed', modelSteps: 1, usage: { inputTokens, outputTokens } },
});
const use = (callId: string, name: string, input: Record<string, string>, spanId: string): SessionEventDraft => ({
  type: 'agent.tool_use',
  data: { callId, name, input, spanId },
});
const begun = (callId: string): SessionEventDraft => ({ type: 'agent.tool_started', data: { callId } });
const result = (callId: string, name: string, exitCode: number, output = ''): SessionEventDraft => ({
  type: 'agent.tool_result',
  data: { callId, name, outcome: 'completed', output: { exitCode, output } },
});
const failedAttempt = (
  attempt: number,
  candidate: { readonly provider: string; readonly model: string },
  kind: 'overloaded' | 'rate_limit',
): SessionEventDraft => ({
  type: 'run.attempt_failed',
  data: {
    spanId: 's2',
    attempt,
    candidate,
    error: { kind, message: kind === 'overloaded' ? 'the service is overloaded' : 'too many requests' },
    next: 'back_off',
    because: 'It may have time later.',
    waitMs: 4_000,
  },
});
const selected = (
  attempt: number,
  candidate: { readonly provider: string; readonly model: string },
): SessionEventDraft => ({
  type: 'run.candidate_selected',
  data: { spanId: 's2', attempt, candidate, backend: 'embedded', because: 'It is tried again.' },
});
const moved = (to: 'running' | 'idle', stopReason?: 'idle' | 'requires_action'): SessionEventDraft => ({
  type: 'session.status_changed',
  data: { to, ...(stopReason === undefined ? {} : { stopReason }) },
});

const WAITED: readonly Moment[] = [
  [0, undefined, { type: 'session.created', data: { agentId: 'player', title: 'Bring the release out' } }],
  [0.4, undefined, said('Bring it out.')],
  [1, 1, wake(1)],
  [1, 1, moved('running')],
  [1.2, 1, step('s1')],
  [6, 1, use('c1', 'shell_run', { command: 'npm test -- --run' }, 's1')],
  [6.1, 1, stepEnd('s1', 12_400, 320)],
  [6.2, 1, begun('c1')],
  [14, 1, result('c1', 'shell_run', 0)],
  [14.1, 1, step('s2')],
  [16, 1, failedAttempt(1, SONNET, 'overloaded')],
  [20, 1, selected(2, SONNET)],
  [21.5, 1, failedAttempt(2, SONNET, 'rate_limit')],
  [24.5, 1, selected(3, GPT)],
  [30, 1, use('c2', 'deploy', { command: 'deploy --to production' }, 's2')],
  [30.1, 1, stepEnd('s2', 14_900, 210)],
  [
    30.2,
    1,
    {
      type: 'permission.requested',
      data: {
        requestId: 'r2',
        callId: 'c2',
        toolName: 'deploy',
        input: { command: 'deploy' },
        because: 'It always asks.',
      },
    },
  ],
  [30.4, 1, slept(1, 'requires_action')],
  [30.4, 1, moved('idle', 'requires_action')],
  [629, undefined, { type: 'user.tool_confirmation', data: { requestId: 'r2', toolName: 'deploy', allowed: true } }],
];

const DELEGATED: readonly Moment[] = [
  [631, 2, wake(2)],
  [631, 2, moved('running')],
  [631.2, 2, { type: 'permission.resolved', data: { requestId: 'r2', callId: 'c2', decision: 'allowed' } }],
  [631.2, 2, begun('c2')],
  [640, 2, result('c2', 'deploy', 1, 'error: the host does not answer')],
  [640.2, 2, step('s3')],
  [645, 2, use('c3', 'helper', { message: 'Find out why.' }, 's3')],
  [645.1, 2, stepEnd('s3', 16_200, 140)],
  [
    645.3,
    2,
    {
      type: 'agent.subflow_started',
      data: {
        callId: 'c3',
        childSessionId: CHILD,
        agentId: 'helper',
        message: 'Find out why.',
        restriction: handedDown({ mode: 'preapproved', ask: [], deny: [] }),
      },
    },
  ],
  [645.4, 2, slept(2, 'requires_action')],
  [645.4, 2, moved('idle', 'requires_action')],
  [
    720,
    undefined,
    {
      type: 'session.child_idle',
      data: { childSessionId: CHILD, agentId: 'helper', turn: 9, reason: 'idle', summary: 'A key has expired.' },
    },
  ],
];

const DIED: readonly Moment[] = [
  [721, 3, wake(3)],
  [721, 3, moved('running')],
  [
    721.1,
    3,
    { type: 'agent.tool_result', data: { callId: 'c3', name: 'helper', outcome: 'completed', output: 'Done.' } },
  ],
  [721.2, 3, step('s4')],
  [
    731,
    3,
    {
      type: 'span.completed',
      data: {
        spanId: 's4',
        kind: 'model_step',
        outcome: 'failed',
        modelSteps: 0,
        error: { kind: 'auth', message: 'the key was refused' },
      },
    },
  ],
  [731.2, 3, slept(3, 'failed')],
  [731.2, 3, moved('idle', 'idle')],
  [790, undefined, said('Try once more.')],
  [791, 4, wake(4, 'retry')],
  [791, 4, moved('running')],
  [791.2, 4, step('s5', GPT)],
  [797, 4, use('c4', 'shell_run', { command: 'ssh host systemctl restart web' }, 's5')],
  [797.1, 4, stepEnd('s5', 17_800, 95)],
  [798, 4, begun('c4')],
  [803, 4, step('s6', GPT)],
  [
    1_500,
    5,
    { type: 'agent.tool_result', data: { callId: 'c4', name: 'shell_run', outcome: 'unknown', output: 'unknown' } },
  ],
  [1_500, 5, { type: 'span.completed', data: { spanId: 's6', kind: 'model_step', outcome: 'lost', modelSteps: 0 } }],
  [1_500, 5, slept(4, 'lost')],
  [1_500, 5, wake(5)],
  [1_500, 5, moved('running')],
  [1_500.2, 5, step('s7')],
  [1_510, 5, use('c5', 'shell_run', { command: 'npm run smoke' }, 's7')],
  [1_510.1, 5, stepEnd('s7', 18_300, 260)],
  [STORY_MS / 1_000, 5, begun('c5')],
];

const eventOf = (startMs: number, [seconds, epoch, draft]: Moment, index: number): NewSessionEvent => ({
  id: idOf(index + 1),
  at: new Date(startMs + seconds * 1_000).toISOString(),
  ...(epoch === undefined ? {} : { epoch }),
  ...checkDraft(draft),
});

/** @param wakes that have begun by its end @returns its last epoch */
export async function tellStory(store: EventStore, startMs: number, isToTheEnd = true): Promise<void> {
  const [first, ...rest] = [...WAITED, ...(isToTheEnd ? [...DELEGATED, ...DIED] : [])].map((moment, index) =>
    eventOf(startMs, moment, index),
  );
  if (first === undefined) throw new Error('expected events');
  await store.create({ sessionId: STORY, agentId: 'player' }, [first, ...rest]);
  const child = eventOf(
    startMs,
    [645.5, undefined, { type: 'session.created', data: { agentId: 'player', title: 'Find out why' } }],
    90_000,
  );
  const woke = [646, 700].map((seconds, index) =>
    eventOf(startMs, [seconds, 1, index === 0 ? wake(1) : slept(1, 'sleep')], 90_001 + index),
  );
  await store.create({ sessionId: CHILD, agentId: 'player' }, [child, ...woke]);
}

/** A session of about ten thousand events in a hundred wakes. */
export async function tellLong(store: EventStore, startMs: number): Promise<string> {
  const moments: Moment[] = [[0, undefined, { type: 'session.created', data: { agentId: 'player', title: 'Long' } }]];
  for (let epoch = 1; epoch <= 100; epoch += 1) {
    const from = epoch * 600;
    moments.push([from, epoch, wake(epoch)]);
    for (let turn = 0; turn < 20; turn += 1) {
      const [span, call, at] = [`s${epoch}_${turn}`, `c${epoch}_${turn}`, from + turn * 10];
      moments.push(
        [at, epoch, step(span)],
        [at + 3, epoch, use(call, 'shell_run', { command: `make part-${turn}` }, span)],
      );
      moments.push([at + 3, epoch, stepEnd(span, 9_000, 100)], [at + 3, epoch, begun(call)]);
      moments.push([at + 9, epoch, result(call, 'shell_run', turn % 17 === 16 ? 2 : 0)]);
    }
    moments.push([from + 200, epoch, slept(epoch, 'sleep')]);
  }
  const [first, ...rest] = moments.map((moment, index) => eventOf(startMs, moment, index + 300_000));
  if (first === undefined) throw new Error('expected events');
  const sessionId = idOf(400_000);
  await store.create({ sessionId, agentId: 'player' }, [first, ...rest]);
  return sessionId;
}
