/** Words of a model on the page of the inspector while it says them, in a real browser over a real runtime. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserOfFile } from '../support/browser.ts';
import { SPEAKER, speakingBackend } from '../support/speaking-backend.ts';
import { showSetup } from './inspector-session-setup.ts';

const browser = await browserOfFile();
const LIMIT = { timeout: 15_000 };

const transcriptOf = (view: Page): Locator => view.getByRole('region', { name: 'Transcript' });
const nowIn = (view: Page): Locator => view.getByRole('group', { name: 'Being said now' });

describe.skipIf(browser === undefined)('words of a model on the page', () => {
  it('stand below the transcript as they come, and give way to the message without a moment of neither', async () => {
    const backend = speakingBackend();
    const { setup, open, problems } = await showSetup({ browser: browser!, runtimes: [backend.runtime] });
    const session = await setup.session([], { message: 'Tell me.', agent: SPEAKER });
    const waking = setup.runtime.wake(session);
    const voice = await backend.voice();
    const view = await open(`#r=${session}`);
    voice.think('A tale it is to be. ');
    voice.say('Once upon ');
    await nowIn(view).getByText('Once upon').waitFor(LIMIT);
    voice.say('a time <b>there</b> was');
    await nowIn(view).getByText('Once upon a time <b>there</b> was').waitFor(LIMIT);
    await expect.poll(() => nowIn(view).innerText()).toContain('A tale it is to be.');
    // Each frame has it at least once, and the last exactly once.
    await view.evaluate(`(() => {
      globalThis.missing = [];
      const check = () => {
        const text = document.querySelector('[aria-label="Transcript"]')?.textContent ?? '';
        missing.push(text.includes('Once upon') ? 0 : 1);
        requestAnimationFrame(check);
      };
      check();
    })()`);
    backend.end();
    await waking;
    await nowIn(view).waitFor({ ...LIMIT, state: 'detached' });
    await expect.poll(() => transcriptOf(view).locator('.is-said', { hasText: 'Once upon a time' }).count()).toBe(1);
    const missing = await view.evaluate(
      () => (globalThis as unknown as { readonly missing: readonly number[] }).missing,
    );
    expect(missing.reduce((sum, each) => sum + each, 0)).toBe(0);
    expect([...browser!.said, ...browser!.refused, ...problems]).toEqual([]);
  });

  it('stand beside which process on which machine wakes the session', async () => {
    const backend = speakingBackend();
    const { setup, open } = await showSetup({
      browser: browser!,
      runtimes: [backend.runtime],
      replaced: (real) => ({
        session: async (id) => {
          const found = await real.session(id);
          return found?.worker === undefined
            ? found
            : { ...found, worker: { ...found.worker, owner: 'far:4321', place: 'elsewhere', host: 'far', pid: 4321 } };
        },
      }),
    });
    const session = await setup.session([], { message: 'Tell me.', agent: SPEAKER });
    const waking = setup.runtime.wake(session);
    await backend.voice();
    const view = await open(`#r=${session}`);
    await view.getByText('far:4321').first().waitFor(LIMIT);
    await view.getByText(`wakechart inspect --session ${session}`).waitFor(LIMIT);
    await view.getByText('kill 4321').waitFor(LIMIT);
    await expect.poll(() => view.getByText('None is known').count()).toBe(0);
    backend.end();
    await waking;
  });
});
