/** What has to hold of every session whenever no wake of it runs, whatever was done to it. */
import { expect } from 'vitest';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { foldSession } from '../../src/machines/session/session-fold.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { assembleTranscript } from '../../src/machines/turn/transcript.ts';
import { providerProblems, shapeProblems } from './provider-rules.ts';

/**
 * @throws when the log does not fold to `state`, a call has not exactly one result or waits, or no provider would take
 * the conversation
 */
export function expectSettled(log: readonly SessionEvent[], state: SessionState): void {
  const [first] = log;
  if (first === undefined) return;
  const { sessionId } = first;
  let folded = initialSessionState({ sessionId, agentId: state.agentId });
  for (const event of log) folded = foldSession(folded, event);
  expect(folded).toEqual(state);
  expect([state.openWake, state.openSpanId, state.status === 'running']).toEqual([undefined, undefined, false]);
  expectOneResultEach(log, state);
  const messages = assembleTranscript(log);
  if (messages.length > 0) expect([...shapeProblems(messages), ...providerProblems(messages)]).toEqual([]);
}

function expectOneResultEach(log: readonly SessionEvent[], { openToolCalls }: SessionState): void {
  const open = new Set(openToolCalls.map(({ callId }) => callId));
  expect(openToolCalls.filter(({ phase }) => phase !== 'waiting' && phase !== 'answered')).toEqual([]);
  const results = new Map<string, number>();
  const starts = new Map<string, number>();
  for (const { type, data } of log) {
    if (type === 'agent.tool_result') results.set(data.callId, (results.get(data.callId) ?? 0) + 1);
    if (type === 'agent.tool_started') starts.set(data.callId, (starts.get(data.callId) ?? 0) + 1);
  }
  for (const { type, data } of log) {
    if (type !== 'agent.tool_use') continue;
    const { callId, name } = data;
    expect([callId, name, results.get(callId) ?? 0]).toEqual([callId, name, open.has(callId) ? 0 : 1]);
    expect([callId, name, (starts.get(callId) ?? 0) <= 3]).toEqual([callId, name, true]);
  }
}
