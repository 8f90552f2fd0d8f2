/** Draws a laid out chart: the title, what is said of the whole chart, then nodes and edges. */
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { Row } from './diagram-plan.ts';
import { drawNode, drawRows } from './draw-nodes.ts';
import { drawRow, drawText } from './draw-text.ts';
import type { Drawing } from './drawing.ts';
import { runOf, tipOf } from './edge-path.ts';
import { LABEL_PADDING_X, LABEL_PADDING_Y, MARGIN, ROW_HEIGHT, TITLE_HEIGHT, TITLE_SIZE, widestOf } from './metrics.ts';
import type { PlacedDiagram, PlacedEdge } from './placed-diagram.ts';
import { element, escaped, numberText } from './svg-text.ts';
import { shortened, textWidth } from './text-width.ts';

// Draws the edges of a picture. Each transition is a group with `data-transition`: its line of text, and the whole edge
// once more, unseen until a page lights it, because one edge may stand for several transitions.

function drawEdge(edge: PlacedEdge, drawing: Drawing): string {
  const [run, tip] = [runOf(edge.points, edge.label), tipOf(edge.points)];
  const [only] = edge.transitions;
  const style = edge.isError ? 'error-' : '';
  const line = (transition: string | undefined): string => {
    const { runPaint, tipPaint } = drawing.edgePaint(style, transition);
    return (
      element('path', { ...runPaint, d: run, 'stroke-width': 1.25, 'stroke-linecap': 'round' }) +
      element('path', { ...tipPaint, d: tip, 'stroke-linejoin': 'round' })
    );
  };
  if (only === undefined || edge.transitions.length > 1) {
    const again = (transition: string): string => {
      const color = drawing.colorOf(transition);
      return (
        element('path', { class: 'wk-run', d: run, fill: 'none', stroke: color }) +
        element('path', { class: 'wk-head', d: tip, fill: color ?? 'none' })
      );
    };
    return (
      element('g', { class: 'wk-edge' }, line(undefined)) +
      edge.transitions.map((transition) => drawTransition(edge, transition, again(transition), drawing)).join('')
    );
  }
  return drawTransition(edge, only, line(only), drawing);
}

function drawTransition(
  { rows, label, transitions }: PlacedEdge,
  transition: string,
  line: string,
  drawing: Drawing,
): string {
  // What is counted and not shown goes with the last one.
  const isLast = transitions.at(-1) === transition;
  const own = rows.flatMap((row, index) =>
    row.transition === transition || (isLast && row.transition === undefined) ? [{ row, index }] : [],
  );
  const isCentered = rows.every(({ icon, indent }) => icon === undefined && indent === 0);
  const place = (row: Row, index: number): string =>
    label === undefined
      ? ''
      : drawRow(
          row,
          {
            x: isCentered ? label.x + label.width / 2 : label.x + LABEL_PADDING_X,
            y: label.y + LABEL_PADDING_Y + (index + 0.5) * ROW_HEIGHT,
            isCentered,
          },
          drawing.theme,
        );
  const text = own.map(({ row, index }) => place(row, index)).join('');
  const title = element('title', {}, escaped(drawing.sentenceOf(transition)));
  return element(
    'g',
    { class: drawing.classOf('wk-transition', transition), 'data-transition': transition },
    title,
    line,
    element('g', { class: 'wk-words' }, text),
  );
}

/** A part of a picture with its size, its upper left corner at the origin. */
export interface Drawn {
  readonly width: number;
  readonly height: number;
  readonly content: string;
}

const LONGEST_TITLE = 60;
const BELOW_HEADING = 10;

/** What stands above the nodes, or undefined where the caller has a heading of its own. */
export interface Heading {
  readonly title: string;
  /** Beside the title, quieter. */
  readonly note: string;
}

export function headingOf({ id, version }: ChartDescription): Heading {
  return { title: id, note: version === undefined ? '' : `version ${version}` };
}

export function drawChart(
  { nodes, edges, rows, ...size }: PlacedDiagram,
  drawing: Drawing,
  heading: Heading | undefined,
): Drawn {
  const top = drawHeading(heading, rows, drawing);
  const outer = nodes.filter(({ shape }) => shape === 'compound' || shape === 'region');
  const inner = nodes.filter(({ shape }) => shape !== 'compound' && shape !== 'region');
  const content = [
    ...outer.map((node) => drawNode(node, drawing)),
    ...edges.map((edge) => drawEdge(edge, drawing)),
    ...inner.map((node) => drawNode(node, drawing)),
  ];
  return {
    width: Math.max(top.width, size.width),
    height: top.height + size.height,
    content:
      top.content +
      element('g', { transform: top.height === 0 ? undefined : `translate(0 ${numberText(top.height)})` }, ...content),
  };
}

/** The title, with lines under it. Nothing where there is neither. */
export function drawHeading(heading: Heading | undefined, rows: readonly Row[], drawing: Drawing): Drawn {
  if (heading === undefined && rows.length === 0) return { width: 0, height: 0, content: '' };
  const title = shortened(heading?.title ?? '', LONGEST_TITLE);
  const note = shortened(heading?.note ?? '', LONGEST_TITLE);
  const titleWidth = textWidth(title, { size: TITLE_SIZE, isBold: true });
  const noteText =
    note === ''
      ? ''
      : drawText([{ text: note, tone: 'quiet' }], { x: titleWidth + 10, y: TITLE_HEIGHT / 2 + 1 }, drawing.theme);
  const above = heading === undefined ? 0 : TITLE_HEIGHT;
  const words =
    heading === undefined
      ? ''
      : drawText([{ text: title, tone: 'name' }], { x: 0, y: TITLE_HEIGHT / 2, size: TITLE_SIZE }, drawing.theme) +
        noteText;
  return {
    width: Math.max(titleWidth + 10 + textWidth(note, { size: 12 }), widestOf(rows)),
    height: above + rows.length * ROW_HEIGHT + BELOW_HEADING,
    content: words + drawRows(rows, { x: 0, y: above }, drawing).join(''),
  };
}

/** Puts parts side by side, with the margin around and between them. */
export function sideBySide(parts: readonly Drawn[]): Drawn {
  let x = MARGIN;
  const placed = parts.map(({ width, content }) => {
    const group = element('g', { transform: `translate(${numberText(x)} ${MARGIN})` }, content);
    x += width + (parts.length > 1 ? 2 * MARGIN : MARGIN);
    return group;
  });
  return {
    width: parts.length > 1 ? x - MARGIN : x,
    height: Math.max(...parts.map(({ height }) => height)) + 2 * MARGIN,
    content: placed.join(''),
  };
}
