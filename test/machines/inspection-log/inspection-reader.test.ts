/** An inspection log reads the same however it comes, and damage costs no line but its own. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { MAX_LINE_CHARACTERS, recordSchemas } from '../../../src/machines/inspection-log/inspection-record.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { InspectionReader } from '../../../src/machines/inspection-log/inspection-reader.ts';
import type { ReadReport } from '../../../src/machines/inspection-log/read-report.ts';
import { readRecord } from '../../../src/machines/inspection-log/read-record.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { HEADER, linesOf, randomRecords } from './random-records.ts';

function read(...chunks: readonly string[]): {
  readonly records: readonly InspectionRecord[];
  readonly report: ReadReport;
} {
  const reader = new InspectionReader();
  const records = chunks.flatMap((chunk) => reader.read(chunk));
  return { records: [...records, ...reader.end()], report: reader.report };
}

const line = (record: object): string => `${JSON.stringify(record)}\n`;
const emit = (s: number): string => line({ s, t: 1, a: 'b:x:0', k: 'emit', type: 'said' });
const numbers = (records: readonly InspectionRecord[]): readonly number[] => records.map(({ s }) => s);

/** Cuts a text at each of the places. */
function pieces(text: string, cuts: readonly number[]): readonly string[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((one, other) => one - other), text.length];
  return places.slice(1).map((place, index) => text.slice(places[index], place));
}

