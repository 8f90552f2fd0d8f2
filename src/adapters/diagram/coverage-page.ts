/**
 * What was seen of a chart, as one page that stands alone: the chart with what was taken and what never was, and for
 * each transition that is missing the shortest way to it. No script, nothing from elsewhere.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { ChartCoverage, ChartHits } from '../../machines/inspection/chart-change.ts';
import type { ChartDescription, ChartTransition } from '../../machines/inspection/chart-description.ts';
import { shortestPaths } from '../../machines/inspection/chart-paths.ts';
import type { ChartPaths } from '../../machines/inspection/chart-paths.ts';
import { stepText } from '../../machines/inspection/chart-step.ts';
import { ChartWalk } from '../../machines/inspection/chart-walk.ts';
import { coverageOf } from '../../machines/inspection/coverage.ts';
import { chartOf } from '../../machines/inspection/describe-chart.ts';
import type { ChartSource } from '../../machines/inspection/describe-chart.ts';
import { hitsOfChart } from '../../machines/inspection/hits.ts';
import { renderChart } from './render-chart.ts';
import type { RenderOptions } from './render-chart.ts';
import { element, escaped } from './svg-text.ts';
import type { Color, Theme } from './theme.ts';
import { FONT, plainColor } from './theme.ts';
import { transitionSentence } from './wording.ts';

/**
 * The page as HTML. The same chart and hits give the same bytes.
 * @param seen what was seen of this chart, as `coverChart` counts it
 * @throws RuntimeError CHART_EXPECTED, HITS_INVALID, RENDER_OPTIONS_INVALID
 */
