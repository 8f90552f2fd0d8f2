/**
 * What a status and a state mean to a reader: charts end in a final state called `failed`, whose status is `done` like
 * that of any other.
 */
import type {
  InspectedStatus,
  InspectedValue,
  InspectionRecord,
} from '../../../machines/inspection-log/inspection-record.ts';
import { visibleText } from './visible-text.ts';
import { leavesOfValue } from './words.ts';

export type Look = 'running' | 'waiting' | 'done' | 'error' | 'stopped';

const FAILED = /(?:^|[._])(?:failed|failure|error|errored|timed_?out|crashed|lost)$/i;
/** For a person, or for something that a person has to give. */
const WAITING = /(?:^|[._])(?:a?wait(?:ing|s)?(?:_|$|[A-Z])|requires_action$)/;

export function lookOf({
  status,
  value,
}: {
  readonly status: InspectedStatus;
  readonly value?: InspectedValue | undefined;
}): Look {
  if (status === 'stopped' || status === 'error') return status;
  const leaves = leavesOfValue(value);
  if (status === 'done') return leaves.some((leaf) => FAILED.test(leaf)) ? 'error' : 'done';
  return leaves.some((leaf) => WAITING.test(leaf)) ? 'waiting' : 'running';
}

/** `exit 1`; undefined, where a command ended well, or nothing is told of it. */
export function badExit(facts: Readonly<Record<string, string>> | undefined): string | undefined {
  const code = facts?.['exitCode'];
  return code === undefined || code === '0' ? undefined : `exit ${visibleText(code, 12)}`;
}

/** Whether the record tells that its actor has failed. */
export function isFailure(record: InspectionRecord): boolean {
  if (record.k === 'error') return true;
  return (record.k === 'step' || record.k === 'snap') && record.status !== 'active' && lookOf(record) === 'error';
}