describe('a log', () => {
  it('reads the same in whatever pieces it comes', () => {
    fc.assert(
      fc.property(randomRecords(30), fc.array(fc.nat(10_000)), (records, cuts) => {
        const text = HEADER + linesOf(records).join('');
        const found = read(...pieces(text, cuts));
        expect(found.records).toEqual(records);
        expect(found.report).toEqual(read(text).report);
        expect(found.report).toMatchObject({
          records: records.length,
          broken: { count: 0 },
          gaps: { count: 0 },
          outOfOrder: 0,
          hasTornTail: false,
        });
      }),
    );
  });

  it('loses no good line, whatever happens to the one before it', () => {
    const damage = fc.array(
      fc.record({
        at: fc.nat(10_000),
        drop: fc.nat(9),
        put: fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('0', '9', '99', '{', '\r', '}', '"')),
      }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(
        randomRecords(20),
        fc.array(fc.option(damage, { nil: undefined, freq: 2 }), { minLength: 20, maxLength: 20 }),
        (records, damages) => {
          const lines = linesOf(records);
          const isHit = (index: number): boolean => damages[index] !== undefined && index % 3 === 1;
          const text = lines.map((each, index) =>
            isHit(index)
              ? `${(damages[index] ?? []).reduce((torn, { at, drop, put }) => torn.slice(0, at % torn.length) + put + torn.slice((at % torn.length) + drop), each.slice(0, -1)) || '?'}\n`
              : each,
          );
          const found = read(HEADER, ...text);
          for (const [index, record] of records.entries())
            if (!isHit(index)) expect(found.records).toContainEqual(record);
          expect(numbers(found.records)).toEqual(
            [...new Set(numbers(found.records))].toSorted((one, other) => one - other),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps the last line, where it is whole without its end, and says that it is torn', () => {
    expect(read(HEADER, emit(1), emit(2).trimEnd())).toMatchObject({
      records: [{ s: 1 }, { s: 2 }],
      report: { hasTornTail: true, broken: { count: 0 } },
    });
    expect(read(HEADER, emit(1), emit(2).slice(0, 9))).toMatchObject({
      records: [{ s: 1 }],
      report: { hasTornTail: true, broken: { count: 1, places: [{ line: 3, because: 'expected JSON' }] } },
    });
  });

  it('says where a line is broken, and why', () => {
    const { records, report } = read(
      HEADER,
      emit(1),
      '[]\n',
      '\n',
      '{"s":2}\n',
      line({ s: 2, t: 1, a: 'x', k: 'step', type: 'GO', taken: 'none', value: 'a', status: 'active' }),
      emit(2),
    );
    expect(numbers(records)).toEqual([1, 2]);
    expect(report.broken.places).toEqual([
      { line: 3, because: 'expected an object' },
      { line: 5, because: 'k: expected the kind of the record' },
      { line: 6, because: expect.stringContaining('taken') },
    ]);
  });

  it('passes over kinds and fields that it does not know, and counts them', () => {
    const { records, report } = read(
      HEADER,
      line({ s: 1, t: 1, a: 'x', k: 'dream', deep: 1 }),
      line({ s: 2, t: 1, a: 'x', k: 'emit', type: 'said', mood: 'glad' }),
      line({ s: 3, t: 1, a: 'x', k: 'toString' }),
    );
    expect(records).toEqual([{ s: 2, t: 1, a: 'x', k: 'emit', type: 'said' }]);
    expect(report.unknownKinds).toEqual({ count: 2, names: ['dream', 'toString'] });
    expect(report.unknownFields).toEqual({ count: 1, names: ['mood'] });
  });

  it('says which numbers are missing, and not that it begins late', () => {
    const { records, report } = read(HEADER, emit(5), emit(6), emit(9), emit(10), emit(20));
    expect(numbers(records)).toEqual([5, 6, 9, 10, 20]);
    expect(report.gaps).toEqual({
      count: 2,
      missing: 11,
      places: [
        { after: 6, before: 9 },
        { after: 10, before: 20 },
      ],
    });
  });

  it('does not believe a number that what follows contradicts', () => {
    const { records, report } = read(
      HEADER,
      emit(1),
      emit(2),
      emit(3_000),
      emit(4),
      emit(9_000),
      emit(9_500),
      emit(7),
      emit(8),
      emit(8),
    );
    expect(numbers(records)).toEqual([1, 2, 4, 7, 8]);
    expect(report).toMatchObject({ outOfOrder: 4, gaps: { count: 2, missing: 3 } });
  });

  it('reads on where every number jumps', () => {
    const jumping = Array.from({ length: 100 }, (_, index) => 2 + index * 2);
    expect(numbers(read(HEADER, ...jumping.map(emit)).records)).toEqual(jumping);
  });

  it('passes over a line that is too long, without keeping it', () => {
    const long = 'x'.repeat(700_000);
    const { records, report } = read(HEADER, emit(1), long, long, long, '\n', emit(2));
    expect(numbers(records)).toEqual([1, 2]);
    expect(report.broken.places).toEqual([
      { line: 3, because: `expected a line of at most ${MAX_LINE_CHARACTERS} characters` },
    ]);
  });

  it('holds states that are nested without end to be broken', () => {
    const nested = `${'{"a":'.repeat(50_000)}"b"${'}'.repeat(50_000)}`;
    expect(
      read(HEADER, `{"s":1,"t":1,"a":"x","k":"snap","status":"done","value":${nested}}\n`, emit(2)).report.broken.count,
    ).toBe(1);
  });

  it('reads what Windows wrote', () => {
    expect(numbers(read(`\uFEFF${HEADER.replace('\n', '\r\n')}`, emit(1).replace('\n', '\r\n')).records)).toEqual([1]);
  });
});

it('takes no record whose number leaves no room for others to be counted', () => {
  const reader = new InspectionReader();
  const numbered = (s: number): string => `${JSON.stringify({ k: 'cancel', s, t: 1, a: 'b:x:0', id: 'timer' })}\n`;
  reader.read(HEADER);
  reader.read(numbered(1) + numbered(2 ** 53 - 1));
  reader.end();
  expect(reader.report.broken.places).toMatchObject([{ line: 3 }]);
});

describe('what is no inspection log', () => {
  it.each([
    ['nothing', '', 'it is empty'],
    ['other text', 'hello\n', 'its first line is no JSON'],
    ['a later format', '{"format":"inspection-log/2","boot":"b"}\n', 'it says that it is "inspection-log/2"'],
    ['a session log', '{"crc":"426bd74c","len":149,"record":{}}\n', 'its first line is no header'],
    ['a header without a boot', '{"format":"inspection-log/1","startedAt":1}\n', 'boot'],
    ['a list', '[1]\n', 'its first line is no header'],
    ['a line without end', 'x'.repeat(MAX_LINE_CHARACTERS + 5), 'expected a line of at most'],
  ])('is refused: %s', (_name, text, because) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        code: 'INSPECTION_LOG_REFUSED',
        category: 'validation',
        message: expect.stringContaining(because) as string,
      }),
    );
  });

  it('is refused before its first line has an end, which may never come', () => {
    const reader = new InspectionReader();
    expect(reader.read('x'.repeat(MAX_LINE_CHARACTERS))).toEqual([]);
    expect(() => reader.read('x')).toThrow(
      expect.objectContaining({
        code: 'INSPECTION_LOG_REFUSED',
        message: expect.stringContaining('expected a line of at most') as string,
      }),
    );
  });

  it('stays refused, and a log that has ended takes no more', () => {
    const reader = new InspectionReader();
    expect(() => reader.read('no\n')).toThrow('its first line is no JSON');
    expect(() => reader.read(HEADER)).toThrow('its first line is no JSON');
    const ended = new InspectionReader();
    ended.read(HEADER);
    expect(ended.header).toEqual({ format: 'inspection-log/1', boot: 'b1', startedAt: 1_000 });
    ended.end();
    expect(() => ended.read('')).toThrow(expect.objectContaining({ code: 'INSPECTION_LOG_ENDED' }));
  });
});

