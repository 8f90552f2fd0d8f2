/** The chart of an actor in the page of the inspector, in a real browser. */
import { describe, expect, it } from 'vitest';
import { describeChart } from '../../src/machines/inspection/describe-chart.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import { browserOfFile } from '../support/browser.ts';
import { SUPERVISOR, TASK, accessibilityFaults, shownStory, storyRecords } from './inspector-events-story.ts';

const browser = await browserOfFile();
const WAIT_MS = 10_000;

/** The task at the end of its chart, which is larger than any pane. */
const LARGE = [
  { k: 'machine', a: SUPERVISOR, id: 'task', chart: describeChart(taskMachine) },
  { k: 'actor', a: TASK, id: 'task_1', kind: 'task', chart: 'task', value: { sleeping: 'stopping' }, status: 'active' },
] as const;

interface Measured {
  /** Of the words of the chart, in pixels on the screen. */
  readonly smallest: number;
  /** Something else is on the chart. */
  readonly covered: boolean;
  readonly activeIsInView: boolean;
  /** It is larger than its pane. */
  readonly isCut: boolean;
}

/** Runs in the page, so it is text. */
const MEASURE = `(() => {
  const view = document.querySelector('.picture-view');
  const svg = view.querySelector('svg');
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const sizes = [...svg.querySelectorAll('text')].map((text) => parseFloat(getComputedStyle(text).fontSize) * scale);
  const active = [...svg.querySelectorAll('[data-state].is-active')].at(-1).getBoundingClientRect();
  const [frame, zoom] = [view, document.querySelector('.picture-zoom')].map((each) => each.getBoundingClientRect());
  return {
    smallest: Math.min(...sizes),
    covered: zoom.top < frame.bottom && zoom.bottom > frame.top,
    activeIsInView:
      active.top >= frame.top && active.bottom <= frame.bottom && active.left >= frame.left && active.right <= frame.right,
    isCut: view.scrollHeight > view.clientHeight || view.scrollWidth > view.clientWidth,
  };
})()`;

