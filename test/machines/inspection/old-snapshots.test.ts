import { assign, createMachine, setup } from 'xstate';
import type { AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import type { Chart } from '../../../src/machines/inspection/chart.ts';
import { restoreOldSnapshots } from '../../../src/machines/inspection/old-snapshots.ts';

interface States {
  readonly [name: string]: object;
}

function parcel(states: States): Chart {
  return { machine: createMachine({ id: 'parcel', initial: 'packed', states } as never) as AnyStateMachine };
}

const states = {
  packed: { on: { SEND: 'moving' } },
  moving: { initial: 'slow', states: { slow: { on: { HURRY: 'fast' } }, fast: {} }, on: { ARRIVE: 'there' } },
  there: { type: 'final' },
};
const before = auditChart(parcel(states));

function told(chart: Chart): string[] {
  return restoreOldSnapshots(before, chart).map(
    ({ bump, kind, before: place, says }) => `${bump} ${kind} ${place ?? ''}: ${says}`,
  );
}

describe('what an earlier version of a chart has stored', () => {
  it('restores where nothing has changed, and where there is more', () => {
    expect(told(parcel(states))).toEqual([]);
    expect(
      told(parcel({ ...states, lost: {}, moving: { ...states.moving, on: { ARRIVE: 'there', LOSE: 'lost' } } })),
    ).toEqual([]);
  });

  it('does not restore where a state has another name', () => {
    expect(
      told(
        parcel({
          ...states,
          moving: { initial: 'slow', states: { slow: { on: { HURRY: 'quick' } }, quick: {} }, on: states.moving.on },
        }),
      ),
    ).toEqual([
      expect.stringMatching(/^major snapshot moving\.fast: What was stored in moving\.fast cannot be gone on with: /),
      'major path moving.fast: The history SEND, HURRY led to moving.fast: now it is moving.quick.',
    ]);
  });

  it('does not restore where a state has got states of its own', () => {
    expect(
      told(parcel({ ...states, packed: { initial: 'open', states: { open: {} }, on: states.packed.on } })),
    ).toEqual([
      expect.stringMatching(/^major snapshot packed: /),
      'major path packed: The history without events led to packed: now it is packed.open.',
    ]);
  });

  it('ends elsewhere where an event leads elsewhere, is not taken any more or means nothing', () => {
    expect(
      told(parcel({ ...states, packed: { on: { SEND: 'there' } } })).filter((line) => line.startsWith('major path')),
    ).toEqual([
      'major path moving.slow: The history SEND led to moving.slow: now it is there.',
      expect.stringContaining('now nothing takes ARRIVE in there'),
      expect.stringContaining('now nothing takes HURRY in there'),
    ]);
    expect(
      told(
        parcel({
          ...states,
          moving: { initial: 'slow', states: { slow: {}, fast: { on: { HURRY: 'slow' } } }, on: states.moving.on },
        }),
      ),
    ).toContainEqual(expect.stringContaining('now nothing takes HURRY in moving.slow'));
    expect(
      told(
        parcel({
          packed: { on: { SEND: 'moving' } },
          moving: { ...states.moving, on: { LOSE: 'there' } },
          there: { type: 'final' },
        }),
      ),
    ).toContainEqual(expect.stringContaining('now ARRIVE means nothing in moving.slow'));
  });

  it('is read from what was persisted where a machine has context, guards and actors, and nothing is started or done by it', () => {
    let effects = 0;
    const counter = (target: string): Chart => ({
      input: 3,
      machine: setup({
        types: { context: {} as { left: number }, input: {} as number },
        guards: { isEmpty: ({ context }) => context.left === 0 },
        actions: { ring: () => void (effects += 1), take: assign(({ context }) => ({ left: context.left - 1 })) },
      }).createMachine({
        id: 'counter',
        context: ({ input }) => ({ left: input }),
        initial: 'counting',
        states: {
          counting: { on: { TAKE: [{ guard: 'isEmpty', target, actions: 'ring' }, { actions: 'take' }] } },
          [target]: { type: 'final', entry: 'ring' },
        },
      }) as AnyStateMachine,
    });
    const audit = auditChart(counter('empty'));
    expect(audit.configurations.at(-1)?.path).toEqual(['TAKE', 'TAKE', 'TAKE', 'TAKE']);
    expect(restoreOldSnapshots(audit, counter('empty'))).toEqual([]);
    expect(restoreOldSnapshots(audit, counter('out')).map(({ kind }) => kind)).toEqual(['snapshot', 'path']);
    expect(effects).toBe(0);
  });

  it.each(charts.map((chart) => [chart.machine.id, chart] as const))(
    'restores all of %s from its own audit',
    (_, chart) => {
      const audit = auditChart(chart);
      expect(audit.configurations.length).toBeGreaterThan(1);
      expect(restoreOldSnapshots(JSON.parse(JSON.stringify(audit)) as typeof audit, chart)).toEqual([]);
    },
  );
});
