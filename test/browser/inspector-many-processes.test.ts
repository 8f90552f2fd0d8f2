/** Many sessions at once on the page of the inspector, in a real browser over a real runtime. */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserOfFile } from '../support/browser.ts';
import { AGENT } from '../support/session-setup.ts';
import { showSetup } from './inspector-session-setup.ts';
import type { ShownSetup } from './inspector-session-setup.ts';

const browser = await browserOfFile();
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const LIMIT = { timeout: 15_000 };

const listOf = (view: Page): Locator => view.getByRole('listbox', { name: 'Sessions' });
const button = (view: Page, name: string | RegExp): Locator =>
  view.getByRole('button', { name, exact: typeof name === 'string' });
const receiptsIn = (view: Page): Locator => view.getByRole('region', { name: 'What became of it' });

async function answersIn({ setup }: ShownSetup, session: string): Promise<readonly unknown[]> {
  return (await setup.log(session)).flatMap((event) => (event.type === 'user.tool_confirmation' ? [event.data] : []));
}

async function faultsOf(view: Page): Promise<readonly string[]> {
  await view.evaluate(AXE);
  return view.evaluate(`axe.run(['.left', '.middle']).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`);
}

/** Three that ask for the same, one that asks for something else, and one that rests. */
async function five(setup: ShownSetup): Promise<readonly string[]> {
  const first = await setup.waiting();
  const same = [first, await setup.waitingToo(), await setup.waitingToo()];
  await setup.setup.write([
    { toolCalls: [{ name: 'deploy', input: { command: 'deploy --to staging' } }] },
    { text: 'It is out.', directive: { outcome: 'sleep', summary: 'Deployed.' } },
  ]);
  const other = await setup.waitingToo();
  const { sessionId: resting } = await setup.setup.runtime.sessions.create({ agentId: AGENT });
  return [...same, other, resting];
}

describe.skipIf(browser === undefined)('many sessions on the page', () => {
  it('have filters that stay in their column, and rows on a low screen', async () => {
    const setup = await showSetup({ browser: browser! });
    await five(setup);
    await setup.waitingToo();
    const view = await setup.open();
    await view.setViewportSize({ width: 1100, height: 700 });
    const filters = view.getByRole('group', { name: 'Which sessions are listed' });
    await filters.waitFor(LIMIT);
    const beyond = await filters.evaluate(
      (each: { scrollWidth: number; clientWidth: number }) => each.scrollWidth - each.clientWidth,
    );
    expect(beyond).toBeLessThanOrEqual(0);
    await expect.poll(async () => (await listOf(view).boundingBox())?.height, LIMIT).toBeGreaterThan(100);
  });

  it('are allowed together where they ask for the same, each with a receipt, by keyboard alone', async () => {
    const setup = await showSetup({ browser: browser! });
    const [a = '', b = '', c = '', other = '', resting = ''] = await five(setup);
    const view = await setup.open();
    await listOf(view).getByRole('option').nth(4).waitFor(LIMIT);
    await listOf(view).getByRole('option').first().focus();
    await view.keyboard.press('Control+a');
    await expect.poll(() => listOf(view).locator('[aria-checked=true]').count()).toBe(5);
    await button(view, '5 ticked …').focus();
    await view.keyboard.press('Enter');
    const same = view.getByRole('region', { name: 'Permission: deploy, 3 sessions' });
    await same.waitFor(LIMIT);
    const alone = view.getByRole('region', { name: 'Permission: deploy, 1 session', exact: true });
    expect([await same.innerText(), await alone.innerText()]).toEqual([
      expect.stringContaining('deploy --to production'),
      expect.stringContaining('deploy --to staging'),
    ]);
    expect(await faultsOf(view)).toEqual([]);
    // Meanwhile one of them is answered elsewhere: that is refused, and stops no other.
    const requestId = (await setup.source.session(b))?.pendingActions[0]?.requestId ?? '';
    await setup.source.answer(b, { type: 'deny', requestId });
    await button(view, 'Allow all 3 once').focus();
    await view.keyboard.press('Enter');
    await receiptsIn(view).getByText('2 of 3 done, 1 refused.').waitFor(LIMIT);
    await expect
      .poll(() =>
        receiptsIn(view)
          .getByText(/Stored as event \d+/)
          .count(),
      )
      .toBe(2);
    for (const id of [a, c]) expect(await answersIn(setup, id)).toMatchObject([{ allowed: true }]);
    expect(await answersIn(setup, b)).toMatchObject([{ allowed: false }]);
    expect([await answersIn(setup, other), await answersIn(setup, resting)]).toEqual([[], []]);
    await expect.poll(() => same.count()).toBe(0);
    expect([browser!.said.filter((text) => !text.includes('409 (Conflict)')), setup.problems]).toEqual([[], []]);
  });

  it('are woken, interrupted and terminated together, a range of them by Shift, and what cannot be is told', async () => {
    const setup = await showSetup({ browser: browser! });
    const ids = await five(setup);
    const [a = '', b = '', c = '', other = ''] = ids;
    await setup.setup.runtime.sessions.terminate(other);
    const view = await setup.open();
    const rows = listOf(view).getByRole('option');
    await rows.nth(4).waitFor(LIMIT);
    await rows.first().focus();
    await view.keyboard.press('x');
    await view.keyboard.press('Shift+ArrowDown');
    await view.keyboard.press('Shift+ArrowDown');
    await button(view, '3 ticked …').click();
    await button(view, 'Interrupt …').click();
    await view.getByRole('textbox', { name: 'Why, for their logs' }).fill('wrong branch');
    await button(view, 'Interrupt 3 sessions').click();
    await receiptsIn(view).getByText('3 of 3 done.').waitFor(LIMIT);
    for (const id of [a, b, c])
      expect((await setup.setup.log(id)).find(({ type }) => type === 'user.interrupt')?.data).toMatchObject({
        reason: 'wrong branch',
      });
    await setup.setup.runtime.sessions.send(a, { type: 'user.message', text: 'Once more.' });
    await button(view, 'Tick all 5').click();
    await button(view, 'Wake').click();
    await receiptsIn(view).getByText('4 of 5 done, 1 refused.').waitFor(LIMIT);
    await expect.poll(() => receiptsIn(view).innerText()).toContain('is terminated, and wakes no more');
    expect((await setup.setup.log(a)).filter(({ type }) => type === 'wake.started')).toHaveLength(2);
    await button(view, 'Terminate …').click();
    await button(view, 'Leave them').click();
    await button(view, 'Terminate …').click();
    await button(view, 'Terminate 5 sessions').click();
    await receiptsIn(view).getByText('5 of 5 done.').waitFor(LIMIT);
    const states = await Promise.all(ids.map((id) => setup.setup.runtime.sessions.status(id)));
    expect(new Set(states.map(({ status }) => status))).toEqual(new Set(['terminated']));
  });
});
