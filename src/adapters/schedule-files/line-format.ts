/**
 * One line of a schedule's file: a JSON object with a checksum over all that follows it.
 *
 *   {"crc":"1c291ca3","id":"<writer>:<n>","entry":{"kind":"record","record":{…}}}
 *
 * A write begins with a newline as well as ending with one, so what a crash has torn off stays alone on its line. A
 * line that does not check is such a remnant: it was never acknowledged, and readers pass over it.
 */
import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { scheduleHistory } from '../../machines/schedule/slot-ledger.ts';
import { slotRecord, storedRecord } from '../../machines/schedule/slot-record.ts';

const entrySchema = z.discriminatedUnion('kind', [
  /** The first line of a segment: what all segments before it add up to. */
  z.strictObject({
    kind: z.literal('head'),
    v: z.literal(1),
    scheduleId: z.string(),
    segment: z.number().int().positive(),
    history: scheduleHistory,
  }),
  z.strictObject({ kind: z.literal('record'), record: slotRecord }),
  /** Nothing after this line counts; the log goes on in the next segment. */
  z.strictObject({ kind: z.literal('seal') }),
]);

export type FileEntry = z.output<typeof entrySchema>;

export interface FileLine {
  /** Unique among all lines of all writers. */
  readonly id: string;
  readonly entry: FileEntry;
}

const lineSchema = z.object({ id: z.string(), entry: entrySchema });
const OPENING = '{"crc":"';
const CHECKSUM_CHARACTERS = 8;
const COVERED_FROM = OPENING.length + CHECKSUM_CHARACTERS + '",'.length;

export function encodeLines(lines: readonly FileLine[]): Buffer {
  return Buffer.from(`\n${lines.map(encodeLine).join('\n')}\n`);
}

function encodeLine({ id, entry }: FileLine): string {
  const covered = `"id":${JSON.stringify(id)},"entry":${JSON.stringify(entry)}}`;
  return `${OPENING}${checksum(covered)}",${covered}`;
}

/**
 * The line that `text` holds, or undefined for a remnant.
 * @throws RuntimeError category `storage` for a sound line that this version does not understand: to pass over it could
 * fire a slot twice
 */
export function decodeLine(text: string): FileLine | undefined {
  const covered = text.slice(COVERED_FROM);
  if (!text.startsWith(OPENING) || text.slice(OPENING.length, COVERED_FROM) !== `${checksum(covered)}",`)
    return undefined;
  return storedRecord(lineSchema, text);
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(CHECKSUM_CHARACTERS, '0');
}