describe.skipIf(browser === undefined)('the chart of an actor', () => {
  it('is drawn with every state lit that it is in, and with the last transition', async () => {
    const { page, show } = await shownStory(browser!);
    await show(`a=${TASK}`);
    await page.locator('[data-state="running.active"]').waitFor();
    const lit = (attribute: string): Promise<string[]> =>
      page
        .locator(`[${attribute}].is-active`)
        .evaluateAll(
          (elements, name) =>
            elements.map((element) =>
              (element as unknown as { getAttribute: (of: string) => string }).getAttribute(name),
            ),
          attribute,
        );
    await expect.poll(() => lit('data-state'), { timeout: WAIT_MS }).toEqual(['running', 'running.active']);
    await expect.poll(() => lit('data-transition')).toEqual(['running.starting|STARTED|0']);
    await show(`a=${TASK}&s=3`);
    await expect.poll(() => lit('data-state'), { timeout: WAIT_MS }).toEqual(['queued']);
    await expect.poll(() => lit('data-transition')).toEqual([]);
  });

  it('says what can happen, what would do nothing and why, and what happens by itself when', async () => {
    const { page, show } = await shownStory(browser!);
    await show(`a=${TASK}&s=10`);
    const now = page.getByRole('region', { name: 'Can happen now' });
    await now.getByText('REQUEST_PERMISSION').waitFor();
    await expect
      .poll(() => now.getByRole('listitem').filter({ hasText: 'COMPLETE' }).textContent())
      .toContain('→ completed');
    const idle = page.getByRole('region', { name: 'Would do nothing now' });
    await expect
      .poll(() => idle.getByRole('listitem').filter({ hasText: 'START' }).first().textContent())
      .toContain('This state has no transition for it. It would be in queued.');
    await expect
      .poll(() => page.getByRole('region', { name: 'Happens by itself' }).textContent())
      .toMatch(/after\(idle\)in 59 min/);
  });

  it('shows an event that was sent and not processed at that moment', async () => {
    const { page, show } = await shownStory(browser!);
    await show(`a=${TASK}&s=8`);
    await expect.poll(() => page.getByRole('region', { name: 'On the way' }).textContent()).toContain('STARTED');
    await show(`a=${TASK}&s=10`);
    await page.getByRole('region', { name: 'On the way' }).waitFor({ state: 'detached' });
  });

  it('becomes a list of its states, with the reason, when it cannot be drawn, and is drawn when it is asked for again', async () => {
    let isBroken = true;
    const { page, show } = await shownStory(browser!, {
      draw: async () => {
        if (isBroken) throw new Error('no space');
        return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><script>document.title = "taken"</script><g data-state="running"/></svg>';
      },
    });
    await show(`a=${TASK}`);
    const list = page.getByRole('region', { name: 'States of task' });
    await list.waitFor();
    expect(
      await list
        .getByRole('listitem')
        .filter({ hasText: /^runningactive/ })
        .textContent(),
    ).toContain('activeactive');
    await page.getByText('There is no picture:').waitFor();
    isBroken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Chart of task' }).waitFor();
    await expect.poll(() => page.locator('script:not([src])').count()).toBe(0);
    expect(await page.title()).not.toBe('taken');
  });

  it('says so where there is none', async () => {
    const { page, show } = await shownStory(browser!);
    await show(`a=${SUPERVISOR}`);
    await page.getByText('taskSupervisor has no chart').waitFor();
    await show('a=b1:x:99');
    await page.getByText('Nothing is known of x:99').waitFor();
    await show(`a=${TASK}&s=2`);
    await page.getByRole('button', { name: 'Go to where it is first heard of' }).click();
    await page.getByRole('region', { name: 'State', exact: true }).getByRole('heading', { name: 'Build it' }).waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'States of task' }).count()).toBe(0);
  });

  it('is made larger and smaller by keys', async () => {
    const { page, show } = await shownStory(browser!);
    await show(`a=${TASK}`);
    await page.getByRole('region', { name: 'Chart of task' }).focus();
    await page.keyboard.press('1');
    await page.getByRole('button', { name: /^100 %/ }).waitFor();
    await page.keyboard.press('+');
    await page.getByRole('button', { name: /^120 %/ }).waitFor();
    await page.keyboard.press('0');
    await expect
      .poll(() => page.getByRole('button', { name: 'Fit' }).getAttribute('aria-pressed'), { timeout: WAIT_MS })
      .toBe('true');
    const cut = await page.getByRole('region', { name: 'Chart of task' }).evaluate((element) => {
      const { clientWidth, clientHeight, scrollWidth, scrollHeight } = element as unknown as Record<
        'clientWidth' | 'clientHeight' | 'scrollWidth' | 'scrollHeight',
        number
      >;
      return [scrollWidth - clientWidth, scrollHeight - clientHeight];
    });
    expect(cut).toEqual([0, 0]);
  });

  it('says how a call ended, how long it took and what it waited for', async () => {
    const call = {
      a: TASK,
      id: 'call_1',
      kind: 'toolCall',
      facts: { label: 'node cart.test.mjs', name: 'shell_run', callId: 'call_1', exitCode: '1' },
    };
    const { page } = await shownStory(browser!, {
      records: storyRecords([
        { ...call, k: 'actor', value: 'awaiting_permission', status: 'active' },
        { k: 'step', a: TASK, type: 'RUN', taken: ['a|b|0'], value: 'executing', status: 'active' },
        { k: 'step', a: TASK, type: 'COMPLETE', taken: ['a|b|0'], value: 'completed', status: 'done' },
      ]),
    });
    await expect
      .poll(() => page.getByRole('treeitem').allTextContents(), { timeout: WAIT_MS })
      .toEqual(['node cart.test.mjs, toolCall, exit 1, failed, took 2 ms']);
    const state = page.getByRole('region', { name: 'State', exact: true });
    await state.getByText('took 2 ms (waited 1 ms)').waitFor();
    await state.getByText('exit 1').waitFor();
    await state.getByText('shell_run').first().waitFor();
  });

  it.each([1440, 768, 390])(
    'begins where its actor is, in words that can be read, with nothing on it, %i wide',
    async (width) => {
      const { page, show } = await shownStory(browser!, { records: storyRecords(LARGE) });
      await page.setViewportSize({ width, height: 900 });
      await show(`a=${TASK}`);
      // On a narrow page one of the columns is shown.
      if (width < 820) await page.getByRole('tab', { name: 'State' }).click();
      const view = page.getByRole('region', { name: 'Chart of task' });
      await view.waitFor();
      await page.locator('[data-state="sleeping.stopping"].is-active').waitFor();
      const measured = (): Promise<Measured> => page.evaluate<Measured>(MEASURE);
      await expect.poll(async () => (await measured()).activeIsInView, { timeout: WAIT_MS }).toBe(true);
      const { smallest, covered, isCut } = await measured();
      expect([smallest >= 11, covered]).toEqual([true, false]);
      expect(isCut).toBe(true);
    },
  );

  it.each([1440, 390])('opens whenever an actor is chosen, whatever was shown before, %i wide', async (width) => {
    const { page } = await shownStory(browser!);
    await page.setViewportSize({ width, height: 900 });
    const choose = async (): Promise<void> => {
      if (width < 820) await page.getByRole('tab', { name: 'Actors' }).click();
      await page
        .getByRole('treeitem')
        .filter({ hasText: /^Build it/ })
        .click();
      await page.getByRole('region', { name: 'Chart of task' }).waitFor();
    };
    await choose();
    // From the head of a column of the sequence too.
    if (width < 820) await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('tab', { name: 'Sequence' }).click();
    await page.getByRole('group', { name: 'Actors of the diagram' }).getByRole('button', { name: 'Build it' }).click();
    await page.getByRole('region', { name: 'Chart of task' }).waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'Chart of task' }).isVisible()).toBe(true);
  });

  it.each(['light', 'dark'] as const)('passes an accessibility check, %s', async (colorScheme) => {
    const { page, show } = await shownStory(browser!, { colorScheme });
    await show(`a=${TASK}&s=8`);
    await page.locator('[data-state="running.active"]').waitFor();
    expect(await accessibilityFaults(page, ['State'])).toEqual([]);
  });
});
