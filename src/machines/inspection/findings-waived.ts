/** Puts the reasons that a chart gives beside the findings they are for, and complains of those that are for none. */
import { closestName } from '../closest-name.ts';
import { AUDIT_RULES } from './chart-audit.ts';
import type { AuditRule, Finding } from './chart-audit.ts';
import type { ChartWaiver } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import { named, opening } from './findings.ts';

export function withWaivers(index: ChartIndex, findings: readonly Finding[]): readonly Finding[] {
  const used = new Set<ChartWaiver>();
  const judged = findings.map((finding): Finding => {
    const waivers = index.chart.waivers.filter((waiver) => isFor(index, waiver, finding));
    for (const waiver of waivers) used.add(waiver);
    // The innermost reason is the most exact one.
    const [nearest] = waivers.toSorted(
      (one, other) =>
        index.lineage(other.state).length - index.lineage(one.state).length ||
        Number(one.event === '*') - Number(other.event === '*'),
    );
    return nearest === undefined ? finding : { ...finding, waived: nearest.because };
  });
  return [...judged, ...index.chart.waivers.filter((waiver) => !used.has(waiver)).map(needless)];
}

function isFor(index: ChartIndex, { rule, state, event }: ChartWaiver, finding: Finding): boolean {
  return rule === finding.rule && (event === '*' || event === finding.event) && index.isWithin(finding.state, state);
}

function needless({ rule, state, event }: ChartWaiver): Finding {
  const isRule = AUDIT_RULES.includes(rule as AuditRule);
  const meant = isRule ? undefined : closestName(rule, AUDIT_RULES);
  return {
    rule: 'unknown-waiver',
    // A reason for what is not there is a hole: it takes the weight from whatever comes later.
    severity: 'error',
    state,
    ...(event === '*' ? {} : { event }),
    says: isRule
      ? `${opening(state)} gives a reason for ${rule}${event === '*' ? '' : ` at ${event}`}, and there is nothing of that kind to excuse.`
      : `${named(state)} gives a reason for "${rule}", which is no rule of audits${meant === undefined ? '' : `; ${meant} is`}.`,
    hint: isRule
      ? 'Take the reason out: it would hide a finding that comes later.'
      : `Rules are: ${AUDIT_RULES.join(', ')}.`,
  };
}
