/** The inspector over a real runtime: a session waits for a permission, is seen waiting, and goes on once it is answered over HTTP. */
import { describe, expect, it } from 'vitest';
import type { InspectedSession, InspectionSource } from '../../../src/actors/inspection/inspection-source.ts';
import { explain } from '../../../src/machines/session/why.ts';
import { openHouse } from '../../support/session-house.ts';
import type { SessionHouse } from '../../support/session-house.ts';
import { inspected } from './inspector-client.ts';
import { RecordedSource } from './recorded-source.ts';

const STEPS = [{ toolCalls: [{ name: 'shell_run', input: { command: 'rm -rf build' } }] }, { text: 'Done.', directive: { outcome: 'sleep', summary: 'Done.' } }];

/** The sessions of the house, as whoever composes the inspector lets it see them. */
function sessionsOf({ runtime, clock }: SessionHouse): RecordedSource {
  const source = new RecordedSource();
  source.session = async (sessionId) => {
    const state = await runtime.sessions.status(sessionId);
    return { state, why: explain(state, clock.now()), pendingActions: state.pendingActions };
  };
  const answer: InspectionSource['answer'] = async (sessionId, given) => {
    const { pendingActions } = await runtime.sessions.status(sessionId);
    const toolName = pendingActions.find(({ requestId }) => requestId === given.requestId)?.toolName ?? 'shell_run';
    const { requestId } = given;
    const idempotencyKey = `inspector:${requestId}`;
    if (given.type === 'answer') return runtime.sessions.send(sessionId, { type: 'user.answer', requestId, response: given.text }, { idempotencyKey });
    return runtime.sessions.send(sessionId, { type: 'user.tool_confirmation', requestId, toolName, allowed: given.type === 'allow', note: given.note }, { idempotencyKey });
  };
  source.answer = answer;
  return source;
}

describe('a session that waits for a permission', () => {
  it.each(['allow', 'deny'] as const)('is seen waiting, and goes on when it is answered from the page: %s', async (type) => {
    await using house = await openHouse();
    const session = await house.session(STEPS, { message: 'Clean up.', agent: { permission: { mode: 'ask' } } });
    await house.runtime.wake(session);
    const { ask, server, problems } = await inspected({ source: sessionsOf(house) });
    const shown = JSON.parse((await ask(`/api/sessions/${session}`)).text) as InspectedSession;
    expect([shown.why.reasons[0]?.kind, shown.pendingActions.map(({ kind, toolName }) => [kind, toolName])]).toEqual(['permission', [['permission', 'shell_run']]]);

    const body = JSON.stringify({ type, requestId: shown.pendingActions[0]?.requestId });
    const send = (): ReturnType<typeof ask> => ask(`/api/sessions/${session}/answers`, { method: 'POST', body, headers: { origin: server.origin, 'content-type': 'application/json' } });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.text]).toEqual([200, first.text]);
    const { receipt } = JSON.parse(first.text) as { readonly receipt: { readonly seq: number } };
    const answers = (await house.log(session)).filter((event) => event.type === 'user.tool_confirmation');
    expect(answers.map(({ seq, data }) => [seq, (data as { readonly allowed: boolean }).allowed])).toEqual([[receipt.seq, type === 'allow']]);
    expect((await house.runtime.sessions.status(session)).pendingActions).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('that is not there is said to be not there, by the error of the runtime', async () => {
    await using house = await openHouse();
    const { ask } = await inspected({ source: sessionsOf(house) });
    const { status, text } = await ask('/api/sessions/0192f0c1-2345-7abc-8def-0123456789ab');
    expect([status, (JSON.parse(text) as { readonly code: string }).code]).toEqual([404, 'SESSION_NOT_FOUND']);
  });
});
