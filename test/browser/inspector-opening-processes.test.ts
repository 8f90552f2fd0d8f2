/** What the page opens on where nothing needs a person, and the buttons of the session that is shown. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { InspectionSource } from '../../src/actors/inspection/inspection-source.ts';
import { browserOfFile } from '../support/browser.ts';
import { showSetup } from './inspector-session-setup.ts';

const browser = await browserOfFile();
const LIMIT = { timeout: 15_000 };
const RESTS = [{ text: 'It is out.', directive: { outcome: 'sleep', summary: 'Deployed.' } }];

const button = (view: Page, name: string): Locator => view.getByRole('button', { name, exact: true });
const selected = (view: Page): Locator =>
  view.getByRole('listbox', { name: 'Sessions' }).locator('[aria-selected=true]');
/** As `wakechart inspect` over a home, or of a recording. */
const as =
  (kind: 'store' | 'log') =>
  (source: InspectionSource): Partial<InspectionSource> => ({ about: () => ({ ...source.about(), kind }) });

describe.skipIf(browser === undefined)('the page', () => {
  it.each(['store', 'log'] as const)(
    'opens on a session where none needs a person, and on what the address names (%s)',
    async (kind) => {
      const setup = await showSetup({ browser: browser!, replaced: as(kind) });
      const first = await setup.playing(RESTS);
      const second = await setup.waitingToo();
      const view = await setup.open();
      await selected(view).waitFor(LIMIT);
      expect(view.url()).not.toContain(first);
      await expect.poll(() => view.url(), LIMIT).toContain(second);
      const other = await setup.open(`#r=${first}`);
      await selected(other).waitFor(LIMIT);
      expect(other.url()).toContain(first);
    },
  );

  it('says of what was under way in a process that died that it died with it, and counts its age no further', async () => {
    const since = new Date().toISOString();
    const dead = { kind: 'dead', text: 'Its process has died.', since } as const;
    const setup = await showSetup({
      browser: browser!,
      replaced: (source) => ({
        sessions: async (options) => {
          const { sessions, ...more } = await source.sessions(options);
          return { ...more, sessions: sessions.map((session) => ({ ...session, why: dead })) };
        },
      }),
    });
    const session = await setup.waiting();
    const view = await setup.open(`#r=${session}`);
    const row = view.getByRole('tree', { name: 'Actors' }).getByText('died with its process').first();
    await row.waitFor(LIMIT);
    const age = row.locator('xpath=ancestor::*[@role="treeitem"]').locator('.age');
    const before = await age.textContent();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await expect.poll(() => age.textContent()).toBe(before);
    // It is counted and found as what it is.
    await button(view, 'Active 0').waitFor(LIMIT);
    await view.getByRole('button', { name: /^Failed [1-9]$/ }).click();
    await view.getByRole('listbox', { name: 'Actors found' }).getByText('died with its process').first().waitFor(LIMIT);
  });

  it('interrupts the session that is shown, wakes it, and terminates it after a second question', async () => {
    const setup = await showSetup({ browser: browser! });
    const session = await setup.waiting();
    const view = await setup.open(`#r=${session}`);
    await button(view, 'Interrupt').click(LIMIT);
    await view.getByText(/Interrupted: stored as event \d+\.$/).waitFor(LIMIT);
    await button(view, 'Wake').click(LIMIT);
    await button(view, 'Terminate …').click(LIMIT);
    await button(view, 'Leave it').click();
    expect((await setup.setup.runtime.sessions.status(session)).status).not.toBe('terminated');
    await button(view, 'Terminate …').click(LIMIT);
    await button(view, 'Terminate this session').click();
    await view.getByText(/Terminated: stored up to event \d+\.$/).waitFor(LIMIT);
    await expect.poll(() => button(view, 'Terminate …').count(), LIMIT).toBe(0);
  });
});
