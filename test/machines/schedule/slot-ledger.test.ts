import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  EMPTY_HISTORY,
  SlotLedger,
  recordsInEffect,
  scheduleHistory,
} from '../../../src/machines/schedule/slot-ledger.ts';
import { instantOf, slotRecord } from '../../../src/machines/schedule/slot-record.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';

const minute = (count: number): string => instantOf(Date.UTC(2026, 0, 1) + count * 60_000);
const planned = (at: number, cronExpression = '* * * * *'): ScheduleRecord => ({
  v: 1,
  type: 'schedule.planned',
  at: minute(at),
  cronExpression,
  timezone: 'UTC',
});
const of = (slot: number, owner: string): { v: 1; at: string; slot: string; owner: string } => ({
  v: 1,
  at: minute(slot),
  slot: minute(slot),
  owner,
});
const claimed = (slot: number, owner = 'a'): ScheduleRecord => ({ ...of(slot, owner), type: 'slot.claimed' });
const queued = (slot: number, owner = 'a'): ScheduleRecord => ({ ...of(slot, owner), type: 'slot.queued' });
const skipped = (slot: number, owner = 'a'): ScheduleRecord => ({
  ...of(slot, owner),
  type: 'slot.skipped',
  reason: 'overlap',
  overlap: 'skip',
});
const missed = (slot: number, owner = 'a'): ScheduleRecord => ({
  ...of(slot, owner),
  type: 'slot.missed',
  reason: 'down',
});
const fired = (slot: number, owner = 'a'): ScheduleRecord => ({
  ...of(slot, owner),
  type: 'slot.fired',
  childTaskId: `task_${slot}`,
});
const interrupted = (slot: number, owner = 'b'): ScheduleRecord => ({ ...of(slot, owner), type: 'slot.interrupted' });
const span = (after: number, upTo: number, owner = 'a'): ScheduleRecord => ({
  v: 1,
  type: 'slots.missed',
  at: minute(upTo),
  owner,
  after: minute(after),
  upTo: minute(upTo),
  reason: 'down',
});

const answers = (...records: ScheduleRecord[]): boolean[] => {
  const ledger = new SlotLedger();
  return records.map((record) => ledger.ingest(record));
};

describe('a slot', () => {
  it('belongs to the first who claims it', () => {
    expect(answers(claimed(1, 'a'), claimed(1, 'b'), claimed(1, 'c'))).toEqual([true, false, false]);
  });

  it('that was skipped or missed cannot be claimed any more', () => {
    expect(answers(skipped(1), claimed(1, 'b'), missed(2), claimed(2, 'b'))).toEqual([true, false, true, false]);
  });

  it('that is claimed cannot be skipped or missed any more', () => {
    expect(answers(claimed(1), skipped(1, 'b'), missed(1, 'b'))).toEqual([true, false, false]);
  });

  it('older than the newest decided one is decided, whether it is named or not', () => {
    expect(answers(claimed(5), claimed(4, 'b'))).toEqual([true, false]);
  });

  it('is fired by its owner only, and once', () => {
    expect(answers(claimed(1, 'a'), fired(1, 'b'), fired(1, 'a'), fired(1, 'a'))).toEqual([true, false, true, false]);
  });

  it('that nobody claimed cannot be fired', () => {
    expect(answers(queued(1), fired(1))).toEqual([true, false]);
  });

  it('may be claimed again by its owner while it has not fired, so that a write in doubt can be repeated', () => {
    expect(answers(claimed(1), claimed(1), fired(1), claimed(1))).toEqual([true, true, true, false]);
  });

  it('that was interrupted is never claimed again, and a late report of its fire is heard', () => {
    expect(
      answers(claimed(1, 'a'), interrupted(1), interrupted(1), claimed(1, 'a'), claimed(1, 'b'), fired(1, 'a')),
    ).toEqual([true, true, false, false, false, true]);
  });
});

