/**
 * Audits a chart: what every state does with every event, what can be reached, and what is wrong. The same chart gives
 * the same bytes.
 */
import { closestName } from '../closest-name.ts';
import type { AuditRule, ChartAudit, Finding, MatrixCell } from './chart-audit.ts';
import { AUDIT_RULES } from './chart-audit.ts';
import type { ChartDescription, ChartState, ChartTransition, ChartWaiver } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import { indexChart } from './chart-index.ts';
import { ROOT } from './chart-states.ts';
import type { Chart } from './chart.ts';
import { describeChart } from './describe-chart.ts';
import { candidatesFor } from './event-match.ts';
import type { Exploration } from './explore-chart.ts';
import type { ExplorationLimits } from './exploration-limits.ts';
import { exploreChart } from './explore-chart.ts';
import { findingsOfEvents } from './findings-events.ts';
import { findingsOfLeaving } from './findings-leaving.ts';
import { findingsOfParts } from './findings-parts.ts';
import { findingsOfTransitions } from './findings-transitions.ts';
import { findingsOfTrying } from './findings-trying.ts';
import { findingsOfXState } from './findings-xstate.ts';
import type { AuditMatter, FindingsOf } from './findings.ts';
import { named, opening } from './findings.ts';
import { reachOf } from './reachability.ts';

// Puts the reasons that a chart gives beside the findings they are for, and complains of those that are for none.