describe('the check by hand', () => {
  it('accepts nothing that the schemas refuse, and refuses nothing that they accept', () => {
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(
        '',
        'x'.repeat(501),
        0,
        -1,
        1.5,
        null,
        true,
        false,
        9e15,
        2 ** 53,
        [],
        [1],
        ['a'],
        { a: { b: 'c' } },
        { a: [] },
        'active',
        'gone',
        {},
        { label: 'x'.repeat(501) },
        { ['x'.repeat(501)]: 'a' },
        Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`fact ${index}`, 'a'])),
        JSON.parse('{"__proto__":"a"}'),
        1e308,
      ),
    );
    const change = fc.option(
      fc.record({
        field: fc.constantFrom(
          's',
          't',
          'a',
          'k',
          'e',
          'from',
          'type',
          'taken',
          'value',
          'status',
          'name',
          'cut',
          'message',
          'code',
          'error',
          'output',
          'id',
          'parent',
          'kind',
          'chart',
          'facts',
          'delayMs',
          'dueAt',
        ),
        value: fc.option(odd, { nil: undefined }),
      }),
      { nil: undefined, freq: 3 },
    );
    fc.assert(
      fc.property(randomRecords(1, 1), change, ([record], changed) => {
        const changedRecord = { ...record, ...(changed === undefined ? {} : { [changed.field]: changed.value }) };
        const stored = JSON.parse(JSON.stringify(changedRecord)) as { readonly k?: string };
        const schema = Object.entries(recordSchemas).find(([kind]) => kind === stored.k)?.[1];
        const parsed = schema?.safeParse(stored);
        const found = readRecord(stored);
        expect('record' in found ? found.record : undefined).toEqual(
          parsed?.success === true ? parsed.data : undefined,
        );
      }),
      { numRuns: 4_000 },
    );
  });

  it('leaves the charts to the schemas', () => {
    const chart = JSON.parse(JSON.stringify(describeChart(taskMachine))) as unknown;
    expect(readRecord({ s: 1, t: 1, a: 'x', k: 'machine', id: 'task', chart })).toEqual({
      record: { s: 1, t: 1, a: 'x', k: 'machine', id: 'task', chart },
      unknownFields: [],
    });
    expect(readRecord({ s: 1, t: 1, a: 'x', k: 'machine', id: 'task', chart: {} })).toMatchObject({
      because: expect.stringContaining('chart') as string,
    });
  });
});