export async function renderCoverage(
  source: ChartSource,
  seen: ChartHits,
  { theme = 'auto', cacheDirectory }: Pick<RenderOptions, 'theme' | 'cacheDirectory'> = {},
): Promise<string> {
  const walk = new ChartWalk(chartOf(source));
  const { description } = walk;
  const hits = hitsOfChart(description.id, seen);
  const coverage = coverageOf(description, hits);
  const picture = await renderChart(description, {
    theme,
    title: false,
    marks: marksOf(description, coverage),
    ...(cacheDirectory === undefined ? {} : { cacheDirectory }),
  });
  const title = `${description.id}: what was taken`;
  return [
    '<!doctype html>',
    `<html lang="en" data-theme="${theme}">`,
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${escaped(title)}</title><style>${coverageStyles(theme)}</style></head>`,
    '<body><main>',
    element('h1', {}, escaped(title)),
    ...(description.description === undefined ? [] : [element('p', {}, escaped(description.description))]),
    sharesOf(coverage),
    element(
      'p',
      { class: 'legend' },
      '<span class="taken">+ taken</span> <span class="missed">− never taken</span> no sign: nothing can be taken there',
    ),
    // What scrolls is reached by the keyboard too.
    `<div class="picture" tabindex="0" role="region" aria-label="The chart">${picture}</div>`,
    missingSection(description, coverage, waysOf(walk)),
    guardSection(coverage),
    takenSection(description, hits),
    '</main></body></html>',
    '',
  ].join('\n');
}

type Ways = Pick<ChartPaths, 'states' | 'transitions' | 'unreached'>;

/** A chart that needs an input which was not given has none, and is shown all the same. */
function waysOf(walk: ChartWalk): Ways {
  try {
    return shortestPaths(walk);
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'CHART_NOT_STARTED') throw error;
    const { states, transitions } = walk.description;
    return {
      states: [],
      transitions: [],
      unreached: [...states, ...transitions].map(({ id }) => ({ id, because: error.message })),
    };
  }
}

function marksOf(
  { states, transitions }: ChartDescription,
  coverage: ChartCoverage,
): NonNullable<RenderOptions['marks']> {
  const missing = new Set([...coverage.transitions.missing, ...coverage.states.missing]);
  const ids = [
    ...states.filter(({ id, kind }) => id !== '' && kind !== 'history').map(({ id }) => id),
    ...transitions.filter(({ forbids }) => !forbids).map(({ id }) => id),
  ];
  return { added: ids.filter((id) => !missing.has(id)), removed: ids.filter((id) => missing.has(id)) };
}

function sharesOf({ transitions, states, guards, pairs }: ChartCoverage): string {
  const tiles = Object.entries({ transitions, states, guards, pairs }).map(([name, { seen, all }]) => {
    const percent = all === 0 ? 100 : Math.floor((100 * seen) / all);
    const meter = `<meter min="0" max="100" value="${percent}" aria-label="${name}"></meter>`;
    const words = [
      element('dt', {}, name),
      element('dd', {}, `<strong>${seen} of ${all}</strong> ${percent} % ${meter}`),
    ];
    return element('div', {}, ...words);
  });
  return element('dl', { class: 'shares' }, ...tiles);
}

function missingSection(
  { transitions, states }: ChartDescription,
  coverage: ChartCoverage,
  { transitions: paths, states: statePaths, unreached }: Ways,
): string {
  const ways = new Map([...statePaths, ...paths].map((path) => [path.to, path]));
  const reasons = new Map(unreached.map(({ id, because }) => [id, because]));
  const entry = (id: string, sentence: string): string => {
    const way = ways.get(id);
    const steps =
      way === undefined
        ? element(
            'p',
            { class: 'quiet' },
            `No way to it was found: ${escaped(reasons.get(id) ?? 'it was not searched')}.`,
          )
        : element(
            'ol',
            {},
            ...(way.steps.length === 0
              ? ['<li>the start</li>']
              : way.steps.map((step, index) =>
                  element(
                    'li',
                    {},
                    `<code>${escaped(stepText(step))}</code> <span class="quiet">→ ${escaped(valueText(way.values[index + 1]))}</span>`,
                  ),
                )),
          );
    return element('li', {}, `<h3><code>${escaped(id)}</code></h3>`, `<p>${escaped(sentence)}</p>`, steps);
  };
  const known = new Map(transitions.map((each) => [each.id, each]));
  const missed = coverage.transitions.missing.flatMap((id) => {
    const transition = known.get(id);
    return transition === undefined ? [] : [entry(id, `${transitionSentence(transition)}.`)];
  });
  const left = states.filter(({ id }) => coverage.states.missing.includes(id));
  const entered = left.map(({ id, description = 'A state that was never entered.' }) => entry(id, description));
  if (missed.length + entered.length === 0)
    return element('section', {}, '<h2>Never taken</h2><p>Nothing: all was taken.</p>');
  return element(
    'section',
    {},
    '<h2>Never taken, with the shortest way there</h2>',
    element('ul', { class: 'missing' }, ...missed, ...entered),
  );
}

function guardSection({ guards: { missing } }: ChartCoverage): string {
  if (missing.length === 0) return '';
  // `open|PAY|0 (taken)`: that is what was not seen.
  const isMissing = (transition: string, way: string): boolean => missing.includes(`${transition} (${way})`);
  const transitions = new Set(missing.map((id) => id.replace(/ \((?:taken|passed over)\)$/, '')));
  const items = [...transitions].map((transition) => {
    const hasHeld = !isMissing(transition, 'taken');
    const words = hasHeld ? 'always held' : isMissing(transition, 'passed over') ? 'was never asked' : 'never held';
    return `<li><code>${escaped(transition)}</code> ${words}</li>`;
  });
  return element('section', {}, '<h2>Guards that were not seen both ways</h2>', element('ul', {}, ...items));
}

function takenSection({ transitions }: ChartDescription, hits: ChartHits): string {
  const countOf = ({ id }: ChartTransition): number =>
    Object.hasOwn(hits.transitions, id) ? (hits.transitions[id] ?? 0) : 0;
  const rows = transitions
    .filter((transition) => countOf(transition) > 0)
    .map(
      (transition) =>
        `<tr><th scope="row"><code>${escaped(transition.id)}</code></th><td>${countOf(transition)}</td></tr>`,
    );
  if (rows.length === 0) return '';
  return element(
    'section',
    {},
    '<h2>Taken</h2>',
    `<table><thead><tr><th scope="col">transition</th><th scope="col">times</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  );
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

const USED: readonly Color[] = [
  'page',
  'rim',
  'text',
  'quiet',
  'outer',
  'added',
  'removed',
  'addedfill',
  'removedfill',
];

/** The style sheet of pages that show what was taken of a chart, around the picture with its own. */
function coverageStyles(theme: Theme): string {
  const variables = (of: Theme): string => USED.map((color) => `--${color}:${plainColor(color, of)}`).join(';');
  return [
    `:root{color-scheme:${theme === 'auto' ? 'light dark' : theme};${variables(theme === 'dark' ? 'dark' : 'light')}}`,
    ...(theme === 'auto' ? [`@media (prefers-color-scheme:dark){:root{${variables('dark')}}}`] : []),
    `body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 ${FONT}}`,
    'main{max-width:70rem;margin:0 auto;padding:1.5rem 1rem 4rem}',
    'h1{font-size:1.5rem;margin:0 0 1rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .75rem}',
    'h3{font-size:1rem;margin:0}p{margin:.25rem 0}code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}',
    '.quiet,.legend,dt{color:var(--quiet)}',
    '.shares{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;margin:0 0 1rem}',
    '.shares div{background:var(--outer);border-radius:8px;padding:.6rem .9rem}.shares dd{margin:0}',
    '.shares meter{width:100%;height:.6rem}',
    '.taken,.missed{border-radius:4px;padding:.1rem .4rem;margin-right:.5rem}',
    '.taken{color:var(--added);background:var(--addedfill)}.missed{color:var(--removed);background:var(--removedfill)}',
    '.picture{overflow:auto;border:1px solid var(--rim);border-radius:8px;margin:.75rem 0}',
    '.picture svg{display:block;margin:0 auto}',
    '.missing{list-style:none;padding:0;display:grid;gap:1rem;margin:0}',
    '.missing>li{border-left:3px solid var(--removed);padding:.1rem 0 .1rem .9rem;min-width:0}',
    'ol{margin:.35rem 0;padding-left:1.6rem}',
    'table{border-collapse:collapse}th,td{text-align:left;padding:.25rem 1.2rem .25rem 0;border-bottom:1px solid var(--rim)}',
    'th{font-weight:400}td{text-align:right;font-variant-numeric:tabular-nums}',
  ].join('\n');
}
