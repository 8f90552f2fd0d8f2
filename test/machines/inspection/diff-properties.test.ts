/**
 * Random machines with one thing changed: what the comparison calls no major change leaves all that was stored before
 * as it was.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import type { Chart } from '../../../src/machines/inspection/chart.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { diffCharts } from '../../../src/machines/inspection/diff-charts.ts';
import { restoreOldSnapshots } from '../../../src/machines/inspection/old-snapshots.ts';
import { modelRuns } from '../../support/model-runs.ts';
import { edited } from './planted-in-our-charts.ts';
import type { Part } from './planted-in-our-charts.ts';
import { FEW, randomChart } from './random-machines.ts';

/** What there is to change in a definition: entries of its objects and lists, each with where it stands. */
function places(part: Part): readonly { readonly part: Part; readonly key: string }[] {
  return Object.keys(part).flatMap((key) => {
    const inner = part[key];
    return isMeant(key)
      ? [{ part, key }, ...(typeof inner === 'object' && inner !== null ? places(inner as Part) : [])]
      : [];
  });
}

/** Ids and contexts are how the machine is made, and what an action does to the context is not told by its name. */
const isMeant = (key: string): boolean => !['id', 'context', 'actions', 'params', 'src'].includes(key);

function changeOne(config: Part, number: number, isTaken: boolean): void {
  const all = places(config);
  const chosen = all[number % all.length];
  if (chosen === undefined) return;
  const { part, key } = chosen;
  if (isTaken && Array.isArray(part)) part.splice(Number(key), 1);
  else if (isTaken) delete part[key];
  else if (Array.isArray(part)) part.reverse();
  else if (key === 'on') part[key] = { ...(part[key] as Part), D: {}, B: { guard: 'even', target: '#random.s0' } };
  else if (key === 'states') part[key] = { ...(part[key] as Part), more: { on: { A: '#random' } } };
  else part['on'] = { ...(part['on'] as Part | undefined), '*': {} };
}

/** What XState does not take for a machine is no version of it. */
function changedOnce(chart: Chart, number: number, isTaken: boolean): Chart | undefined {
  try {
    const after = edited(chart, (config) => changeOne(config, number, isTaken));
    auditChart(after, FEW);
    return after;
  } catch {
    return undefined;
  }
}

const description = ({ machine, events = {} }: Chart): ReturnType<typeof describeChart> =>
  describeChart(machine, { events });

describe('for every machine and every change of one thing', () => {
  it('what is no major change leaves each stored configuration, and each history that led to it, as it was', () => {
    fc.assert(
      fc.property(randomChart, fc.nat(), fc.boolean(), (before, number, isTaken) => {
        const after = changedOnce(before, number, isTaken);
        if (after === undefined) return;
        const diff = diffCharts(description(before), description(after));
        const old = restoreOldSnapshots(auditChart(before, FEW), after);
        if (diff.bump !== 'major') expect({ old, changes: diff.changes }).toEqual({ old: [], changes: diff.changes });
      }),
      modelRuns(30, { atMost: 100 }),
    );
  });
});
