import { describe, expect, it } from 'vitest';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import { disagreements } from './chart-agreement.ts';

describe.each(charts.map((chart) => ({ id: chart.machine.id, chart })))('the audit of the $id chart', ({ chart }) => {
  const audit = auditChart(chart);

  it('says of every leaf state and event what XState answers in every snapshot that can be found', () => {
    const { compared, found } = disagreements(chart, audit);
    expect(found).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(
      audit.chart.events.length * (audit.chart.states.filter(({ kind }) => kind === 'atomic').length - 1),
    );
  });

  it('reaches every state, by events that were really tried', () => {
    expect(audit.reach.filter(({ reach }) => reach !== 'witnessed')).toEqual([]);
    expect(audit.exploration.isComplete).toBe(true);
  });
});
