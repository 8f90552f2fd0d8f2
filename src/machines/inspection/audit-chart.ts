/**
 * Audits a chart: what every state does with every event, what can be reached, and what is wrong. The same chart gives
 * the same bytes.
 */
import type { ChartAudit, Finding } from './chart-audit.ts';
import type { Chart } from './chart.ts';
import { ROOT } from './chart-states.ts';
import type { ChartDescription } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import { indexChart } from './chart-index.ts';
import { describeChart } from './describe-chart.ts';
import { eventMatrix } from './event-matrix.ts';
import { EXPLORATION_LIMITS, exploreChart } from './explore-chart.ts';
import type { Exploration, ExplorationLimits } from './explore-chart.ts';
import { findingsOfEvents } from './findings-events.ts';
import { findingsOfLeaving } from './findings-leaving.ts';
import { findingsOfParts } from './findings-parts.ts';
import { findingsOfTransitions } from './findings-transitions.ts';
import { findingsOfXState } from './findings-xstate.ts';
import { findingsOfTrying } from './findings-trying.ts';
import { withWaivers } from './findings-waived.ts';
import type { AuditMatter, FindingsOf } from './findings.ts';
import { reachOf } from './reachability.ts';

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
 * @throws RuntimeError CHART_EXPECTED, CHART_NOTES_INVALID
 */
export function auditChart(chart: Chart, limits: ExplorationLimits = EXPLORATION_LIMITS): ChartAudit {
  const description = describeChart(chart.machine, { events: chart.events ?? {} });
  const index = indexChart(description);
  const matrix = eventMatrix(index);
  const exploration = exploreChart(chart, description, limits);
  const reach = reachOf(index, exploration);
  const reached = new Set([ROOT, ...reach.filter((each) => each.reach !== 'unreachable').map(({ state }) => state)]);
  const matter: AuditMatter = { chart, index, matrix, reach, exploration, reached };
  const findings = withWaivers(
    index,
    FINDINGS.flatMap((findingsOf) => findingsOf(matter)),
  ).toSorted(byWeight);
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
