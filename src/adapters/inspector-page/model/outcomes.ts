/** How actors go on and how they have ended, as tones of the page: each has a color, a sign and a word. */
import { isBad, leavesOfValue, outcomeOf } from '../../../machines/inspection-log/actor-outcome.ts';
import type { ActorOutcome } from '../../../machines/inspection-log/actor-outcome.ts';
import type {
  InspectedStatus,
  InspectedValue,
  InspectionRecord,
} from '../../../machines/inspection-log/inspection-record.ts';
import { visibleText } from './visible-text.ts';

export type Tone = 'running' | 'waiting' | ActorOutcome;

export const TONE_WORDS: Readonly<Record<Tone, string>> = {
  running: 'active',
  waiting: 'waits',
  completed: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
  refused: 'refused',
  unknown: 'unknown',
};

/** For a person, or for something that a person has to give. */
const WAITING = /(?:^|[._])(?:a?wait(?:ing|s)?(?:_|$|[A-Z])|requires_action$)/;

export function toneOf({
  status,
  value,
  outcome,
  facts,
}: {
  readonly status: InspectedStatus;
  readonly value?: InspectedValue | undefined;
  readonly outcome?: ActorOutcome | undefined;
  readonly facts?: Readonly<Record<string, string>> | undefined;
}): Tone {
  const ended = outcome ?? outcomeOf({ status, value });
  if (ended !== undefined) return ended === 'completed' && badExit(facts) !== undefined ? 'failed' : ended;
  return leavesOfValue(value).some((leaf) => WAITING.test(leaf)) ? 'waiting' : 'running';
}

/** `exit 1`; undefined, where a command ended well, or nothing is told of it. */
export function badExit(facts: Readonly<Record<string, string>> | undefined): string | undefined {
  const code = facts?.['exitCode'];
  return code === undefined || code === '0' ? undefined : `exit ${visibleText(code, 12)}`;
}

/** How its actor has ended, as far as the record alone tells. */
export function outcomeIn(record: InspectionRecord): ActorOutcome | undefined {
  if (record.k === 'error') return 'failed';
  return record.k === 'step' || record.k === 'snap' || record.k === 'actor' ? outcomeOf(record) : undefined;
}

/** Whether the record tells that its actor has failed, or that what became of it is unknown. */
export function isFailure(record: InspectionRecord): boolean {
  return isBad(outcomeIn(record));
}
