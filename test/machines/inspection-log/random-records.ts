/** Random records: mostly of lives that make sense, and some that do not. */
import fc from 'fast-check';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';

const VALUES = ['idle', 'busy', { busy: 'thinking' }, { busy: { left: 'a', right: 'b' } }] as const;
const BOOT = 'b1:x:';

const key = fc.integer({ min: 0, max: 7 }).map((number) => `${BOOT}${number}`);
const value = fc.constantFrom(...VALUES);
const status = fc.constantFrom('active', 'active', 'active', 'active', 'done', 'error', 'stopped');
const event = fc.integer({ min: 1, max: 12 });
const option = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });

const body = fc.oneof(
  fc.record({
    k: fc.constant('actor'),
    a: key,
    parent: option(key),
    id: fc.constantFrom('task', 'Wake 1', 'call'),
    kind: option(fc.constant('task')),
    chart: option(fc.constant('task')),
    value: option(value),
    status,
    facts: option(fc.constantFrom({ label: 'Ünder' }, { taskId: 't1' })),
  }),
  fc.record({
    k: fc.constant('event'),
    a: key,
    e: event,
    from: option(key),
    type: fc.constantFrom('START', 'after.1'),
  }),
  fc.record({ k: fc.constant('event'), a: key, e: event, from: option(key), type: fc.constantFrom('START', 'STOP') }),
  fc.record({
    k: fc.constant('step'),
    a: key,
    e: option(event),
    type: fc.constantFrom('START', 'STOP'),
    taken: fc.constantFrom<readonly string[]>([], ['idle|START|0'], ['busy|STOP|0', 'busy.left|STOP|0']),
    value,
    status,
  }),
  fc.record({ k: fc.constant('action'), a: key, name: fc.constant('note') }),
  fc.record({ k: fc.constant('emit'), a: key, type: fc.constant('said'), data: fc.jsonValue({ maxDepth: 1 }) }),
  fc.record({
    k: fc.constant('timer'),
    a: key,
    id: fc.constant('after.1'),
    delayMs: fc.constant(5),
    dueAt: fc.constant(7),
  }),
  fc.record({ k: fc.constant('cancel'), a: key, id: fc.constant('after.1') }),
  fc.record({
    k: fc.constant('snap'),
    a: key,
    value: option(value),
    status,
    error: option(fc.constant({ message: 'broke' })),
  }),
  fc.record({ k: fc.constant('error'), a: key, message: fc.constant('it broke') }),
);

/** Numbered from 1; what is undefined is left out, as JSON does. */
export function randomRecords(maxLength: number, minLength = 0): fc.Arbitrary<readonly InspectionRecord[]> {
  return fc
    .array(body, { minLength, maxLength })
    .map((bodies) =>
      bodies.map(
        (each, index) => JSON.parse(JSON.stringify({ s: index + 1, t: 1_000 + index, ...each })) as InspectionRecord,
      ),
    );
}

export const HEADER = '{"format":"inspection-log/1","boot":"b1","startedAt":1000}\n';

export function linesOf(records: readonly InspectionRecord[]): readonly string[] {
  return records.map((record) => `${JSON.stringify(record)}\n`);
}
