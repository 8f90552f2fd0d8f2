/**
 * What a log shows of charts is what its session did: all of it for the session's own chart, and nothing else for those
 * of its wakes and calls.
 */
import fc from 'fast-check';
import { Actor } from 'xstate';
import type { AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import { watchCharts } from '../../../src/machines/chart-watch.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { sessionMachine } from '../../../src/machines/session/session-machine.ts';
import { describeChart, transitionIds } from '../../../src/machines/inspection/describe-chart.ts';
import { SEEN_OF_WAKES, chartsToldByLogs, hiddenFromLogs, logHits } from '../../../src/machines/inspection/log-hits.ts';
import { wakeMachine } from '../../../src/machines/wake/wake-machine.ts';
import { seeActors } from '../../setup/chart-hits-actors.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

const tool = (name: string, changes: Partial<Tool['definition']> = {}): Tool => ({
  definition: {
    name,
    description: name,
    inputSchema: z.looseObject({}),
    ownership: 'managed',
    permissionPolicy: 'always_allow',
    readOnly: true,
    destructive: false,
    interruptBehavior: 'cancel',
    ...changes,
  },
  run: async () => {
    if (name === 'break') throw new Error('it broke');
    return name;
  },
});

const STEPS = {
  says: { text: 'Said.' },
  checks: { toolCalls: [{ name: 'check', input: {} }] },
  breaks: { toolCalls: [{ name: 'break', input: {} }] },
  launches: {
    toolCalls: [
      { name: 'launch', input: {} },
      { name: 'check', input: {} },
    ],
  },
  asks: { toolCalls: [{ name: 'ask_human', input: { question: 'Which?' } }] },
  misnames: { toolCalls: [{ name: 'nobody', input: {} }] },
  hands_over: {
    text: 'Later.',
    directive: { outcome: 'sleep', summary: 's', customToolRequest: { name: 'approve', input: {} } },
  },
} as const;

type Deed = 'message' | 'allow' | 'deny' | 'answer' | 'interrupt' | 'wake' | 'terminate';

async function act({ runtime }: SessionSetup, id: string, deed: Deed): Promise<unknown> {
  const { pendingActions } = await runtime.sessions.get(id);
  const permission = pendingActions.find(({ kind }) => kind === 'permission');
  const question = pendingActions.find(({ kind }) => kind === 'answer');
  switch (deed) {
    case 'message':
      return runtime.sessions.send(id, { type: 'user.message', text: 'More.' });
    case 'allow':
    case 'deny':
      return permission === undefined
        ? undefined
        : runtime.sessions.send(id, {
            type: 'user.tool_confirmation',
            requestId: permission.requestId,
            toolName: 'launch',
            allowed: deed === 'allow',
          });
    case 'answer':
      return question === undefined
        ? undefined
        : runtime.sessions.send(id, { type: 'user.answer', requestId: question.requestId, response: 'That one.' });
    case 'interrupt':
      return runtime.sessions.interrupt(id);
    case 'terminate':
      return runtime.sessions.terminate(id);
    case 'wake':
      return runtime.wake(id);
  }
}

interface Done {
  readonly log: readonly SessionEvent[];
  /** Ids of the transitions that were really taken, by chart. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A session that lives, watched. */
async function lived(steps: readonly (keyof typeof STEPS)[], deeds: readonly Deed[]): Promise<Done> {
  const taken = new Map<string, Set<string>>();
  const ids = new Map<AnyStateMachine, ReadonlyMap<object, string>>();
  const see = (machine: AnyStateMachine, definitions: readonly object[]): void => {
    const own = ids.get(machine) ?? transitionIds(machine);
    ids.set(machine, own);
    const all = taken.get(machine.id) ?? new Set<string>();
    taken.set(machine.id, all);
    for (const definition of definitions) all.add(own.get(definition) ?? '');
  };
  const unsee = seeActors(Actor, see);
  const unwatch = watchCharts((machine, definitions) =>
    machine === sessionMachine ? see(machine, definitions) : undefined,
  );
  try {
    await using setup = await openSetup({
      tools: [tool('check'), tool('break'), tool('launch', { permissionPolicy: 'always_ask' })],
    });
    const id = await setup.session(
      [...steps.map((step) => STEPS[step]), ...Array.from({ length: 30 }, () => STEPS.says)],
      { message: 'Go' },
    );
    // What is refused leaves no trace in the log.
    for (const deed of ['wake', ...deeds] as const) await act(setup, id, deed).catch(() => undefined);
    unwatch();
    return { log: await setup.log(id), taken };
  } finally {
    unwatch();
    unsee();
  }
}

const step = fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[]));
const deed = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom<Deed>('message', 'allow', 'deny', 'answer', 'wake', 'wake', 'wake', 'interrupt'),
  },
  { weight: 1, arbitrary: fc.constant<Deed>('terminate') },
);

