/** What a reader makes of records who keeps to what they say, and nothing else. */
import type { Recorder } from '../../../src/actors/inspection/recorder.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';

export async function historyOf(recorder: Pick<Recorder, 'records'>, from = 1): Promise<readonly InspectionRecord[]> {
  const all: InspectionRecord[] = [];
  for await (const page of recorder.records(from)) all.push(...page);
  return all;
}

export interface Replayed {
  readonly id: string;
  readonly value: unknown;
  readonly status: string;
}

/** How each actor stands in the end, by key. */
export function replayed(records: readonly InspectionRecord[]): ReadonlyMap<string, Replayed> {
  const world = new Map<string, Replayed>();
  for (const record of records) {
    const known = world.get(record.a);
    if (record.k === 'actor') world.set(record.a, { id: record.id, value: record.value, status: record.status });
    else if (known !== undefined && record.k === 'step')
      world.set(record.a, { ...known, value: record.value, status: record.status });
    else if (known !== undefined && record.k === 'snap')
      world.set(record.a, { ...known, value: record.value, status: record.status });
  }
  return world;
}
