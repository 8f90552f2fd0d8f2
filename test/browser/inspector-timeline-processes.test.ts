/**
 * A session over time, in a real browser over a real runtime: what happened as bars, from a bar to its event and back,
 * closer and along, by pointer and by keyboard, on wide and narrow pages, of short and of long sessions.
 */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserOfFile } from '../support/browser.ts';
import { showSetup } from './inspector-session-setup.ts';
import type { ShownSetup } from './inspector-session-setup.ts';
import { CHILD, STORY, STORY_MS, tellLong, tellStory } from './inspector-timeline-story.ts';

const browser = await browserOfFile();
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const LIMIT = { timeout: 15_000 };
const HERE = `#r=${STORY}&m=timeline`;

const timeline = (view: Page): Locator => view.getByRole('tree', { name: 'Timeline' });
const row = (view: Page, name: RegExp): Locator => timeline(view).getByRole('treeitem', { name }).first();
/** What is heard of each. */
const rows = (view: Page): Promise<readonly string[]> =>
  timeline(view).getByRole('treeitem').locator('.unseen').allInnerTexts();
const heard = (bar: Locator): Promise<string> => bar.locator('.unseen').innerText(LIMIT);
/** Chooses the first event that is called so. */
const chooseEvent = async (view: Page, type: string): Promise<void> => {
  const events = view.getByLabel('Events', { exact: true });
  await events.getByRole('searchbox').fill(type);
  await events.locator('.record').filter({ hasText: type }).first().click(LIMIT);
};
const addressOf = (view: Page): URLSearchParams => new URLSearchParams(new URL(view.url()).hash.slice(1));
const zoomOf = async (view: Page): Promise<number> =>
  Number.parseFloat(await view.getByLabel('Enlarged').innerText(LIMIT));

interface Told {
  readonly setup: ShownSetup;
  /** Until then its wake runs; after that its process is dead. */
  readonly die: () => Promise<void>;
}

/** The session of the story, eight seconds after its last event. */
async function told({ isToTheEnd = true } = {}): Promise<Told> {
  const setup = await showSetup({ browser: browser! });
  const { store, clock } = setup.setup;
  await tellStory(store, clock.now(), isToTheEnd);
  await clock.advance(STORY_MS + 8_000);
  const right = await store.acquireWakeRight(STORY, { epoch: 5, isOpen: true });
  return { setup, die: () => right.release() };
}

async function faultsOf(view: Page): Promise<readonly string[]> {
  await view.evaluate(AXE);
  return view.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as {
        readonly axe: {
          run(where: string): Promise<{
            readonly violations: readonly {
              readonly id: string;
              readonly nodes: readonly { readonly html: string }[];
            }[];
          }>;
        };
      }
    ).axe.run('[aria-label=State]');
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  });
}

/** The parts of a bar, with their widths in pixels. */
const partsOf = (bar: Locator): Promise<readonly (readonly [string, number])[]> =>
  bar
    .locator('.bar-part')
    .evaluateAll((parts) =>
      parts.map((part) => [part.className.replace('bar-part is-', ''), part.getBoundingClientRect().width] as const),
    );

