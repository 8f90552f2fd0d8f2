/** Why a chart took no transition for an event, in a sentence. */
import type { ChartDescription } from '../../../machines/inspection/chart-description.ts';
import { chartOutlook } from '../../../machines/inspection/chart-outlook.ts';
import type { ImpossibleEvent } from '../../../machines/inspection/chart-outlook.ts';
import { visibleText } from '../model/visible-text.ts';

const MOST_STATES = 6;

/** @param leaves where it was then */
export function ignoredBecause(chart: ChartDescription | undefined, leaves: readonly string[], type: string): string {
  const where = leaves.length === 0 ? 'this state' : visibleText(leaves.join(' · '));
  if (chart === undefined)
    return `No transition was taken in ${where}. The chart was not recorded, so there is no telling why.`;
  const { possible, impossible } = chartOutlook(chart, leaves);
  const other = impossible.find(({ event }) => event === type);
  if (other !== undefined) return `${sentenceOf(other, where)}${elsewhere(other)}`;
  const given = possible.find(({ event }) => event === type);
  if (given?.dependsOn !== undefined)
    return `${where} takes it only if ${visibleText(given.dependsOn)}, which did not hold.`;
  if (given !== undefined) return `${where} has a transition for it, yet none was taken.`;
  return type.startsWith('xstate.')
    ? `${where} does not wait for this any more.`
    : `No change of state: the chart says nothing of it, and stayed in ${where}.`;
}

export function sentenceOf({ why }: ImpossibleEvent, where: string): string {
  switch (why) {
    case 'final':
      return `${where} is final: nothing is taken any more.`;
    case 'forbidden':
      return `${where} takes it on purpose without doing anything.`;
    case 'no_transition':
      return `${where} has no transition for it.`;
  }
}

/** Where it would be taken. */
export function elsewhere({ takenIn }: ImpossibleEvent): string {
  if (takenIn.length === 0) return '';
  const named = takenIn.slice(0, MOST_STATES).map((id) => (id === '' ? 'any state' : visibleText(id)));
  return ` It would be in ${named.join(', ')}${takenIn.length > MOST_STATES ? ` and ${takenIn.length - MOST_STATES} more` : ''}.`;
}