describe('a slot in line', () => {
  it('is claimed once, by anybody', () => {
    expect(answers(queued(1, 'a'), queued(2, 'a'), claimed(1, 'b'), claimed(1, 'a'), claimed(2, 'a'))).toEqual([
      true,
      true,
      true,
      false,
      true,
    ]);
  });

  it('cannot be skipped for the overlaps of another', () => {
    expect(answers(queued(1, 'a'), skipped(1, 'b'), claimed(1, 'a'))).toEqual([true, false, true]);
    expect(answers(queued(1, 'a'), skipped(1, 'a'), claimed(1, 'b'))).toEqual([true, true, false]);
  });

  it('may be taken into the line of another', () => {
    expect(answers(queued(1, 'a'), queued(1, 'b'), skipped(1, 'b'), claimed(1, 'a'))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('goes with a span that covers it', () => {
    expect(answers(queued(1), claimed(5), span(0, 9), claimed(1), claimed(9))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('a plan', () => {
  it('closes what lies before it', () => {
    expect(answers(planned(3), claimed(3), claimed(4))).toEqual([true, false, true]);
  });

  it('that is announced again closes nothing', () => {
    expect(answers(planned(0), planned(3), claimed(2))).toEqual([true, true, true]);
  });
});

describe('a span of missed slots', () => {
  it('has no effect when all of it is decided', () => {
    expect(answers(claimed(5), span(0, 5), span(0, 6))).toEqual([true, false, true]);
  });
});

describe('the history', () => {
  it('of nothing is empty', () => {
    expect(new SlotLedger().history()).toEqual(EMPTY_HISTORY);
  });

  it('says the plan in force, the pause, how far slots are decided, who is in line and what is open', () => {
    const ledger = new SlotLedger();
    const records: ScheduleRecord[] = [
      planned(0),
      { v: 1, type: 'schedule.paused', at: minute(0) },
      claimed(1),
      queued(2),
      queued(3),
      claimed(4),
      fired(4),
    ];
    for (const record of records) ledger.ingest(record);
    expect(ledger.history()).toEqual({
      plan: { cronExpression: '* * * * *', timezone: 'UTC' },
      paused: true,
      through: minute(4),
      queued: [
        { slot: minute(2), owner: 'a' },
        { slot: minute(3), owner: 'a' },
      ],
      claims: [{ slot: minute(1), owner: 'a', interrupted: false }],
    });
  });

  it('does not grow with the number of slots, nor with the number of crashes', () => {
    const ledger = new SlotLedger();
    for (let slot = 1; slot <= 2_000; slot += 1) {
      ledger.ingest(claimed(slot));
      ledger.ingest(slot % 2 === 0 ? fired(slot) : interrupted(slot));
    }
    expect(ledger.history().claims).toHaveLength(100);
  });

  it('continues from any point as if it had never been put away', () => {
    const slots = fc.integer({ min: 1, max: 12 });
    const owners = fc.constantFrom('a', 'b');
    const one = fc.oneof(
      ...[claimed, queued, skipped, missed, fired, interrupted].map((make) =>
        fc.tuple(slots, owners).map(([slot, owner]) => make(slot, owner)),
      ),
      fc.tuple(slots, slots).map(([a, b]) => span(Math.min(a, b) - 1, Math.max(a, b))),
      fc.tuple(slots, fc.constantFrom('* * * * *', '@daily')).map(([at, expression]) => planned(at, expression)),
    );
    fc.assert(
      fc.property(fc.array(one, { maxLength: 40 }), fc.nat(40), (records, cut) => {
        const whole = new SlotLedger();
        const expected = records.map((record) => whole.ingest(record));
        const first = new SlotLedger();
        for (const record of records.slice(0, cut)) first.ingest(record);
        const stored = scheduleHistory.parse(JSON.parse(JSON.stringify(first.history())));
        const second = new SlotLedger(stored);
        expect(records.slice(cut).map((record) => second.ingest(record))).toEqual(expected.slice(cut));
        expect(second.history()).toEqual(whole.history());
      }),
    );
  });

  it('lets at most one claim and one fire of a slot hold, whatever is written in whatever order', () => {
    const one = fc.oneof(
      ...[claimed, queued, skipped, missed, fired, interrupted].map((make) =>
        fc
          .tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom('a', 'b', 'c'))
          .map(([slot, owner]) => make(slot, owner)),
      ),
    );
    fc.assert(
      fc.property(fc.array(one, { maxLength: 60 }), (records) => {
        const held = recordsInEffect(records);
        for (let slot = 1; slot <= 5; slot += 1) {
          const own = held.filter((record) => 'slot' in record && record.slot === minute(slot));
          const claimants = new Set(own.flatMap((record) => (record.type === 'slot.claimed' ? [record.owner] : [])));
          expect(claimants.size).toBeLessThanOrEqual(1);
          expect(own.filter((record) => record.type === 'slot.fired').length).toBeLessThanOrEqual(1);
          const isFired = own.some((record) => record.type === 'slot.fired');
          expect(isFired && own.some((record) => record.type === 'slot.skipped' || record.type === 'slot.missed')).toBe(
            false,
          );
        }
      }),
    );
  });
});

describe('a record', () => {
  it.each([
    ['of another version', { ...claimed(1), v: 2 }],
    ['of an unknown type', { ...claimed(1), type: 'slot.imagined' }],
    ['with a field too many', { ...claimed(1), extra: 1 }],
    ['whose slot is no instant', { ...claimed(1), slot: '2026-01-01' }],
    ['whose slot has no milliseconds', { ...claimed(1), slot: '2026-01-01T00:00:00Z' }],
    ['without an owner', { ...claimed(1), owner: '' }],
  ])('%s is not accepted', (_name, record) => {
    expect(slotRecord.safeParse(record).success).toBe(false);
  });

  it('survives JSON', () => {
    for (const record of [
      planned(1),
      claimed(1),
      queued(1),
      skipped(1),
      missed(1),
      fired(1),
      interrupted(1),
      span(1, 2),
    ]) {
      expect(slotRecord.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
    }
  });
});
