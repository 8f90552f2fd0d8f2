/**
 * Sessions on the page of the inspector, in a real browser over a real runtime: why one waits, what answers it, and
 * what happens next.
 */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../src/machines/errors.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { explain } from '../../src/machines/session/why.ts';
import { browserOfFile } from '../support/browser.ts';
import { showSetup } from './inspector-session-setup.ts';
import type { ShownSetup, ShownSetupOptions } from './inspector-session-setup.ts';

const browser = await browserOfFile();
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const LIMIT = { timeout: 15_000 };

const shown = (options: Partial<ShownSetupOptions> = {}): Promise<ShownSetup> =>
  showSetup({ browser: browser!, ...options });
const button = (view: Page, name: string | RegExp): Locator =>
  view.getByRole('button', { name, exact: typeof name === 'string' });
const textOf = (locator: Locator): Promise<string> => locator.innerText(LIMIT);
const transcriptOf = (view: Page): Locator => view.getByRole('region', { name: 'Transcript' });
const answersIn = async ({ setup }: ShownSetup, session: string): Promise<readonly unknown[]> =>
  (await setup.log(session)).flatMap((event) => (event.type === 'user.tool_confirmation' ? [event.data] : []));

/** What axe finds wrong with the list of sessions and with the session that is shown. */
async function faultsOf(view: Page): Promise<readonly string[]> {
  await view.evaluate(AXE);
  return view.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as {
        readonly axe: {
          run(where: readonly string[]): Promise<{
            readonly violations: readonly {
              readonly id: string;
              readonly nodes: readonly { readonly html: string }[];
            }[];
          }>;
        };
      }
    ).axe.run(['[role=listbox]', '[aria-label=State]']);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  });
}

