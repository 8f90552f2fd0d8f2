/** Diagrams of charts as files. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { raise, setup } from 'xstate';
import { drawPicture } from '../../../src/adapters/diagram/chart-picture.ts';
import { DRAWING_VERSION, diagramHash, diagramHashIn, sha256Of } from '../../../src/adapters/diagram/diagram-hash.ts';
import { forgetDrawings } from '../../../src/adapters/diagram/diagram-cache.ts';
import { renderChart } from '../../../src/adapters/diagram/render-chart.ts';
import type { RenderOptions } from '../../../src/adapters/diagram/render-chart.ts';
import { diagramStyles } from '../../../src/adapters/diagram/theme.ts';
import type { ChartDescription } from '../../../src/machines/inspection/chart-description.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { ourChart } from './our-charts.ts';
import { randomChart } from './random-chart.ts';
import { markupFaults, valuesOf } from './svg-check.ts';

const fixedMachine = setup({
  guards: { isReady: () => true },
  actions: { keep: () => undefined },
  actors: {},
}).createMachine({
  id: 'fixed',
  version: '1',
  initial: 'waiting',
  on: { STOP: { target: '.stopped' }, NOTE: { actions: 'keep' } },
  states: {
    waiting: {
      tags: ['idle'],
      after: { 1500: { target: 'both' } },
      on: {
        GO: [{ guard: 'isReady', target: 'both', actions: 'keep' }, { target: 'stopped' }],
        AGAIN: { target: 'waiting', reenter: true },
        NEVER: {},
      },
    },
    both: {
      type: 'parallel',
      on: { PAUSE: 'waiting', RESET: '.left.one' },
      states: {
        left: {
          initial: 'one',
          states: {
            one: { on: { NEXT: 'two' } },
            two: { on: { BACK: 'one', RESTART: '#fixed.both.left' } },
            last: { type: 'history', history: 'deep' },
          },
        },
        right: {
          initial: 'three',
          states: { three: { always: { guard: 'isReady', target: 'four' } }, four: { type: 'final' } },
        },
      },
      onDone: 'stopped',
    },
    stopped: { type: 'final' },
  },
});

/** A chart that never changes, with one of everything that is drawn. */
const fixedChart = describeChart(fixedMachine);

const SLOW_MACHINE_MS = 120_000;

const lease = ourChart('lease');
const task = ourChart('task');

beforeEach(() => {
  forgetDrawings();
});

