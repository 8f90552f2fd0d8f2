/**
 * The diagrams of docs/audits as people see them: measured in a real browser, in light and dark, as images and put into
 * a page with strict rules.
 */
import { readFileSync, readdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderChart } from '../../src/adapters/diagram/render-chart.ts';
import { ourCharts, ourChart } from '../adapters/diagram/our-charts.ts';
import { browserOfFile } from '../support/browser.ts';
import { measuredPicture } from './measured-picture.ts';
import { contrastFaults, placeFaults } from './picture-faults.ts';
import { servePictures } from './picture-server.ts';
import type { PictureServer } from './picture-server.ts';

const AUDITS = new URL('../../docs/audits/', import.meta.url);
const pictures = readdirSync(AUDITS).filter((name) => name.endsWith('.svg'));
const SCHEMES = ['light', 'dark'] as const;

const browser = await browserOfFile();

let server: PictureServer;
const pages = new Map<(typeof SCHEMES)[number], Page>();

function checkedIn(name: string): string {
  return readFileSync(new URL(name, AUDITS), 'utf8');
}

async function shown(address: string, scheme: (typeof SCHEMES)[number]): Promise<Page> {
  const page = pages.get(scheme);
  if (page === undefined) throw new Error(`there is no ${scheme} page`);
  browser!.said.length = 0;
  await page.goto(address, { waitUntil: 'load' });
  return page;
}

/** All that is wrong with it. */
async function faultsOf(svg: string, scheme: (typeof SCHEMES)[number]): Promise<string[]> {
  const measured = await measuredPicture(await shown(server.inlined(svg), scheme));
  return [...placeFaults(measured), ...contrastFaults(measured), ...browser!.said];
}

async function screenshotOf(address: string, element: string, scheme: (typeof SCHEMES)[number]): Promise<Buffer> {
  return (await shown(address, scheme)).locator(element).screenshot();
}

/** Moves, paints or widens the first thing that matches. @throws Error where nothing does */
function planted(svg: string, found: RegExp, replacement: string): string {
  const changed = svg.replace(found, replacement);
  if (changed === svg) throw new Error(`nothing in the picture matches ${String(found)}`);
  return changed;
}

describe.skipIf(browser === undefined)('a diagram in a browser', () => {
  beforeAll(async () => {
    server = await servePictures();
    for (const scheme of SCHEMES)
      pages.set(scheme, await browser!.open({ colorScheme: scheme, viewport: { width: 1400, height: 1600 } }));
  });
  afterAll(async () => server.close());

  it('is there for each of our charts', () => {
    expect(pictures.toSorted()).toEqual(ourCharts.map(({ id }) => `${id}.svg`).toSorted());
  });

  it('is measured in the widest of the usual fonts, by which room for text is reckoned', async () => {
    const page = await shown(server.inlined(checkedIn('task.svg')), 'light');
    const session = await page.context().newCDPSession(page);
    await session.send('DOM.enable');
    await session.send('CSS.enable');
    const { root } = await session.send('DOM.getDocument');
    const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'svg text' });
    const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
    expect(fonts.map(({ familyName }) => familyName)).toEqual(['DejaVu Sans']);
    await session.detach();
  });

  describe.each(SCHEMES)('in %s', (scheme) => {
    it.each(pictures)(
      '%s has each text in its place and every color apart from its ground, with no word on the console',
      async (name) => {
        expect(await faultsOf(checkedIn(name), scheme)).toEqual([]);
      },
    );

    it.each(pictures)('%s looks the same as an image as it does inside of a page', async (name) => {
      const svg = checkedIn(name);
      const image = await screenshotOf(server.asImage(svg), 'img', scheme);
      expect(browser!.said).toEqual([]);
      const inlined = await screenshotOf(server.inlined(svg), 'svg', scheme);
      expect(inlined.equals(image)).toBe(true);
    });

    it.each(['active', 'added', 'removed', 'changed'] as const)(
      'is legible where everything in it is %s',
      async (check) => {
        const chart = ourChart('toolCall');
        const ids = [...chart.states, ...chart.transitions].map(({ id }) => id);
        const svg = await renderChart(chart, check === 'active' ? { active: ids } : { marks: { [check]: ids } });
        expect(await faultsOf(svg, scheme)).toEqual([]);
      },
    );
  });

  it('is dark for whoever prefers that, and light for others', async () => {
    const address = server.asImage(checkedIn('task.svg'));
    const [light, dark] = [await screenshotOf(address, 'img', 'light'), await screenshotOf(address, 'img', 'dark')];
    expect(light.equals(dark)).toBe(false);
  });

  it.each([
    {
      what: 'a name that is too wide for its state',
      found: />denied</,
      replacement: '>denied for many reasons<',
      fault: /"denied for many reasons" does not fit into denied/,
    },
    {
      what: 'a text outside of the picture',
      found: /<text x="0"/,
      replacement: '<text x="-40"',
      fault: /"toolCall" leaves the picture/,
    },
    {
      what: 'a faint text',
      found: /class="wk-name" fill="[^"]+"/,
      replacement: 'fill="#8a929c"',
      fault: /"toolCall" \(rgb\(138, 146, 156\)\) has a contrast of 3\.\d\d to/,
    },
    {
      what: 'a faint line',
      found: /class="wk-run wk-line" fill="none" stroke="[^"]+"/,
      replacement: 'fill="none" stroke="#cfa7ad"',
      fault: /a line \(\) \(rgb\(207, 167, 173\)\) has a contrast of 2\.\d\d to/,
    },
    {
      what: 'a text that shines through',
      found: /class="wk-name"/,
      replacement: 'class="wk-name" opacity="0.5"',
      fault: /is not opaque/,
    },
  ])('would be found at fault for $what', async ({ found, replacement, fault }) => {
    const faults = await faultsOf(planted(checkedIn('toolCall.svg'), found, replacement), 'light');
    expect(faults.filter((each) => fault.test(each))).not.toEqual([]);
  });

  it.each([
    { what: 'a label that lies over another', onto: 'CANCEL', fault: '"CANCEL" and "RUN" overlap' },
    { what: 'a label that lies over a state', onto: 'requested', fault: '"RUN" lies over requested' },
  ])('would be found at fault for $what', async ({ onto, fault }) => {
    const svg = checkedIn('toolCall.svg');
    const place = new RegExp(`<text (x="[\\d.]+" y="[\\d.]+")[^>]*><tspan[^>]*>${onto}<`).exec(svg)?.[1] ?? 'nowhere';
    const faults = await faultsOf(
      planted(svg, /<text x="[\d.]+" y="[\d.]+"([^>]*><tspan[^>]*>RUN<)/, `<text ${place}$1`),
      'light',
    );
    expect(faults).toContain(fault);
  });

  it('would be found at fault for a style sheet that its page forbids', async () => {
    const page = await shown(server.inlined(checkedIn('lease.svg').replace('<style>', '<style id="kept">')), 'light');
    await expect.poll(() => browser!.said.join()).toContain('Content Security Policy');
    expect((await measuredPicture(page)).texts.length).toBeGreaterThan(0);
  });

  it('asks for nothing outside', () => {
    expect(browser!.refused).toEqual([]);
  });
});