describe('the log of a session', () => {
  it('shows of its chart exactly what the session took, and of wakes and calls nothing that was not', async () => {
    const told = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 5 }), fc.array(deed, { maxLength: 8 }), async (steps, deeds) => {
        const { log, taken } = await lived(steps, deeds);
        const seen = await logHits(log);
        const of = (chart: string): readonly string[] => Object.keys(seen.get(chart)?.transitions ?? {}).toSorted();
        expect(of('session')).toEqual([...(taken.get('session') ?? [])].toSorted());
        expect(of('wake').filter((id) => taken.get('wake')?.has(id) !== true)).toEqual([]);
        // Open calls of a session that is interrupted or terminated are closed in the log, with no actor at hand.
        expect(
          of('toolCall').filter((id) => !id.includes('|CANCEL|') && taken.get('toolCall')?.has(id) !== true),
        ).toEqual([]);
        for (const id of [...of('wake'), ...of('toolCall')]) told.add(id);
      }),
      {
        numRuns: 15,
        examples: [
          [
            ['checks', 'breaks', 'launches', 'says', 'asks'],
            ['allow', 'wake', 'message', 'wake', 'answer', 'wake'],
          ],
          [['launches'], ['deny', 'wake', 'terminate']],
        ],
      },
    );
    expect([...told]).toEqual(
      expect.arrayContaining([
        ...SEEN_OF_WAKES.filter((id) => id !== 'folding|done(fold)|1'),
        'executing|done(execute)|0',
        'executing|done(execute)|2',
        'awaiting_input|ANSWER|0',
        'awaiting_permission|DENY|0',
        'awaiting_permission|RUN|0',
      ]),
    );
  });

  it('is counted together with the logs of others, pairs within one log only', async () => {
    const { log } = await lived(['says'], ['message', 'wake']);
    const twice = await logHits(log, await logHits(log));
    expect(twice.get('session')).toEqual({
      chart: 'session',
      transitions: { 'idle|WAKE|0': 4, 'running|REST|0': 4 },
      pairs: { 'idle|WAKE|0 > running|REST|0': 4, 'running|REST|0 > idle|WAKE|0': 2 },
    });
    expect(Object.keys(twice.get('wake')?.pairs ?? {})).toContain(
      'assembling|done(assemble)|0 > running.stepping|done(step)|1',
    );
  });

  it('is read while somebody else watches charts, who hears nothing of it and goes on hearing of the rest', async () => {
    const { log } = await lived(['says'], []);
    let heard = 0;
    const unwatch = watchCharts(() => void (heard += 1));
    await logHits(log);
    unwatch();
    expect(heard).toBe(0);
  });

  it('shows nothing of transitions that are said to be hidden from it, all of which are there', () => {
    const ids = describeChart(wakeMachine).transitions.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([...SEEN_OF_WAKES, ...hiddenFromLogs('wake')]));
    expect(hiddenFromLogs('wake')).toContain('|STOP|0');
    expect(hiddenFromLogs('session')).toEqual([]);
    expect(chartsToldByLogs).toEqual(['session', 'toolCall', 'wake']);
  });
});
