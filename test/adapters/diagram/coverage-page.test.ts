/** The page that shows what was taken of a chart. */
import { createMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { renderCoverage } from '../../../src/node.ts';
import { coverChart } from '../../../src/testing.ts';

const machine = createMachine({
  id: 'door',
  description: 'A <b>door</b>.',
  initial: 'closed',
  states: {
    closed: { on: { OPEN: 'open', KNOCK: undefined, PICK: { guard: () => false, target: 'open' } } },
    open: { on: { CLOSE: 'closed' }, after: { 5000: 'alarm' } },
    alarm: { type: 'final' },
  },
});
const hits = { chart: 'door', transitions: { 'closed|OPEN|0': 3 }, pairs: {} };

describe('the page of what was taken', () => {
  it('marks what was taken and what never was, with the shortest way to that', async () => {
    const page = await renderCoverage(machine, hits);
    expect(page).toContain('<strong>1 of 4</strong> 25 %');
    expect(page).toMatch(/class="[^"]*is-added[^"]*" data-transition="closed\|OPEN\|0"/);
    expect(page).toMatch(/class="[^"]*is-removed[^"]*" data-transition="open\|CLOSE\|0"/);
    expect(page).toMatch(/class="[^"]*is-removed[^"]*" data-state="alarm"/);
    expect(page).not.toMatch(/is-(?:added|removed)[^"]*" data-transition="closed\|KNOCK\|0"/);
    expect(page).toContain('<code>5 s pass</code> <span class="quiet">→ alarm</span>');
    expect(page).toMatch(/No way to it was found: its guard \(inline\) never held/);
    expect(page).toContain('<code>closed|PICK|0</code> never held');
  });

  it('tells a guard that was never asked from one that never held, or always did', async () => {
    const shop = createMachine({
      id: 'shop',
      initial: 'open',
      states: { open: { on: { PAY: [{ guard: () => true, target: 'paid' }, { target: 'open' }] } }, paid: {} },
    });
    const pageOf = (transitions: Record<string, number>): Promise<string> =>
      renderCoverage(shop, { chart: 'shop', transitions, pairs: {} });
    const guard = (words: string): string => `<ul><li><code>open|PAY|0</code> ${words}</li></ul>`;
    expect(await pageOf({})).toContain(guard('was never asked'));
    expect(await pageOf({ 'open|PAY|0': 1 })).toContain(guard('always held'));
    expect(await pageOf({ 'open|PAY|1': 1 })).toContain(guard('never held'));
  });

  it('stands alone, escapes what charts say, and is the same every time', async () => {
    const page = await renderCoverage(machine, hits, { theme: 'dark' });
    expect(page).toContain('A &lt;b&gt;door&lt;/b&gt;.');
    expect(page).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)|@import|url\(/);
    expect(await renderCoverage(machine, hits, { theme: 'dark' })).toBe(page);
  });

  it('shows a chart of which nothing was seen, all of it, and one that cannot be started', async () => {
    expect(await renderCoverage(machine, coverChart(machine).hits)).toContain('<strong>0 of 4</strong> 0 %');
    const all = ['closed|OPEN|0', 'closed|PICK|0', 'open|CLOSE|0', 'open|after(5000)|0'];
    const transitions = Object.fromEntries(all.map((id) => [id, 1]));
    expect(await renderCoverage(machine, { ...hits, transitions })).toContain('Nothing: all was taken.');
    const needy = createMachine({
      id: 'needy',
      context: ({ input }) => (input as { readonly of: { readonly name: object } }).of.name,
    });
    expect(await renderCoverage(needy, coverChart(needy).hits)).toContain('needy: what was taken');
  });

  it.each([undefined, null, {}, coverChart(machine), { ...hits, chart: 'window' }])(
    'is refused for %j, which is nothing that was seen of the chart',
    async (given) => {
      const refusal = expect.objectContaining({ code: 'HITS_INVALID' }) as Error;
      await expect(renderCoverage(machine, given as never)).rejects.toThrow(refusal);
    },
  );
});
