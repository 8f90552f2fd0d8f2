/**
 * learnings.jsonl: one record a line, with a checksum over it. Records are only ever added, each behind a line end of
 * its own, so that a torn one stays alone on its line.
 *
 *   {"sum":"0123456789abcdef","record":{"type":"captured","learning":{…}}}
 */
import { z } from 'zod';
import { learningRecord } from '../../machines/memory/learning-ledger.ts';
import type { LearningRecord } from '../../machines/memory/learning-ledger.ts';
import { sha256Of } from './storage.ts';

const SUM_CHARACTERS = 16;

const line = z.strictObject({ sum: z.string().length(SUM_CHARACTERS), record: z.unknown() });

export function lineOf(record: LearningRecord): string {
  const text = JSON.stringify(record);
  return `{"sum":"${sumOf(text)}","record":${text}}\n`;
}

export interface LinesReading {
  readonly records: readonly LearningRecord[];
  readonly damaged: number;
}

/** What lines hold, and how many cannot be read. Empty lines do not count. */
export function readLines(text: string): LinesReading {
  const records: LearningRecord[] = [];
  let damaged = 0;
  for (const each of text.split('\n')) {
    if (each.trim() === '') continue;
    const record = recordOf(each);
    if (record === undefined) damaged += 1;
    else records.push(record);
  }
  return { records, damaged };
}

function recordOf(text: string): LearningRecord | undefined {
  try {
    const { sum, record } = line.parse(JSON.parse(text));
    return sum === sumOf(JSON.stringify(record)) ? learningRecord.parse(record) : undefined;
  } catch {
    return undefined;
  }
}

function sumOf(text: string): string {
  return sha256Of(text).slice(0, SUM_CHARACTERS);
}
