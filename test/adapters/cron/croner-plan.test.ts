import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCronerPlan } from '../../../src/adapters/cron/croner-plan.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';

const cron = createCronerPlan();

function timesAfter(cronExpression: string, from: string, count: number, timezone = 'UTC'): string[] {
  const times = cron.read({ cronExpression, timezone });
  const found: string[] = [];
  for (let at = times.next(Date.parse(from)); at !== undefined && found.length < count; at = times.next(at))
    found.push(new Date(at).toISOString());
  return found;
}

function refusal(read: () => unknown): RuntimeError {
  try {
    read();
  } catch (thrown) {
    if (RuntimeError.is(thrown)) return thrown;
  }
  throw new Error('it was accepted');
}

describe('a cron expression', () => {
  it.each([
    [
      '*/20 * * * *',
      '2026-01-01T00:00:00Z',
      ['2026-01-01T00:20:00.000Z', '2026-01-01T00:40:00.000Z', '2026-01-01T01:00:00.000Z'],
    ],
    [
      '*/30 * * * * *',
      '2026-01-01T00:00:00Z',
      ['2026-01-01T00:00:30.000Z', '2026-01-01T00:01:00.000Z', '2026-01-01T00:01:30.000Z'],
    ],
    [
      '0 9-11 * * *',
      '2026-01-01T00:00:00Z',
      ['2026-01-01T09:00:00.000Z', '2026-01-01T10:00:00.000Z', '2026-01-01T11:00:00.000Z'],
    ],
    ['0 9 * * MON-FRI', '2026-01-02T12:00:00Z', ['2026-01-05T09:00:00.000Z', '2026-01-06T09:00:00.000Z']],
    ['0 0 L * *', '2026-02-01T00:00:00Z', ['2026-02-28T00:00:00.000Z', '2026-03-31T00:00:00.000Z']],
    ['0 9 * * FRI#2', '2026-02-01T00:00:00Z', ['2026-02-13T09:00:00.000Z', '2026-03-13T09:00:00.000Z']],
    ['0 9 * * FRI#L', '2026-02-01T00:00:00Z', ['2026-02-27T09:00:00.000Z', '2026-03-27T09:00:00.000Z']],
    ['0 12 15W * *', '2026-02-01T00:00:00Z', ['2026-02-16T12:00:00.000Z', '2026-03-16T12:00:00.000Z']],
    ['0 12 1 * +MON', '2026-02-01T00:00:00Z', ['2026-06-01T12:00:00.000Z', '2027-02-01T12:00:00.000Z']],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z']],
    ['@daily', '2026-01-01T12:00:00Z', ['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z']],
  ])('%s after %s comes at %j', (expression, from, expected) => {
    expect(timesAfter(expression, from, expected.length)).toEqual(expected);
  });

  it('with a year has an end', () => {
    expect(timesAfter('0 0 0 1 1,7 * 2026', '2026-01-01T00:00:00Z', 5)).toEqual(['2026-07-01T00:00:00.000Z']);
  });

  it('is read in its time zone', () => {
    expect(timesAfter('30 2 * * *', '2026-01-15T00:00:00Z', 1, 'America/New_York')).toEqual([
      '2026-01-15T07:30:00.000Z',
    ]);
    expect(timesAfter('30 2 * * *', '2026-01-15T00:00:00Z', 1, 'Asia/Kathmandu')).toEqual(['2026-01-15T20:45:00.000Z']);
  });

  it('without a time zone is read in the default one, which the plan names', () => {
    const times = createCronerPlan({ timezone: 'Europe/Berlin' }).read({ cronExpression: '0 12 * * *' });
    expect(times.plan).toEqual({ cronExpression: '0 12 * * *', timezone: 'Europe/Berlin' });
    expect(times.next(Date.UTC(2026, 0, 1))).toBe(Date.UTC(2026, 0, 1, 11));
  });

  it('may be a date and time, which is a single slot', () => {
    const times = cron.read({ cronExpression: '2030-01-23T09:00:00', timezone: 'America/New_York' });
    const slot = Date.UTC(2030, 0, 23, 14);
    expect([times.next(0), times.next(slot - 1), times.next(slot)]).toEqual([slot, slot, undefined]);
    expect([times.previous(slot), times.previous(slot + 1)]).toEqual([undefined, slot]);
  });
});

describe('when clocks are set forward', () => {
  it.each([
    [
      'a job at 02:30',
      '30 2 * * *',
      ['2026-03-07T07:30:00.000Z', '2026-03-08T07:00:00.000Z', '2026-03-09T06:30:00.000Z'],
    ],
    [
      'a job at 02:30 and 14:30',
      '30 2,14 * * *',
      ['2026-03-07T07:30:00.000Z', '2026-03-07T19:30:00.000Z', '2026-03-08T07:00:00.000Z', '2026-03-08T18:30:00.000Z'],
    ],
    ['a job at 02:00 and 02:30', '0,30 2 8 3 *', ['2026-03-08T07:00:00.000Z', '2027-03-08T07:00:00.000Z']],
  ])('%s fires once at the end of the gap', (_name, expression, expected) => {
    expect(timesAfter(expression, '2026-03-07T00:00:00Z', expected.length, 'America/New_York')).toEqual(expected);
  });

  it('a job every 30 minutes has nothing to do in the missing hour', () => {
    expect(timesAfter('*/30 * * * *', '2026-03-08T06:00:00Z', 3, 'America/New_York')).toEqual([
      '2026-03-08T06:30:00.000Z',
      '2026-03-08T07:00:00.000Z',
      '2026-03-08T07:30:00.000Z',
    ]);
  });
});

