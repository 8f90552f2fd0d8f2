/**
 * Events that a chart ignored although another of its states takes them. Where the chart has a registry of its events,
 * it says itself what is ignored on purpose; in any other this is a transition that may be missing.
 */
import type { ChartDescription } from '../../../machines/inspection/chart-description.ts';
import { chartOutlook } from '../../../machines/inspection/chart-outlook.ts';
import { leavesOfValue } from '../../../machines/inspection-log/actor-outcome.ts';
import type { InspectionRecord, InspectionRecordOf } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';

const NOWHERE: readonly string[] = [];

/** The same few states and events come again and again. */
const known = new WeakMap<ChartDescription, Map<string, readonly string[]>>();

/** The states that would have taken what this record says was ignored; none of any other record. */
export function missedIn(record: InspectionRecord, timeline: InspectionTimeline): readonly string[] {
  if (record.k !== 'step' || record.taken.length > 0 || record.status !== 'active') return NOWHERE;
  const id = timeline.at(Number.MAX_SAFE_INTEGER).actor(record.a)?.chart;
  const chart = id === undefined ? undefined : timeline.chart(id);
  return chart === undefined ? NOWHERE : takenElsewhere(chart, record);
}

export function takenElsewhere(
  chart: ChartDescription,
  { value, type }: Pick<InspectionRecordOf<'step'>, 'value' | 'type'>,
): readonly string[] {
  const answers = known.get(chart) ?? new Map<string, readonly string[]>();
  known.set(chart, answers);
  const key = JSON.stringify([value, type]);
  const answer = answers.get(key) ?? statesFor(chart, leavesOfValue(value), type);
  answers.set(key, answer);
  return answer;
}

function statesFor(chart: ChartDescription, leaves: readonly string[], type: string): readonly string[] {
  if (chart.events.some(({ isDeclared }) => isDeclared)) return NOWHERE;
  const found = chartOutlook(chart, leaves).impossible.find(({ event }) => event === type);
  return found?.why === 'no_transition' ? found.takenIn : NOWHERE;
}

/** `only shipping takes it`. @param states there is at least one */
export function takersText(states: readonly string[]): string {
  const [first = '', second] = states;
  if (second === undefined) return `only ${first} takes it`;
  return states.length === 2 ? `${first} and ${second} take it` : `${first} and ${states.length - 1} others take it`;
}
