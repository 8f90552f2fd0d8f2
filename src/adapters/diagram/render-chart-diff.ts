/**
 * Draws two versions of a chart beside each other, with one layout: what is gone, what is new and what is different has
 * a sign and a color, and what is in both stands in the same place.
 */
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { ChartChange, ChartDiff } from '../../machines/inspection/chart-change.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { Version } from './chart-picture.ts';
import { drawPicture } from './chart-picture.ts';
import { checkedChart, checkedOptions } from './checked-chart.ts';
import { cachedDrawing } from './diagram-cache.ts';
import { diagramHash, sha256Of } from './diagram-hash.ts';
import type { Mark, Marks } from './diagram-plan.ts';
import type { Drawn } from './draw-chart.ts';
import { sideBySide } from './draw-chart.ts';
import type { RenderOptions } from './render-chart.ts';
import { svgDocument } from './svg-document.ts';
import { placeName } from './wording.ts';

// What differs between two versions of a chart, as marks on the states and transitions of both.

interface MarkedPair {
  readonly before: Marks;
  readonly after: Marks;
}

/** By the changes that a comparison found, where there is one; what it says nothing of is compared by its id. */
export function marksBetween(
  before: ChartDescription,
  after: ChartDescription,
  diff: ChartDiff | undefined,
): MarkedPair {
  const [old, recent] = [partsOf(before), partsOf(after)];
  const marks = { before: new Map<string, Mark>(), after: new Map<string, Mark>() };
  const renamed = new Map((diff?.changes ?? []).flatMap(renameOf));
  const arrived = new Set(renamed.values());
  for (const [id, content] of old) {
    const other = recent.get(id);
    if (renamed.has(id)) marks.before.set(id, 'changed');
    else if (other === undefined) marks.before.set(id, 'removed');
    else if (other !== content) marks.before.set(id, 'changed');
  }
  for (const [id, content] of recent) {
    const other = old.get(id);
    if (arrived.has(id)) marks.after.set(id, 'changed');
    else if (other === undefined) marks.after.set(id, 'added');
    else if (other !== content) marks.after.set(id, 'changed');
  }
  return marks;
}

/** What has another id and is the same thing nevertheless. */
function renameOf({ before, after }: ChartChange): (readonly [string, string])[] {
  return before === undefined || after === undefined || before === after ? [] : [[before, after]];
}

/** Everything that has an id, as text to compare. */
function partsOf({ states, transitions }: ChartDescription): ReadonlyMap<string, string> {
  return new Map([...states, ...transitions].map((part) => [part.id, canonicalJson(part)]));
}

/** Sentences of a description for those who cannot see it. */
const MOST_TOLD = 40;

/**
 * Both versions as one SVG document, the older one on the left. Marks follow `diff`, what `diffCharts` returns, where
 * it is given; without it, states and transitions are compared by their ids.
 * @throws RuntimeError CHART_INVALID, RENDER_OPTIONS_INVALID
 */
export async function renderChartDiff(
  before: ChartDescription,
  after: ChartDescription,
  diff?: ChartDiff,
  options: Pick<RenderOptions, 'theme' | 'styles' | 'cacheDirectory'> = {},
): Promise<string> {
  const [left, right] = [checkedChart(before), checkedChart(after)];
  const { theme, styles, cacheDirectory } = checkedOptions(options);
  const marks = marksBetween(left, right, diff);
  const hash = sha256Of([diagramHash(left), diagramHash(right)].join(' '));
  // Drawings that earlier versions kept had a layout for each half.
  const layout = 'shared';
  const key = sha256Of(
    canonicalJson({ hash, theme, styles, layout, before: [...marks.before], after: [...marks.after] }),
  );
  return cachedDrawing({ key, directory: cacheDirectory }, async () => {
    const [older, newer]: readonly [Version, Version] = [
      { description: left, marks: marks.before },
      { description: right, marks: marks.after },
    ];
    const half = async (own: Version, beside: Version, title: string): Promise<Drawn> => {
      const { id, version = '' } = own.description;
      const heading = { title, note: [id, version].filter((part) => part !== '').join(' ') };
      return drawPicture({ ...own, beside, theme, active: new Set(), heading });
    };
    const drawn = sideBySide([await half(older, newer, 'Before'), await half(newer, older, 'After')]);
    return svgDocument({
      drawn,
      theme,
      key,
      hash,
      title: `State chart of ${right.id}, before and after`,
      text: textOf(marks.before, marks.after),
      styles,
    });
  });
}

function textOf(before: Marks, after: Marks): string {
  const told = [
    ...[...before].filter(([, mark]) => mark === 'removed').map(([id]) => `Removed: ${placeName(id)}.`),
    ...[...after].filter(([, mark]) => mark === 'added').map(([id]) => `Added: ${placeName(id)}.`),
    ...[...after].filter(([, mark]) => mark === 'changed').map(([id]) => `Changed: ${placeName(id)}.`),
  ];
  if (told.length === 0) return 'Nothing differs.';
  return told.length > MOST_TOLD
    ? `${told.slice(0, MOST_TOLD).join(' ')} And ${told.length - MOST_TOLD} more.`
    : told.join(' ');
}