describe.skipIf(browser === undefined)('the timeline of a session', () => {
  it('has a row for each wake, step, attempt, call, request and child, with its outcome, tokens and money', async () => {
    const { setup } = await told();
    const view = await setup.open(`#r=${STORY}`);
    await view.getByRole('tab', { name: 'Timeline' }).click();
    await row(view, /npm run smoke/).waitFor(LIMIT);
    const all = await rows(view);
    const expected = [
      /^Session, active, 25 min, of which it waited 11 min, [\d.]+k tokens · ≥ \$0\.20$/,
      /^Wake, Wake 1 for a message, done, 29 s, of which it waited 7\.2 s, 27\.8k tokens · \$0\.0627$/,
      /^Model step, anthropic\/claude-sonnet-4-5, done, 4\.9 s, 12\.7k tokens · \$0\.0420$/,
      /^Attempt, anthropic\/claude-sonnet-4-5, failed, 1\.9 s, overloaded: the service is overloaded$/,
      /^Attempt, openai\/gpt-5, done/,
      /^Call, npm test -- --run, done, 8\.0 s$/,
      /^Call, deploy --to production, failed, 10 min, of which it waited 9 min, exit 1: error: the host does not/,
      /^Request, Permission, done, 9 min, of which it waited 9 min$/,
      /^Session that works for it, helper, done, 1 min$/,
      /^Wake, Wake 3 for a message, failed, 10 s, It failed: the key was refused by the provider$/,
      /^Model step, anthropic\/claude-sonnet-4-5, failed, 9\.8 s, auth: the key was refused$/,
      /^Wake, Wake 4 after a failure, unknown, 12 s, .*The process of this wake/,
      /^Call, ssh host systemctl restart web, unknown, 6\.0 s/,
      /^Call, npm run smoke, active/,
    ];
    expect(expected.filter((name) => all.filter((each) => name.test(each)).length !== 1)).toEqual([]);
    const kinds = (await partsOf(row(view, /^Call, deploy/))).map(([kind]) => kind);
    expect(kinds).toContain('waiting');
    expect(kinds.at(-1)).toBe('working');
    expect([...browser!.said, ...browser!.refused, ...setup.problems]).toEqual([]);
  });

  it('leads from a bar to its event and its end, and from an event to its bar; the address keeps both', async () => {
    const { setup } = await told();
    const view = await setup.open(HERE);
    await row(view, /^Call, deploy/).click(LIMIT);
    await view.getByRole('heading', { name: 'agent.tool_use' }).waitFor(LIMIT);
    await expect.poll(() => addressOf(view).get('e'), LIMIT).not.toBeNull();
    expect(addressOf(view).get('m')).toBe('timeline');
    const begun = addressOf(view).get('e');
    await view.getByRole('button', { name: 'Its end' }).click();
    await view.getByRole('heading', { name: 'agent.tool_result' }).waitFor(LIMIT);
    await expect.poll(() => row(view, /^Call, deploy/).getAttribute('aria-selected'), LIMIT).toBe('true');
    await expect.poll(() => addressOf(view).get('e'), LIMIT).not.toBe(begun);
    const before = addressOf(view).get('e');
    await chooseEvent(view, 'run.attempt_failed');
    await expect.poll(() => row(view, /^Attempt, .*overloaded/).getAttribute('aria-selected'), LIMIT).toBe('true');
    await expect.poll(() => addressOf(view).get('e'), LIMIT).not.toBe(before);
    const again = await setup.open(new URL(view.url()).hash);
    await expect.poll(() => row(again, /^Attempt, .*overloaded/).getAttribute('aria-selected'), LIMIT).toBe('true');
    // What is closed away is opened for the event that is chosen.
    await row(again, /^Wake, Wake 1/)
      .locator('.toggle')
      .click();
    await expect.poll(() => row(again, /^Call, npm test/).count(), LIMIT).toBe(0);
    await chooseEvent(again, 'agent.tool_started');
    await expect.poll(() => row(again, /^Call, npm test/).getAttribute('aria-selected'), LIMIT).toBe('true');
  });

  it('is enlarged and moved by buttons, keys, wheel and dragging, and fits again', async () => {
    const { setup } = await told();
    const view = await setup.open(HERE);
    await row(view, /^Call, npm test/).waitFor(LIMIT);
    await expect.poll(() => zoomOf(view)).toBe(1);
    await view.getByRole('button', { name: 'Larger' }).click();
    await expect.poll(() => zoomOf(view)).toBe(1.5);
    await timeline(view).focus();
    await view.keyboard.press('+');
    await expect.poll(() => zoomOf(view), LIMIT).toBeGreaterThan(2);
    await view.keyboard.press('0');
    await expect.poll(() => zoomOf(view), LIMIT).toBe(1);
    const [{ x, y, width }] = [
      (await row(view, /^Call, npm test/)
        .locator('.bar-track')
        .boundingBox())!,
    ];
    await view.mouse.move(x + 30, y + 8);
    await view.keyboard.down('Control');
    await view.mouse.wheel(0, -600);
    await view.keyboard.up('Control');
    await expect.poll(() => zoomOf(view), LIMIT).toBeGreaterThan(3);
    const before = await partsOf(row(view, /^Call, npm test/));
    await view.keyboard.press('Shift+ArrowRight');
    await view.getByRole('button', { name: 'Earlier' }).click();
    // A bar that went there and back is laid out anew: a fraction of a pixel is not told apart.
    await expect
      .poll(() => partsOf(row(view, /^Call, npm test/)))
      .toEqual(before.map(([kind, pixels]) => [kind, expect.closeTo(pixels, 0)]));
    await view.mouse.move(x + width / 2, y + 8);
    await view.mouse.down();
    await view.mouse.move(x + width / 4, y + 8, { steps: 4 });
    await view.mouse.up();
    expect(addressOf(view).get('e')).toBeNull();
    await view.getByRole('button', { name: 'Fit' }).click();
    const ruler = (await view.locator('.ruler').boundingBox())!;
    await view.mouse.move(ruler.x + 2, ruler.y + 8);
    await view.mouse.down();
    await view.mouse.move(ruler.x + ruler.width / 10, ruler.y + 8, { steps: 4 });
    await view.mouse.up();
    await expect.poll(() => zoomOf(view), LIMIT).toBeGreaterThan(8);
  });

  it('is walked through by arrow keys: bars are opened, closed, chosen, enlarged and followed to a child', async () => {
    const { setup } = await told();
    const view = await setup.open(HERE);
    await row(view, /^Session, /).waitFor(LIMIT);
    await timeline(view).focus();
    await view.keyboard.press('Home');
    await view.keyboard.press('ArrowDown');
    await expect.poll(() => row(view, /^Wake, Wake 1/).getAttribute('aria-selected'), LIMIT).toBe('true');
    await view.keyboard.press('ArrowLeft');
    await expect.poll(() => row(view, /^Wake, Wake 1/).getAttribute('aria-expanded'), LIMIT).toBe('false');
    expect(await heard(row(view, /^Wake, Wake 1/))).toMatch(/, in it \d failed$/);
    await view.keyboard.press('ArrowRight');
    await view.keyboard.press('ArrowRight');
    await view.keyboard.press('Enter');
    await view.getByRole('heading', { name: 'span.started' }).waitFor(LIMIT);
    await view.keyboard.press('z');
    await expect.poll(() => zoomOf(view), LIMIT).toBeGreaterThan(5);
    await row(view, /^Session that works for it/).click();
    await timeline(view).press('o');
    await expect.poll(() => addressOf(view).get('r'), LIMIT).toBe(CHILD);
    await row(view, /^Wake, Wake 1 for a message, done, 54 s$/).waitFor(LIMIT);
    expect(addressOf(view).get('m')).toBe('timeline');
  });

  it('lets what runs grow to now, and ends what died where it was heard of last', async () => {
    const { setup, die } = await told();
    const view = await setup.open(HERE);
    const seconds = async (): Promise<number> =>
      Number.parseFloat(/active, ([\d.]+) s/.exec(await heard(row(view, /^Call, npm run smoke/)))?.[1] ?? '0');
    await row(view, /^Call, npm run smoke, active/).waitFor(LIMIT);
    const before = await seconds();
    expect(before).toBeGreaterThanOrEqual(8);
    await expect.poll(seconds, LIMIT).toBeGreaterThan(before);
    await die();
    await row(view, /^Wake, Wake 5 for a message, unknown, 12 s/).waitFor(LIMIT);
    await row(view, /^Call, npm run smoke, unknown/).waitFor(LIMIT);
    await row(view, /^Session, unknown, 25 min/).waitFor(LIMIT);
  });

  it('shows a permission that waits as waiting until now, whichever wake asked', async () => {
    const { setup } = await told({ isToTheEnd: false });
    const view = await setup.open(HERE);
    await row(view, /^Wake, Wake 1 for a message, done, 29 s/).waitFor(LIMIT);
    await row(view, /^Request, Permission, done, 9 min/).waitFor(LIMIT);
    await setup.setup.runtime.sessions.send(STORY, { type: 'user.message', text: 'And now?' });
    const waiting = await setup.waiting();
    const other = await setup.open(`#r=${waiting}&m=timeline`);
    await row(other, /^Request, Permission, waits/).waitFor(LIMIT);
    await expect.poll(async () => (await rows(other))[0], LIMIT).toMatch(/^Session, waits/);
  });

  it('stays quick where ten thousand events happened: few rows exist, and a drag of the scroll bar drops few frames', async () => {
    const { setup } = await told();
    const long = await tellLong(setup.setup.store, setup.setup.clock.now());
    const view = await setup.open(`#r=${long}&m=timeline`);
    await expect.poll(() => row(view, /^Wake, Wake 1 /).getAttribute('aria-setsize'), LIMIT).toBe('100');
    // At first only what is in the newest wake is seen.
    await view.getByRole('button', { name: 'Close all' }).click();
    await view.getByRole('button', { name: 'Open all' }).click();
    await row(view, /^Call, make part-0/).waitFor(LIMIT);
    expect(await timeline(view).evaluate((list) => list.scrollHeight)).toBeGreaterThan(100_000);
    const scrolled = await timeline(view).evaluate(async (list) => {
      const frames: number[] = [];
      for (let at = 0; at <= list.scrollHeight; at += list.scrollHeight / 40) {
        const begun = performance.now();
        list.scrollTop = at;
        await new Promise((resolve) => setTimeout(resolve, 32));
        frames.push(performance.now() - begun - 32);
      }
      return {
        slowest: frames.toSorted((one, other) => other - one)[2] ?? 0,
        rows: list.querySelectorAll('.bar-row').length,
      };
    });
    expect(scrolled.rows).toBeLessThan(60);
    // Two cores that others use too: alone it is a tenth.
    expect(scrolled.slowest).toBeLessThan(250);
  });

  it.each(['light', 'dark'] as const)(
    'passes the check of what everyone can use, on wide and narrow pages (%s)',
    async (colorScheme) => {
      const { setup } = await told();
      for (const width of [1440, 820, 390]) {
        const view = await setup.open(HERE, { viewport: { width, height: 800 }, colorScheme });
        await row(view, /^Call, deploy/).click(LIMIT);
        await view.getByRole('region', { name: 'The chosen bar' }).waitFor(LIMIT);
        expect(await faultsOf(view)).toEqual([]);
        expect(await view.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth)).toBeLessThanOrEqual(
          0,
        );
        if (width === 390) {
          await view.getByRole('button', { name: 'Its event' }).click();
          await view.getByRole('heading', { name: 'agent.tool_use' }).waitFor(LIMIT);
        }
      }
    },
  );
});
