/**
 * What may be written to a session's log from outside, as it stands: each event with who can send it and how, or with
 * the refusal that it would get.
 */
import type { SessionEvent } from './session-event.ts';
import { refusalOf } from './session-rules.ts';
import type { Refusal } from './session-rules.ts';
import type { PendingAction, SessionState } from './session-state.ts';
import { givenMovers, messageMover } from './why-movers.ts';
import type { Mover } from './why-movers.ts';

export type IngressType =
  | 'user.message'
  | 'user.tool_confirmation'
  | 'user.answer'
  | 'user.custom_tool_result'
  | 'user.define_outcome'
  | 'user.interrupt';

export interface AcceptedIngress {
  readonly event: IngressType;
  readonly isAccepted: true;
  /** The request that it answers. */
  readonly requestId?: string | undefined;
  readonly movers: readonly Mover[];
}

export interface RefusedIngress {
  readonly event: IngressType;
  readonly isAccepted: false;
  readonly requestId?: string | undefined;
  /** The code of the error, why, and what to do instead. */
  readonly code: string;
  readonly because: string;
  readonly hint: string;
}

export type IngressOutlook = AcceptedIngress | RefusedIngress;

const ANSWERED_BY = {
  permission: 'user.tool_confirmation',
  answer: 'user.answer',
  custom_tool: 'user.custom_tool_result',
} as const satisfies Record<PendingAction['kind'], IngressType>;

/** @param nowMs milliseconds since the epoch: an answer may come too late */
export function ingressOutlook(state: SessionState, nowMs: number): readonly IngressOutlook[] {
  const { sessionId } = state;
  const at = new Date(nowMs).toISOString();
  const person = (does: string, ...command: readonly string[]): Mover => ({ who: 'person', events: [], does, command });
  return [
    judged({ type: 'user.message', data: { text: 'TEXT', delivery: 'queue' }, at }, state, [messageMover(sessionId)]),
    ...Object.keys(ANSWERED_BY).flatMap((kind) => answers(state, kind as PendingAction['kind'], at)),
    judged({ type: 'user.define_outcome', data: { title: 'TITLE' }, at }, state, [
      {
        ...person(
          'says what is to be achieved',
          'session',
          'define-outcome',
          '--session',
          sessionId,
          '--title',
          'TITLE',
        ),
        events: ['user.define_outcome'],
      },
    ]),
    judged({ type: 'user.interrupt', data: {}, at }, state, [
      {
        ...person('cuts it short and takes back what it waits for', 'session', 'interrupt', '--session', sessionId),
        events: ['user.interrupt'],
      },
    ]),
  ];
}

type Probe = Pick<Extract<SessionEvent, { readonly type: IngressType }>, 'type' | 'data' | 'at'>;

function answers(state: SessionState, kind: PendingAction['kind'], at: string): readonly IngressOutlook[] {
  const asked = state.pendingActions.filter((action) => action.kind === kind);
  if (asked.length === 0)
    return [judged(probeOf({ requestId: 'none', kind, toolName: 'none' }, at), state, [], NOBODY_ASKS)];
  return asked.map((action) => {
    const { requestId, rules = [] } = action;
    const movers = givenMovers({ sessionId: state.sessionId, requestId, kind, hasRules: rules.length > 0 });
    return { ...judged(probeOf(action, at), state, movers), requestId };
  });
}

const NOBODY_ASKS: Pick<Refusal, 'message' | 'hint'> = {
  message: 'no request of this kind waits',
  hint: 'It is taken as soon as the agent has asked for it.',
};

function probeOf(
  { requestId, kind, toolName }: Pick<PendingAction, 'requestId' | 'kind' | 'toolName'>,
  at: string,
): Probe {
  switch (kind) {
    case 'permission':
      return { type: 'user.tool_confirmation', data: { requestId, toolName, allowed: true }, at };
    case 'answer':
      return { type: 'user.answer', data: { requestId, response: 'TEXT' }, at };
    case 'custom_tool':
      return { type: 'user.custom_tool_result', data: { requestId, toolName, output: null }, at };
  }
}

/** @param unasked how to say that nothing waits for it, where that is why */
function judged(
  probe: Probe,
  state: SessionState,
  movers: readonly Mover[],
  unasked: Partial<Pick<Refusal, 'message' | 'hint'>> = {},
): IngressOutlook {
  const refusal = refusalOf(state, probe);
  if (refusal === undefined) return { event: probe.type, isAccepted: true, movers };
  const { code, message, hint } = refusal.code === 'REQUEST_NOT_PENDING' ? { ...refusal, ...unasked } : refusal;
  return { event: probe.type, isAccepted: false, code, because: message, hint };
}