describe('when clocks are set back', () => {
  it.each([
    ['a job at 01:30', '30 1 * * *', ['2026-11-01T05:30:00.000Z', '2026-11-02T06:30:00.000Z']],
    [
      'a job at 01:00 and 01:30',
      '0,30 1 * * *',
      ['2026-11-01T05:00:00.000Z', '2026-11-01T05:30:00.000Z', '2026-11-02T06:00:00.000Z'],
    ],
  ])('%s fires once in the doubled hour', (_name, expression, expected) => {
    expect(timesAfter(expression, '2026-10-31T12:00:00Z', expected.length, 'America/New_York')).toEqual(expected);
  });

  it('a job every 30 minutes keeps its rhythm through the doubled hour', () => {
    expect(timesAfter('*/30 * * * *', '2026-11-01T04:59:00Z', 5, 'America/New_York')).toEqual([
      '2026-11-01T05:00:00.000Z',
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T06:00:00.000Z',
      '2026-11-01T06:30:00.000Z',
      '2026-11-01T07:00:00.000Z',
    ]);
  });
});

describe('what cannot be read', () => {
  it.each([
    '',
    ' ',
    'often',
    '* * * *',
    '* * * * * * * *',
    '61 * * * *',
    '*/0 * * * *',
    '5/5 * * * *',
    '30 2 * * 8',
    '0 0 * * L',
    '* * * * * #x',
    '@reboot',
    `${'1,'.repeat(600)}1 * * * *`,
  ])('is refused with an example: %j', (cronExpression) => {
    const error = refusal(() => cron.read({ cronExpression, timezone: 'UTC' }));
    expect(error).toMatchObject({ name: 'BackgroundTaskError', category: 'validation', code: 'SCHEDULE_EXPRESSION' });
    expect(error.hint).toContain('"30 2 * * *" at 02:30 each day');
  });

  it.each([
    '2026-02-30T00:00:00',
    '2026-13-01T00:00:00',
    '2026-01-01',
    '2026-01-01T25:00:00',
    '2030-01-23T00:00:00.500',
    ' 2030-01-23T00:00:00',
  ])('is refused although it looks like a date: %j', (cronExpression) => {
    expect(refusal(() => cron.read({ cronExpression, timezone: 'UTC' })).message).toContain(
      'is not a date and time of the form',
    );
  });

  it.each(['Mars/Base', '', ' UTC', 'Europe/Berlin\0'])(
    'is refused when the time zone does not exist: %j',
    (timezone) => {
      const error = refusal(() => cron.read({ cronExpression: '* * * * *', timezone }));
      expect(error).toMatchObject({ category: 'validation', code: 'SCHEDULE_TIMEZONE' });
      expect(error.hint).toContain('Europe/Berlin');
      expect(refusal(() => createCronerPlan({ timezone })).code).toBe('SCHEDULE_TIMEZONE');
    },
  );

  it('is never anything but a validation error, whatever the text', () => {
    const pieces = fc.constantFrom(
      '*',
      '/',
      '-',
      ',',
      '#',
      'L',
      'W',
      '+',
      '?',
      ' ',
      '0',
      '7',
      '59',
      '99',
      'MON',
      'JAN',
      '@',
      '2030-',
      'T',
      ':',
      'é',
      '\n',
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 16 }),
        fc.constantFrom('UTC', 'Asia/Tehran', 'nowhere'),
        (parts, timezone) => {
          try {
            const next = cron.read({ cronExpression: parts.join(''), timezone }).next(0);
            expect(next === undefined || next > 0).toBe(true);
          } catch (thrown) {
            expect(thrown).toMatchObject({ category: 'validation' });
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('next and previous', () => {
  const zones = [
    'UTC',
    'America/New_York',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'Pacific/Apia',
    'Asia/Tehran',
  ];
  const field = (low: number, high: number, steps = high): fc.Arbitrary<string> =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min: low, max: high }).map(String),
      fc.integer({ min: 2, max: Math.min(steps, 15) }).map((step) => `*/${step}`),
      fc
        .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      fc.tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high })).map(([a, b]) => `${a},${b}`),
    );
  const expressions = fc
    .tuple(field(0, 59), field(0, 23), fc.oneof(field(1, 28), fc.constant('L')), field(1, 12, 6), field(0, 6))
    .map((fields) => fields.join(' '));
  // Around changes of the clock, where it is hard.
  const moments = fc.constantFrom(
    '2026-03-08T05:00Z',
    '2026-11-01T03:00Z',
    '2026-03-29T00:00Z',
    '2026-10-25T00:00Z',
    '2026-04-04T12:00Z',
    '2011-12-29T12:00Z',
  );

  it('agree on every time, in every zone, around every change of the clock', () => {
    fc.assert(
      fc.property(
        expressions,
        fc.constantFrom(...zones),
        moments,
        fc.integer({ min: 0, max: 86_400_000 }),
        (cronExpression, timezone, moment, offset) => {
          const times = cron.read({ cronExpression, timezone });
          const forward: number[] = [];
          for (
            let at = times.next(Date.parse(moment) + offset);
            at !== undefined && forward.length < 12;
            at = times.next(at)
          )
            forward.push(at);
          expect(forward).toEqual([...new Set(forward)].toSorted((a, b) => a - b));
          const backward: number[] = [];
          for (let at = forward.at(-1); at !== undefined && backward.length < forward.length; at = times.previous(at))
            backward.push(at);
          expect(backward.toReversed()).toEqual(forward);
        },
      ),
      { numRuns: 150 },
    );
  });
});
