/** An event as a tool shows it: whole where it is short, and else with its long texts cut, visibly. */
import * as z from 'zod';
import type { SessionEvent } from '../session/session-event.ts';
import { cutOutput } from '../turn/output-cut.ts';
import { MAX_EVENT_CHARACTERS, MAX_TEXT_CHARACTERS } from './session-tool-limits.ts';

export const eventView = z.strictObject({
  seq: z.number(),
  at: z.string(),
  type: z.string(),
  /** As the log has it. `isCut` says that something is left out. */
  data: z.unknown(),
  isCut: z.boolean().optional(),
});

export type EventView = Readonly<z.output<typeof eventView>>;

const MAX_DEPTH = 12;
const MAX_ITEMS = 100;

export function viewOf({ seq, at, type, data }: SessionEvent): EventView {
  const whole = JSON.stringify(data) ?? 'null';
  if (whole.length <= MAX_EVENT_CHARACTERS) return { seq, at, type, data };
  for (let room = MAX_TEXT_CHARACTERS; room >= 50; room = Math.floor(room / 4)) {
    const cut = shortened(data, room, 0);
    if (JSON.stringify(cut).length <= MAX_EVENT_CHARACTERS) return { seq, at, type, data: cut, isCut: true };
  }
  return { seq, at, type, data: cutOutput(whole, { maxCharacters: MAX_EVENT_CHARACTERS - 500 }), isCut: true };
}

function shortened(value: unknown, room: number, depth: number): unknown {
  if (typeof value === 'string') return cutOutput(value, { maxCharacters: room });
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return cutOutput(JSON.stringify(value), { maxCharacters: room });
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const shown = items.slice(0, MAX_ITEMS).map((item) => shortened(item, room, depth + 1));
    return items.length > shown.length
      ? [...shown, `[… ${items.length - shown.length} more items left out here …]`]
      : shown;
  }
  const fields: readonly (readonly [string, unknown])[] = Object.entries(value);
  return Object.fromEntries(fields.map(([key, each]) => [key, shortened(each, room, depth + 1)]));
}