describe.skipIf(browser === undefined)('the sessions on the page of the inspector', () => {
  it('open with the one that waits, say why, are answered by one click, and show what happens next without a reload', async () => {
    const setup = await shown();
    const session = await setup.waiting();
    const view = await setup.open();
    await expect
      .poll(() => textOf(view.getByRole('region', { name: 'Why' }).locator('p').first()))
      .toContain('waits for permission to run deploy');
    await expect
      .poll(() => textOf(view.getByRole('status').filter({ hasText: 'waits for you' })))
      .toContain('1 waits for you');
    const request = view.getByRole('region', { name: 'Permission: deploy' });
    await expect.poll(() => textOf(request)).toContain('deploy --to production');
    await button(view, 'Allow once').dblclick();
    await view.getByText(/^You allowed it this once/).waitFor(LIMIT);
    await view.getByText('no worker runs this session now').waitFor(LIMIT);
    await expect.poll(() => textOf(request)).toContain('wakechart worker');
    expect(await answersIn(setup, session)).toHaveLength(1);
    await setup.setup.runtime.wake(session);
    await transcriptOf(view).getByText('It is out.').waitFor(LIMIT);
    await view.getByText('the session has gone on with it').waitFor(LIMIT);
    expect(setup.tools.ran).toEqual(['deploy']);
    expect([...browser!.said, ...browser!.refused, ...setup.problems]).toEqual([]);
  });

  it('are denied by keyboard alone, with a note, and focus goes on from there', async () => {
    const setup = await shown();
    const session = await setup.waiting();
    const view = await setup.open(`#r=${session}`);
    await view.getByLabel(/^A note for the agent/).fill('not on a Friday');
    await button(view, 'Deny').focus();
    await view.keyboard.press('Enter');
    await view.getByText('You denied it.').waitFor(LIMIT);
    expect(await answersIn(setup, session)).toMatchObject([{ allowed: false, note: 'not on a Friday' }]);
    await expect.poll(() => view.locator(':focus').getAttribute('aria-label')).toBe('Permission: deploy');
    await setup.setup.runtime.wake(session);
    await transcriptOf(view).getByText('not on a Friday').first().waitFor(LIMIT);
  });

  it('answer a question in words, and lose nothing of them when something else happens meanwhile', async () => {
    const setup = await shown();
    const session = await setup.playing([
      { toolCalls: [{ name: 'ask_human', input: { question: 'Which color?' } }] },
      { text: 'Blue it is.' },
    ]);
    const view = await setup.open(`#r=${session}`);
    const box = view.getByRole('textbox', { name: 'Your answer' });
    await box.fill('blu');
    await setup.setup.runtime.sessions.send(session, { type: 'user.message', text: 'Hurry.' });
    await transcriptOf(view).getByText('Hurry.').waitFor(LIMIT);
    await box.focus();
    await view.keyboard.press('End');
    await view.keyboard.type('e');
    await expect.poll(() => box.inputValue()).toBe('blue');
    await view.keyboard.press('Control+Enter');
    await view.getByText('You answered.').waitFor(LIMIT);
    expect((await setup.setup.log(session)).find(({ type }) => type === 'user.answer')?.data).toMatchObject({
      response: 'blue',
    });
  });

  it('tell that another has answered meanwhile, and what, with what was being written', async () => {
    const setup = await shown();
    const session = await setup.waiting();
    const view = await setup.open(`#r=${session}`);
    await view.getByLabel(/^A note for the agent/).fill('half a thou');
    const requestId = (await setup.source.session(session))?.pendingActions[0]?.requestId ?? '';
    await setup.source.answer(session, { type: 'deny', requestId, note: 'no' });
    await view.getByText('Answered elsewhere.').waitFor(LIMIT);
    const request = view.getByRole('region', { name: 'Permission: deploy' });
    await expect.poll(() => textOf(request)).toMatch(/It was denied: no \(event \d+\)/);
    await expect.poll(() => request.getByRole('textbox').inputValue()).toBe('half a thou');
    await expect.poll(() => button(view, 'Allow once').count()).toBe(0);
  });

  it('tell why an answer was not taken, and what became of the request instead', async () => {
    const setup = await shown({
      replaced: () => ({
        answer: () =>
          Promise.reject(
            new RuntimeError('REQUEST_NOT_PENDING', 'the request was answered before', {
              category: 'conflict',
              hint: 'Check the session.',
            }),
          ),
      }),
    });
    const session = await setup.waiting();
    const view = await setup.open(`#r=${session}`);
    await button(view, 'Allow once').click();
    await expect
      .poll(() => textOf(view.getByRole('alert')))
      .toContain('Your answer was not taken: the request was answered before. Check the session.');
    await expect.poll(() => button(view, 'Deny').isEnabled()).toBe(true);
    expect(await answersIn(setup, session)).toEqual([]);
  });

  it('offer no answer to a request that has expired', async () => {
    const setup = await shown();
    const session = await setup.waiting({ expiresAfterSeconds: 60 });
    const view = await setup.open(`#r=${session}`);
    await button(view, 'Allow once').waitFor(LIMIT);
    await setup.setup.clock.advance(120_000);
    await view.getByText(/^It has expired/).waitFor(LIMIT);
    await expect.poll(() => button(view, 'Allow once').count()).toBe(0);
  });

  it('show a hostile transcript as text, to its end, and hide nothing of what is asked for', async () => {
    const setup = await shown();
    const line = 'x'.repeat(1_000_000);
    const session = await setup.playing([
      {
        text: `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script> \u202Etxt.exe ${line}`,
        toolCalls: [{ name: 'deploy', input: { command: 'rm -rf /tmp/\u202Eyrt\u200B' } }],
      },
    ]);
    const view = await setup.open(`#r=${session}`);
    const told = await textOf(transcriptOf(view));
    expect(told).toContain('<img src=x onerror=');
    expect(told).toContain(String.raw`\u{202E}txt.exe`);
    expect(told.length).toBeLessThan(20_000);
    const asked = await textOf(view.getByRole('region', { name: 'Permission: deploy' }));
    expect(asked).toContain(String.raw`rm -rf /tmp/\u{202E}yrt\u{200B}`);
    expect(asked).toContain('characters beyond plain ASCII');
    expect(await view.title()).toBe('Wakechart inspector');
    await expect.poll(() => view.locator('main img, main script').count()).toBe(0);
  });

  it('say of one whose log cannot be read why, and who can do something about it', async () => {
    const session = '0192f0c1-2345-7abc-8def-0123456789ab';
    const state: SessionState = {
      ...initialSessionState({ sessionId: session, agentId: 'player' }),
      unreadable: {
        name: 'RuntimeError',
        code: 'LOG_DAMAGED',
        category: 'storage',
        recoverable: false,
        message: 'the disk is <b>broken</b>',
      },
    };
    const why = explain(state, 0);
    const setup = await shown({
      replaced: () => ({
        sessions: async () => ({
          sessions: [{ sessionId: session, agentId: 'player', status: 'idle', pendingActions: 0, why: why.reasons[0] }],
          total: 1,
        }),
        session: async () => ({
          state,
          why,
          pendingActions: [],
          usage: { inputTokens: 0, outputTokens: 0, isCostPartial: false, wakes: [], wakeCount: 0 },
          at: 0,
        }),
        events: () =>
          Promise.reject(
            new RuntimeError('LOG_DAMAGED', 'the disk is broken', { category: 'storage', hint: 'Restore it.' }),
          ),
      }),
    });
    const view = await setup.open();
    const option = view.getByRole('listbox', { name: 'Sessions' }).getByRole('option');
    await option.click();
    await expect.poll(() => textOf(option)).toContain('cannot be read');
    const told = await textOf(view.getByRole('region', { name: 'Why' }));
    expect(told).toContain('Its log cannot be read: the disk is <b>broken</b>');
    expect(told).toContain('restores the log from a copy');
  });

  it('say of one that is not there that it is not', async () => {
    const setup = await shown();
    const view = await setup.open('#r=0192f0c1-2345-7abc-8def-0123456789ab');
    await expect
      .poll(() => textOf(view.getByRole('alert').first()))
      .toMatch(/This session cannot be shown: .*no session/);
  });

  it('are walked through by arrow keys, and found by a search', async () => {
    const setup = await shown();
    await setup.waiting();
    for (let count = 1; count < 6; count += 1) await setup.waitingToo();
    const view = await setup.open();
    const options = view.getByRole('listbox', { name: 'Sessions' }).getByRole('option');
    await options.first().waitFor(LIMIT);
    await expect.poll(() => options.count()).toBe(6);
    await options.first().focus();
    await view.keyboard.press('ArrowDown');
    await view.keyboard.press('Enter');
    await expect.poll(() => options.nth(1).getAttribute('aria-selected'), LIMIT).toBe('true');
    await view.getByRole('searchbox', { name: 'Search the sessions' }).fill('nothing like it');
    await view.getByText('No session says that.').waitFor(LIMIT);
  });

  it('lead from each entry of the transcript to its record', async () => {
    const setup = await shown();
    const session = await setup.waiting();
    const view = await setup.open(`#r=${session}`);
    await transcriptOf(view)
      .getByRole('button', { name: /show the record of event 2$/ })
      .click();
    await expect.poll(() => new URL(view.url()).hash, LIMIT).toMatch(/e=\d+/);
    const told = new URLSearchParams(new URL(view.url()).hash.slice(1));
    const recording = await setup.source.recordingOf(session);
    const types: unknown[] = [];
    for await (const batch of recording!.records(Number(told.get('e'))))
      types.push(...batch.slice(0, 1).map((record) => ('type' in record ? record.type : record.k)));
    expect(types[0]).toBe((await setup.setup.log(session))[1]?.type);
  });

  it('open with the one that waits where a living runtime is checked, unless the address asks for something else', async () => {
    const setup = await shown({ replaced: (real) => ({ about: () => ({ ...real.about(), kind: 'runtime' }) }) });
    const session = await setup.waiting();
    const view = await setup.open();
    await expect.poll(() => new URL(view.url()).hash, LIMIT).toContain(session);
    await button(view, 'Allow once').waitFor(LIMIT);
    const elsewhere = await setup.open('#s=1');
    await button(elsewhere, /1 waits for you/).waitFor(LIMIT);
    expect(new URL(elsewhere.url()).hash).toBe('#s=1');
  });

  it('take the keys along: what waits is opened, answered and gone on from without a pointer, and what is folded stays so', async () => {
    const setup = await shown();
    await setup.waiting();
    const other = await setup.waitingToo();
    const view = await setup.open(`#r=${other}`);
    const offer = button(view, /2 wait for you/);
    await offer.focus();
    await view.keyboard.press('Enter');
    const request = view.getByRole('region', { name: 'Permission: deploy' });
    await expect
      .poll(() => request.evaluate((element) => element === element.ownerDocument.activeElement), LIMIT)
      .toBe(true);
    const movers = view.getByRole('group').filter({ hasText: 'Who can move it on' }).first();
    await expect.poll(() => movers.getAttribute('open')).toBeNull();
    await view.keyboard.press('Tab');
    await view.keyboard.press('Tab');
    await view.keyboard.press('Enter');
    await view.getByText('You allowed it this once.').waitFor(LIMIT);
    await view.getByText('no worker runs this session now').waitFor(LIMIT);
    await expect.poll(() => movers.getAttribute('open')).toBeNull();
  });

  it('show a moment of the past as it was, without buttons, and say what shows now', async () => {
    const setup = await shown();
    const session = await setup.waiting();
    const view = await setup.open(`#r=${session}`);
    await button(view, 'Allow once').waitFor(LIMIT);
    const transcript = transcriptOf(view);
    await transcript.getByRole('button', { name: /show the record of event 2$/ }).click();
    await view.getByText(/^This list shows now, not/).waitFor(LIMIT);
    await view.getByText(/^Wakes, changes and processes are shown as they are now, not/).waitFor(LIMIT);
    await expect.poll(() => textOf(view.getByRole('region', { name: 'Why' }))).toBe('It rested.');
    await expect.poll(() => button(view, 'Allow once').count()).toBe(0);
    await expect.poll(() => transcript.getByText('I would deploy now.').count()).toBe(0);
    await view.getByRole('region', { name: 'State' }).getByRole('button', { name: 'Return to live' }).click();
    await button(view, 'Allow once').waitFor(LIMIT);
    await transcript.getByText('I would deploy now.').waitFor(LIMIT);
  });

  it('tell where a call would run, and give commands that name the home', async () => {
    const setup = await shown({ replaced: (real) => ({ about: () => ({ ...real.about(), home: "/a b/it's" }) }) });
    const session = await setup.waiting();
    const view = await setup.open(`#r=${session}`);
    const asked = (await setup.setup.log(session)).find(({ type }) => type === 'permission.requested')?.data;
    expect(asked).toHaveProperty('cwd');
    await expect
      .poll(() => textOf(view.getByRole('region', { name: 'Permission: deploy' })))
      .toContain((asked as { readonly cwd: string }).cwd);
    await view.getByText('Who can move it on').first().click();
    await expect
      .poll(() => textOf(view.getByRole('region', { name: 'Why' })))
      .toContain(String.raw`wakechart --home '/a b/it'\''s' session confirm-tool --session`);
  });

  it('show what was committed since it began, and what was not, in one difference', async () => {
    const difference =
      'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\ndiff --git a/b.txt b/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+loose\n';
    const commits = [
      { hash: '94590022cc'.repeat(4), subject: 'Count the quantity\u202E', at: '2026-03-01T12:01:00.000Z' },
    ];
    const files = [
      { path: 'a.txt', change: 'changed' as const },
      { path: 'b.txt', change: 'untracked' as const, isUncommitted: true as const },
    ];
    const setup = await shown({
      replaced: () => ({
        changes: async () => [
          {
            title: 'the workspace',
            branch: 'main',
            files,
            fileCount: 2,
            difference,
            since: 'the last commit before the session began, bdcfd1014d',
            commits,
            commitCount: 3,
            isCut: false,
          },
        ],
      }),
    });
    const view = await setup.open(`#r=${await setup.waiting()}`);
    await view.locator('summary').filter({ hasText: 'Changes' }).click();
    await view
      .getByText('Compared with the last commit before the session began, bdcfd1014d. 3 commits since:')
      .waitFor(LIMIT);
    const listed = view.getByRole('list', { name: 'Commits' }).getByRole('listitem');
    await expect.poll(() => textOf(listed.nth(0))).toContain('94590022cc Count the quantity\\u{202E}');
    await expect.poll(() => textOf(listed.nth(1))).toBe('2 earlier ones');
    await expect.poll(() => view.locator('summary').filter({ hasText: 'not committed' }).count()).toBe(1);
    await expect.poll(() => textOf(view.locator('summary').filter({ hasText: 'b.txt' }))).toContain('not committed');
    expect(await faultsOf(view)).toEqual([]);
  });

  it('pass axe, wide and narrow, light and dark', async () => {
    const setup = await shown();
    const session = await setup.waiting();
    for (const check of [
      { colorScheme: 'light' },
      { colorScheme: 'dark' },
      { viewport: { width: 390, height: 844 } },
    ] as const) {
      const view = await setup.open(`#r=${session}`, check);
      await button(view, 'Allow once').waitFor(LIMIT);
      for (const name of ['Wakes so far', 'Changes', 'Processes'])
        await view.locator('summary').filter({ hasText: name }).click();
      expect(await faultsOf(view)).toEqual([]);
    }
  });
});