function withWaivers(index: ChartIndex, findings: readonly Finding[]): readonly Finding[] {
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

// What every leaf state does with every event, read off the chart without running it.
//
// A leaf is asked first, then its outer states, as XState does. Of a parallel state the regions are not multiplied with
// each other: a cell tells of one leaf and its outer states, and names what the regions beside it may take (`beside`).
// XState asks the outer states of a parallel one only when none of its regions took the event.

function eventMatrix(index: ChartIndex): readonly MatrixCell[] {
  return index.leaves.flatMap((leaf) => index.chart.events.map(({ type }) => cellOf(index, leaf, type)));
}

function cellOf(index: ChartIndex, leaf: ChartState, event: string): MatrixCell {
  const offered = index
    .lineage(leaf.id)
    .map(({ id }) => ({ id, candidates: candidatesFor(event, index.transitionsOf(id)) }));
  const tried: ChartTransition[] = [];
  const masks: string[] = [];
  for (const { id, candidates } of offered) {
    if (tried.some(isCertain)) {
      if (candidates.some(({ forbids }) => !forbids)) masks.push(id);
      continue;
    }
    const certain = candidates.findIndex(isCertain);
    tried.push(...(certain === -1 ? candidates : candidates.slice(0, certain + 1)));
  }
  const [first] = tried;
  const beside = besideOf(index, leaf.id, event);
  return {
    state: leaf.id,
    event,
    class: classOf(index, leaf, tried),
    transitions: tried.map(({ id }) => id),
    ...(first === undefined || first.source === leaf.id ? {} : { inheritedFrom: first.source }),
    masks,
    ...(beside.length === 0 ? {} : { beside }),
  };
}

function isCertain({ guard }: ChartTransition): boolean {
  return guard === undefined;
}

function classOf(
  { chart, state }: ChartIndex,
  leaf: ChartState,
  tried: readonly ChartTransition[],
): MatrixCell['class'] {
  // Where the machine itself ends, nothing is taken any more, whatever is written there.
  if (leaf.kind === 'final' && leaf.parent === ROOT && state(ROOT).kind === 'compound') return 'final';
  const last = tried.at(-1);
  if (last === undefined) return leaf.kind === 'final' ? 'final' : chart.unhandled.as;
  if (!isCertain(last)) return 'conditional';
  if (!last.forbids) return 'handled';
  return tried.length === 1 ? 'forbidden' : 'conditional';
}

/** What states of the regions beside the leaf may take. */
function besideOf(index: ChartIndex, leaf: string, event: string): readonly string[] {
  const others = index.regionsBeside(leaf).map(({ other }) => other);
  if (others.length === 0) return [];
  const inside = index.chart.states.filter(({ id }) => others.some((region) => index.isWithin(id, region)));
  return inside.flatMap(({ id }) => candidatesFor(event, index.transitionsOf(id)).map((candidate) => candidate.id));
}

/** That a transition stands behind the same guard says why it was never taken. */
function withoutEchoes(findings: readonly Finding[]): readonly Finding[] {
  const repeated = new Set(findings.flatMap((each) => (each.rule === 'repeated-guard' ? [each.transition] : [])));
  return findings.filter(({ rule, transition }) => rule !== 'unused-transition' || !repeated.has(transition));
}

const FINDINGS: readonly FindingsOf[] = [
  findingsOfTrying,
  findingsOfEvents,
  findingsOfLeaving,
  findingsOfTransitions,
  findingsOfParts,
  findingsOfXState,
];

/**
 * Nothing of the machine is started and none of its actions runs; guards, and what changes the context, are asked with
 * the samples that the chart gives. One that throws is a finding.
 * @throws RuntimeError CHART_EXPECTED, CHART_NOTES_INVALID, EXPLORATION_LIMITS_INVALID
 */
export function auditChart(chart: Chart, limits?: ExplorationLimits): ChartAudit {
  const description = describeChart(chart.machine, { events: chart.events ?? {} });
  const index = indexChart(description);
  const matrix = eventMatrix(index);
  const exploration = exploreChart(chart, description, limits);
  const reach = reachOf(index, exploration);
  const reached = new Set([ROOT, ...reach.filter((each) => each.reach !== 'unreachable').map(({ state }) => state)]);
  const matter: AuditMatter = { chart, index, matrix, reach, exploration, reached };
  const findings = withWaivers(index, withoutEchoes(FINDINGS.flatMap((findingsOf) => findingsOf(matter)))).toSorted(
    byWeight,
  );
  return {
    format: 'chart-audit/1',
    chart: description,
    ...(chart.about === undefined ? {} : { about: chart.about }),
    matrix,
    reach,
    configurations: configurationsOf(exploration),
    findings,
    ...partsOf(description),
    exploration: {
      snapshots: exploration.snapshots.length,
      isComplete: !exploration.isCut && exploration.failures.length === 0,
      taken: [...exploration.taken.keys()].toSorted(),
    },
    guards: guardsOf(description, exploration),
    actions: actionsOf(description),
    counts: countsOf(index, findings),
  };
}

const WEIGHT: Readonly<Record<Finding['severity'], number>> = { error: 0, warning: 1, note: 2 };

function byWeight(one: Finding, other: Finding): number {
  const texts = ({ state, rule, event = '', transition = '', says }: Finding): readonly string[] => [
    state,
    rule,
    event,
    transition,
    says,
  ];
  const [mine, theirs] = [texts(one), texts(other)];
  const difference = mine.findIndex((text, place) => text !== theirs[place]);
  return (
    WEIGHT[one.severity] - WEIGHT[other.severity] ||
    (difference === -1 ? 0 : (mine[difference] ?? '') < (theirs[difference] ?? '') ? -1 : 1)
  );
}

function configurationsOf({ snapshots }: Exploration): ChartAudit['configurations'] {
  const seen = new Map<string, ChartAudit['configurations'][number]>();
  for (const { snapshot, leaves, path } of snapshots) {
    const key = JSON.stringify(snapshot.value);
    if (!seen.has(key)) seen.set(key, { value: snapshot.value, leaves, path });
  }
  return [...seen.values()];
}

function partsOf({ states, transitions }: ChartDescription): Pick<ChartAudit, 'timers' | 'invokes'> {
  return {
    timers: transitions.flatMap(({ id, source, kind, delay }) =>
      kind === 'delayed' && delay !== undefined ? [{ state: source, delay, transition: id }] : [],
    ),
    invokes: states.flatMap(({ id: state, invokes }) =>
      invokes.map(({ id, source, handlesDone, handlesError }) => ({
        state,
        id,
        source: source.name,
        handlesDone,
        handlesError,
      })),
    ),
  };
}

function guardsOf({ transitions }: ChartDescription, { explored: { answers } }: Exploration): ChartAudit['guards'] {
  const used = transitions.flatMap(({ id, guard }) => (guard === undefined ? [] : [{ name: guard.name, by: id }]));
  return byName(used).map(({ name, usedBy }) => ({
    name,
    usedBy,
    hasHeld: usedBy.some((id) => answers.get(id)?.hasHeld === true),
    hasFailed: usedBy.some((id) => answers.get(id)?.hasFailed === true),
  }));
}

function actionsOf({ states, transitions }: ChartDescription): ChartAudit['actions'] {
  return byName([
    ...states.flatMap(({ id, entry, exit, initialActions = [] }) =>
      [...entry, ...exit, ...initialActions].map(({ name }) => ({ name, by: id })),
    ),
    ...transitions.flatMap(({ id, actions }) => actions.map(({ name }) => ({ name, by: id }))),
  ]);
}

function byName(
  used: readonly { readonly name: string; readonly by: string }[],
): readonly { readonly name: string; readonly usedBy: readonly string[] }[] {
  const names = [...new Set(used.map(({ name }) => name))].toSorted();
  return names.map((name) => ({
    name,
    usedBy: [...new Set(used.filter((each) => each.name === name).map(({ by }) => by))],
  }));
}

function countsOf({ chart, leaves }: ChartIndex, findings: readonly Finding[]): ChartAudit['counts'] {
  const count = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity && finding.waived === undefined).length;
  return {
    states: chart.states.filter(({ id }) => id !== ROOT).length,
    leaves: leaves.length,
    transitions: chart.transitions.length,
    events: chart.events.length,
    errors: count('error'),
    warnings: count('warning'),
    notes: count('note'),
    waived: findings.filter(({ waived }) => waived !== undefined).length,
  };
}
