import { describe, expect, it } from 'vitest';
import { LogAdmission } from '../../../src/machines/session/log-admission.ts';
import type { LogRecord } from '../../../src/machines/session/log-admission.ts';
import { idOf, message, newEvent, wakeStarted } from '../../support/session-events.ts';

const record = (n: number, rest: Partial<LogRecord> = {}, epoch?: number): LogRecord => ({
  events: [newEvent(n, message(`m${n}`), epoch)],
  ...rest,
});
const claim = (n: number, epoch: number): LogRecord => ({ events: [newEvent(n, wakeStarted(epoch), epoch)] });

describe('a record', () => {
  it('takes dense sequence numbers, one per event', () => {
    const log = new LogAdmission();
    expect(log.admit({ events: [newEvent(1, message('a')), newEvent(2, message('b'))] })).toEqual({
      kind: 'admitted',
      firstSeq: 1,
    });
    expect(log.admit(record(3))).toEqual({ kind: 'admitted', firstSeq: 3 });
    expect([log.head, log.headId]).toEqual([3, idOf(3)]);
    expect(log.findId(idOf(1))).toEqual({ firstSeq: 1, count: 2 });
  });

  it('counts once under its id and once under its key', () => {
    const log = new LogAdmission();
    log.admit(record(1, { key: 'k' }));
    expect(log.admit(record(1))).toEqual({ kind: 'duplicate', firstSeq: 1, count: 1 });
    expect(log.admit(record(2, { key: 'k' }))).toEqual({ kind: 'duplicate', firstSeq: 1, count: 1 });
    expect(log.head).toBe(1);
    expect(log.findKey('k')).toEqual({ firstSeq: 1, count: 1 });
  });

  it('counts only right after the event it names', () => {
    const log = new LogAdmission();
    expect(log.admit(record(1, { after: '' })).kind).toBe('admitted');
    expect(log.admit(record(2, { after: '' }))).toEqual({ kind: 'moved', head: 1 });
    expect(log.admit(record(3, { after: idOf(1) })).kind).toBe('admitted');
  });

  it('is given the benefit of the doubt after damage: the event it names may have been there', () => {
    const log = new LogAdmission();
    log.admit(record(1));
    expect(log.admit(record(3, { after: idOf(2) }), { afterDamage: true }).kind).toBe('admitted');
  });

  it('of a passed epoch changes nothing', () => {
    const log = new LogAdmission();
    log.admit(claim(1, 1));
    log.admit(claim(2, 2));
    expect(log.admit(record(3, {}, 1))).toEqual({ kind: 'superseded', epoch: 2 });
    expect(log.admit(record(4, {}, 2)).kind).toBe('admitted');
    expect(log.admit(record(5)).kind).toBe('admitted');
  });

  it('that claims a taken epoch loses: the first in the log has won', () => {
    const log = new LogAdmission();
    expect(log.admit(claim(1, 1)).kind).toBe('admitted');
    expect(log.admit(claim(2, 1))).toEqual({ kind: 'superseded', epoch: 1 });
  });

  it('of an epoch whose beginning was lost still counts', () => {
    const log = new LogAdmission();
    expect(log.admit(record(1, {}, 4)).kind).toBe('admitted');
    expect(log.epoch).toBe(4);
  });

  it('is judged without changing anything', () => {
    const log = new LogAdmission();
    expect(log.judge(record(1)).kind).toBe('admitted');
    expect(log.judge(record(1)).kind).toBe('admitted');
    expect(log.head).toBe(0);
  });
});
