/**
 * The inspector over a real runtime: a session waits for a permission, is seen waiting, and goes on once it is answered
 * over HTTP.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InspectedEvents, InspectedSession } from '../../../src/actors/inspection/inspection-source.ts';
import type { ShownSteps } from '../../../src/actors/inspection/shown-answers.ts';
import { createRuntimeSource } from '../../../src/actors/inspection/runtime-source.ts';
import type { ClosableSource } from '../../../src/actors/inspection/runtime-source.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';
import { eventsOf, inspected, numbersIn } from './inspector-client.ts';
import type { Inspected } from './inspector-client.ts';

const STEPS = [
  { toolCalls: [{ name: 'shell_run', input: { command: 'rm -rf build' } }] },
  { text: 'Done.', directive: { outcome: 'sleep', summary: 'Done.' } },
];

async function check(setup: SessionSetup): Promise<Inspected & { readonly source: ClosableSource }> {
  const { runtime, clock } = setup;
  const source = createRuntimeSource({
    title: 'a setup',
    sessions: runtime.sessions,
    clock,
    onProblem: () => undefined,
  });
  onTestFinished(() => source.close());
  return inspected({ source });
}

describe('a session that waits for a permission', () => {
  it.each(['allow', 'deny'] as const)(
    'is seen waiting, and goes on when it is answered from the page: %s',
    async (type) => {
      await using setup = await openSetup();
      const session = await setup.session(STEPS, { message: 'Clean up.', agent: { permission: { mode: 'ask' } } });
      await setup.runtime.wake(session);
      const { ask, server, problems } = await check(setup);
      const shown = JSON.parse((await ask(`/api/sessions/${session}`)).text) as InspectedSession;
      expect([shown.why.reasons[0]?.kind, shown.pendingActions.map(({ kind, toolName }) => [kind, toolName])]).toEqual([
        'permission',
        [['permission', 'shell_run']],
      ]);

      const body = JSON.stringify({ type, requestId: shown.pendingActions[0]?.requestId });
      const send = (): ReturnType<typeof ask> =>
        ask(`/api/sessions/${session}/answers`, {
          method: 'POST',
          body,
          headers: { origin: server.origin, 'content-type': 'application/json' },
        });
      const [first, second] = [await send(), await send()];
      expect([first.status, second.text]).toEqual([200, first.text]);
      const { receipt } = JSON.parse(first.text) as { readonly receipt: { readonly seq: number } };
      const answers = (await setup.log(session)).filter((event) => event.type === 'user.tool_confirmation');
      expect(answers.map(({ seq, data }) => [seq, (data as { readonly allowed: boolean }).allowed])).toEqual([
        [receipt.seq, type === 'allow'],
      ]);
      expect((await setup.runtime.sessions.status(session)).pendingActions).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  it('is told as records that come as its log grows, and can be asked for again', async () => {
    await using setup = await openSetup();
    const session = await setup.session(STEPS, { message: 'Clean up.', agent: { permission: { mode: 'ask' } } });
    await setup.runtime.wake(session);
    const { ask, open } = await check(setup);
    const text = (await ask(`/api/records?session=${session}`)).text.trim().split('\n');
    const [header, ...records] = text.map(
      (line) =>
        JSON.parse(line) as { readonly boot?: string; readonly s: number; readonly k?: string; readonly id?: string },
    );
    expect([header?.boot, records.map(({ s }) => s)]).toEqual([session, records.map((_, index) => index + 1)]);
    const chart = records.find(({ k }) => k === 'machine')?.id ?? '';
    expect((await ask(`/api/charts/${chart}?session=${session}`)).status).toBe(200);
    expect((await ask(`/api/charts/${chart}`)).status).toBe(404);

    const live = eventsOf(await open(`/api/live?session=${session}&from=${records.length + 1}`));
    expect((await live.next()).value).toMatchObject({
      event: 'hello',
      data: JSON.stringify({ boot: session, first: 1, last: records.length }),
    });
    await setup.runtime.sessions.send(session, { type: 'user.message', text: 'And then?' });
    const { value } = await live.next();
    expect([value?.event, value === undefined ? [] : numbersIn(value)[0]]).toEqual(['records', records.length + 1]);
    await live.return(undefined);

    const { events, head } = JSON.parse(
      (await ask(`/api/sessions/${session}/events?from=2&limit=3`)).text,
    ) as InspectedEvents;
    expect([events.map(({ seq }) => seq), head]).toEqual([
      [2, 3, 4],
      (await setup.runtime.sessions.status(session)).head,
    ]);
    const { steps } = JSON.parse((await ask(`/api/sessions/${session}/transcript?from=2&limit=3`)).text) as ShownSteps;
    expect(steps.map(({ seq, type }) => [seq, type])).toEqual(events.map(({ seq, type }) => [seq, type]));
    expect(JSON.parse((await ask(`/api/sessions/${session}/processes`)).text)).toEqual({ processes: [] });
    expect(JSON.parse((await ask(`/api/sessions/${session}/changes`)).text)).toEqual({ changes: [] });
    expect(JSON.parse((await ask('/api/about')).text)).toMatchObject({
      kind: 'store',
      title: 'a setup',
      hasSessions: true,
      canAnswer: true,
      range: { first: 1, last: 0 },
      header: { format: 'inspection-log/1' },
    });
  });

  it('that is not there is said to be not there', async () => {
    await using setup = await openSetup();
    const { ask } = await check(setup);
    const { status, text } = await ask('/api/sessions/0192f0c1-2345-7abc-8def-0123456789ab');
    expect([status, (JSON.parse(text) as { readonly code: string }).code]).toEqual([404, 'INSPECTOR_SESSION_UNKNOWN']);
  });
});
