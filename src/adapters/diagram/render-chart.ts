/** Draws a chart as SVG: one file that stands alone, light and dark, and the same bytes for the same chart. */
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { counted } from '../../machines/inspection/markdown.ts';
import { drawPicture } from './chart-picture.ts';
import { checkedChart, checkedOptions, marksOf } from './checked-chart.ts';
import { cachedDrawing } from './diagram-cache.ts';
import { diagramHash, sha256Of } from './diagram-hash.ts';
import { headingOf, sideBySide } from './draw-chart.ts';
import { svgDocument } from './svg-document.ts';
import type { Theme } from './theme.ts';
import { placeName, transitionSentence } from './wording.ts';

// Says in words what a picture shows, for those who cannot see it.

/** Characters; a longer text is cut after a sentence. */
const LONGEST = 4000;

function chartText({ states, transitions, description }: ChartDescription): string {
  const root = states[0];
  const finals = states.filter(({ kind }) => kind === 'final').map(({ id }) => id);
  const sentences = [
    ...(description === undefined ? [] : [description]),
    `${counted(states.length - 1, 'state')} and ${counted(transitions.length, 'transition')}.`,
    ...(root?.initial === undefined ? [] : [`It starts in ${placeName(root.initial)}.`]),
    ...(finals.length === 0 ? [] : [`It ends in ${finals.join(', ')}.`]),
    ...transitions.map((transition) => `${transitionSentence(transition)}.`),
  ];
  let text = '';
  for (const [index, sentence] of sentences.entries()) {
    if (text.length + sentence.length > LONGEST)
      return `${text} And ${counted(sentences.length - index, 'more sentence')} that stand in the chart itself.`.trim();
    text = text === '' ? sentence : `${text} ${sentence}`;
  }
  return text;
}

export interface RenderOptions {
  /** `auto`, the default: light or dark as the viewer prefers. */
  readonly theme?: Theme | undefined;
  /** Ids of states and transitions that are lit. */
  readonly active?: readonly string[] | undefined;
  /** Ids of states and transitions that are marked with a sign and a color. */
  readonly marks?: DiagramMarks | undefined;
  /** Whether the id of the chart stands above it. True where absent. */
  readonly title?: boolean | undefined;
  /** `outside`: leaves the style sheet out, for pages that have `diagramStyles(theme)` in theirs. */
  readonly styles?: 'inside' | 'outside' | undefined;
  /** A folder to keep drawings in. Made where it is not there; what is wrong with it is no error, only slower. */
  readonly cacheDirectory?: string | undefined;
  /**
   * How many milliseconds it may take to lay it out: with less than the two minutes where absent, the picture of a
   * chart may depend on how fast the machine is.
   */
  readonly layoutMs?: number | undefined;
}

interface DiagramMarks {
  readonly added?: readonly string[] | undefined;
  readonly removed?: readonly string[] | undefined;
  readonly changed?: readonly string[] | undefined;
}

/**
 * The chart as an SVG document. Each state is a group with `data-state`, each transition one with `data-transition`;
 * the class `is-active` on one of them lights it. A chart that cannot be laid out becomes a list.
 * @throws RuntimeError CHART_INVALID, RENDER_OPTIONS_INVALID
 */
export async function renderChart(description: ChartDescription, options: RenderOptions = {}): Promise<string> {
  const chart = checkedChart(description);
  const { cacheDirectory, layoutMs, ...style } = checkedOptions(options);
  const hash = diagramHash(chart);
  const key = sha256Of(
    canonicalJson({ hash, ...style, active: style.active.toSorted(), ...(layoutMs === undefined ? {} : { layoutMs }) }),
  );
  return cachedDrawing({ key, directory: cacheDirectory }, async () => {
    const { theme, styles } = style;
    const drawn = await drawPicture({
      description: chart,
      theme,
      active: new Set(style.active),
      marks: marksOf(style.marks),
      heading: style.title ? headingOf(chart) : undefined,
      layoutMs,
    });
    return svgDocument({
      drawn: sideBySide([drawn]),
      theme,
      key,
      hash,
      title: `State chart of ${chart.id}`,
      text: chartText(chart),
      styles,
    });
  });
}