describe('a diagram', () => {
  it('is the same each time, whatever was drawn before it', { timeout: SLOW_MACHINE_MS }, async () => {
    const first = await renderChart(lease);
    forgetDrawings();
    await renderChart(ourChart('breaker'));
    expect(await renderChart(lease)).toBe(first);
  });

  it('stands alone: well formed, no request, no script, nothing that a strict page forbids but its style sheet', async () => {
    const svg = await renderChart(task);
    expect(markupFaults(svg)).toEqual([]);
    expect(svg).not.toMatch(/<script|<image|<foreignObject|href=|url\(|@import|@font-face| style=| on[a-z]+=/);
    expect(svg.match(/https?:/g)).toEqual(['http:']);
    expect(await renderChart(task, { styles: 'outside' })).not.toContain('<style');
  });

  it('says what it shows to those who cannot see it', async () => {
    const svg = await renderChart(lease);
    const [labelled = ''] = valuesOf(svg, 'aria-labelledby');
    expect(valuesOf(svg, 'role')).toEqual(['img']);
    expect(valuesOf(svg, 'id')).toEqual(labelled.split(' '));
    expect(svg).toContain('State chart of lease</title>');
    expect(svg).toMatch(
      /<desc [^>]*>[^<]*6 states and 9 transitions\. It starts in seeking\. It ends in refused, released\. /,
    );
  });

  it('has a group for each state and each transition, to be found by its id', async () => {
    const svg = await renderChart(task);
    expect(new Set(valuesOf(svg, 'data-state'))).toEqual(
      new Set(task.states.map(({ id }) => id).filter((id) => id !== '')),
    );
    expect(new Set(valuesOf(svg, 'data-transition'))).toEqual(new Set(task.transitions.map(({ id }) => id)));
  });

  it('has ids that no other diagram in the same page has', async () => {
    const all = await Promise.all([
      renderChart(task),
      renderChart(lease),
      renderChart(lease, { theme: 'dark' }),
      renderChart(lease, { active: ['held'] }),
    ]);
    const ids = all.flatMap((svg) => valuesOf(svg, 'id'));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is light or dark as the reader prefers, or as asked', async () => {
    expect(await renderChart(lease)).toContain('@media (prefers-color-scheme:dark)');
    const [light, dark] = [await renderChart(lease, { theme: 'light' }), await renderChart(lease, { theme: 'dark' })];
    expect([light, dark].map((svg) => svg.includes('@media'))).toEqual([false, false]);
    expect([light.includes('fill="#ffffff"'), dark.includes('fill="#ffffff"')]).toEqual([true, false]);
    expect(diagramStyles('auto')).toContain('.is-active');
  });

  it('lights what is active and marks what changed, by sign and color', async () => {
    const svg = await renderChart(lease, {
      active: ['held', 'held|RELEASE|0'],
      marks: { added: ['lost'], removed: ['seeking|BIND|0'], changed: ['refused'] },
    });
    expect(svg).toContain('class="wk-state is-active" data-state="held"');
    expect(svg).toContain('class="wk-transition is-active" data-transition="held|RELEASE|0"');
    expect(svg).toMatch(/class="wk-state is-added" data-state="lost">.*?>\+ lost</);
    expect(svg).toMatch(/class="wk-transition is-removed" data-transition="seeking\|BIND\|0">.*?>− </);
    expect(svg).toMatch(/class="wk-state is-changed" data-state="refused">.*?>~ refused</);
  });

  it('says which event is raised', async () => {
    const door = setup({}).createMachine({
      id: 'door',
      initial: 'shut',
      states: {
        shut: { on: { KNOCK: { actions: raise({ type: 'OPEN' }) }, OPEN: 'open' } },
        open: { entry: raise({ type: 'SHUT' }, { delay: 50 }), on: { SHUT: 'shut' } },
      },
    });
    const svg = await renderChart(describeChart(door));
    expect(svg).toContain('/ raise OPEN<');
    expect(svg).toContain('/ raise SHUT<');
  });

  it('has the id of the chart above it, unless that is not wanted', async () => {
    expect(await renderChart(lease)).toMatch(/font-weight="600">lease</);
    expect(await renderChart(lease, { title: false })).not.toMatch(/font-weight="600">lease</);
  });

  it('carries the hash of what it was drawn of', async () => {
    expect(diagramHashIn(await renderChart(lease))).toBe(diagramHash(lease));
    expect(diagramHash({ ...lease, version: '2' })).not.toBe(diagramHash(lease));
    expect(diagramHashIn('<svg></svg>')).toBeUndefined();
  });

  it('keeps its bytes until the drawing version is counted up', async () => {
    expect({ version: DRAWING_VERSION, sha256: sha256Of(await renderChart(fixedChart)) }).toEqual({
      version: 3,
      sha256: 'b34b803e8bdb587d4a3b45e2a88b2333270f9fa6be2a37aa8ce039689f4ddb75',
    });
  });
});

describe('texts from outside', () => {
  it('never become markup, and nothing that XML cannot hold gets through', async () => {
    const hostile = '</text><script>alert(1)</script>"\' & \u0000\u001b\ud800\ufffe';
    const svg = await renderChart(renamed(lease, hostile));
    expect(markupFaults(svg)).toEqual([]);
    expect(svg).not.toContain('<script');
    expect(
      Array.from(svg).filter(
        (character) =>
          (character < ' ' && character !== '\n') ||
          character === '\ufffe' ||
          (character.length === 1 && character >= '\ud800' && character <= '\udfff'),
      ),
    ).toEqual([]);
  });

  it('make no diagram endless: long names are cut', async () => {
    const svg = await renderChart(renamed(lease, 'x'.repeat(20_000)));
    expect(Number(valuesOf(svg, 'width')[0])).toBeLessThan(2000);
  });

  it(
    'of any chart make a well formed file',
    async () => {
      await fc.assert(
        fc.asyncProperty(randomChart, async (chart) => {
          expect(markupFaults(await renderChart(chart))).toEqual([]);
        }),
        { numRuns: 4 },
      );
    },
    SLOW_MACHINE_MS,
  );
});

describe('a chart without a layout', () => {
  const parts = {
    description: lease,
    theme: 'auto',
    active: new Set<string>(),
    marks: new Map(),
    heading: undefined,
  } as const;

  it.each([
    ['throws', async () => Promise.reject(new Error('no'))],
    ['finds nothing', async () => Promise.resolve(undefined)],
  ])('becomes a list when what lays out %s', async (_what, layout) => {
    const { content, width, height } = await drawPicture({ ...parts, layout });
    expect(content).toContain('A list, because no layout was found for the chart.');
    expect(new Set(valuesOf(content, 'data-state'))).toEqual(new Set(lease.states.map(({ id }) => id)));
    expect(content).toContain(' → released');
    expect([width > 100, height > 300, markupFaults(content).length]).toEqual([true, true, 0]);
  });

  it('becomes a list when it is huge, and the list ends', async () => {
    const big = (count: number): ChartDescription => ({
      ...lease,
      transitions: [],
      states: [
        ...lease.states.slice(0, 1),
        ...Array.from({ length: count }, (_, index) => ({
          ...lease.states[1],
          id: `s${index}`,
          key: `s${index}`,
          kind: 'atomic' as const,
          parent: '',
          tags: [],
          entry: [],
          exit: [],
          invokes: [],
        })),
      ],
    });
    expect(await renderChart(big(500))).toContain('A list, because the chart is too big for a picture.');
    expect(await renderChart(big(5000))).toContain('and 1001 more states');
  });

  it('is drawn where there is one state only', async () => {
    const [root] = lease.states;
    if (root === undefined) throw new Error('a chart has a root');
    const svg = await renderChart({
      ...lease,
      states: [{ ...root, kind: 'atomic', initial: undefined }],
      transitions: [],
    });
    expect(svg).toContain('data-state=""');
    expect(svg).not.toContain('A list');
  });
});

describe('what is no chart', () => {
  it.each([
    ['nothing at all', undefined, /chart description is not valid/],
    ['a chart with keys that nobody knows', { ...lease, extra: 1 }, /extra/],
    [
      'a state twice',
      { ...lease, states: [...lease.states, ...lease.states.slice(-1)] },
      /two states have the id "released"/,
    ],
    ['a state before its parent', { ...lease, states: lease.states.toReversed() }, /does not come after a parent/],
    ['no states', { ...lease, states: [] }, /it has no states/],
  ])('is refused: %s', async (_what, chart, message) => {
    await expect(renderChart(chart as ChartDescription)).rejects.toMatchObject({
      code: 'CHART_INVALID',
      category: 'validation',
      message: expect.stringMatching(message) as string,
    });
  });

  it('is not made better by wrong options', async () => {
    await expect(renderChart(lease, { theme: 'blue', colour: 1 } as unknown as RenderOptions)).rejects.toMatchObject({
      code: 'RENDER_OPTIONS_INVALID',
    });
  });
});

function renamed(chart: ChartDescription, text: string): ChartDescription {
  return {
    ...chart,
    id: text,
    description: text,
    states: chart.states.map((state) => ({ ...state, key: text, description: text, tags: [text] })),
    transitions: chart.transitions.map((transition) => ({
      ...transition,
      event: text,
      guard: { name: text, isInline: false },
      actions: [{ name: text, isInline: false }],
      description: text,
    })),
  };
}
