/** What is counted of a chart while tests run, and when a test fails because of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createActor, fromPromise } from 'xstate';
import { afterAll, describe, expect, it } from 'vitest';
import { readHits } from '../../src/adapters/audit-files/hits-folder.ts';
import { coverChart } from '../../src/testing.ts';
import type { ChartCover } from '../../src/testing.ts';
import { order, orderMachine } from './order-shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'cover-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function paidOrder(cover: ChartCover): Promise<void> {
  const machine = orderMachine.provide({ actors: { charge: fromPromise(async () => ({ receipt: 'r' })) } });
  const actor = createActor(machine, { inspect: cover.inspect }).start();
  actor.send({ type: 'ADD', count: 1 });
  actor.send({ type: 'PAY' });
  await new Promise((resolve) => setImmediate(resolve));
  actor.send({ type: 'CANCEL' });
}

const codeOf = (work: () => void): unknown => {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as { readonly code: unknown }).code;
  }
};

describe('what a run takes of a chart', () => {
  it('is counted of actors, also of machines that were provided with other actors', async () => {
    const cover = coverChart(order);
    await paidOrder(cover);
    expect(cover.hits).toEqual({
      chart: 'order',
      transitions: { 'open|ADD|0': 1, 'open|PAY|0': 1, 'paid|CANCEL|0': 1, 'paying|done(charge)|0': 1 },
      pairs: {
        'open|ADD|0 > open|PAY|0': 1,
        'open|PAY|0 > paying|done(charge)|0': 1,
        'paying|done(charge)|0 > paid|CANCEL|0': 1,
      },
    });
    expect(cover.coverage.states).toEqual({ seen: 4, all: 5, missing: ['closed'] });
    expect(cover.text).toContain('transitions: 4 of 8\n');
    expect(cover.text).toContain('missing of the states: closed');
  });

  it('is nothing of other charts, and adds up with what others saw', async () => {
    const [one, other] = [coverChart(order), coverChart(order)];
    await paidOrder(one);
    other.add(one.hits);
    other.add(one.hits);
    other.add({ chart: 'another', transitions: { 'a|B|0': 1 }, pairs: {} });
    expect(other.hits.transitions).toMatchObject({ 'open|PAY|0': 2 });
    expect(other.coverage.unknown).toEqual([]);
  });

  it('passes with a floor, or with exceptions that are true, and fails otherwise', async () => {
    const cover = coverChart(order);
    await paidOrder(cover);
    const [first = '', ...others] = cover.coverage.transitions.missing;
    const except = Object.fromEntries(others.map((id) => [id, 'Not in this test.']));
    expect(codeOf(() => cover.assert())).toBe('CHART_NOT_COVERED');
    expect(codeOf(() => cover.assert({ floor: 50 }))).toBeUndefined();
    expect(codeOf(() => cover.assert({ floor: 51 }))).toBe('CHART_NOT_COVERED');
    expect(codeOf(() => cover.assert({ floor: 101 }))).toBe('COVERAGE_FLOOR_INVALID');
    expect(() => cover.assert({ except })).toThrow(`${first} was never taken`);
    expect(codeOf(() => cover.assert({ except: { ...except, [first]: 'Nor this.' } }))).toBeUndefined();
    expect(() => cover.assert({ except: { ...except, [first]: ' ' } })).toThrow(`${first} is an exception without a`);
    expect(() => cover.assert({ floor: 0, except: { 'open|PAY|0': 'It is taken.' } })).toThrow('was taken or is not');
  });

  it('is a file that the audit reads, by its own name', async () => {
    const cover = coverChart(order);
    await paidOrder(cover);
    const file = join(folder, 'order-coverage.json');
    writeFileSync(file, JSON.stringify(cover));
    expect((await readHits(file)).get('order')).toEqual(cover.hits);
  });
});
