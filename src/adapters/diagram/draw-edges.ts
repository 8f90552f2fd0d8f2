/**
 * Draws the edges of a picture. Each transition is a group with `data-transition`: its line of text, and the whole edge
 * once more, unseen until a page lights it, because one edge may stand for several transitions.
 */
import type { Row } from './diagram-plan.ts';
import type { Drawing } from './drawing.ts';
import { drawRow } from './draw-text.ts';
import { runOf, tipOf } from './edge-path.ts';
import { LABEL_PADDING_X, LABEL_PADDING_Y, ROW_HEIGHT } from './metrics.ts';
import type { PlacedEdge } from './placed-diagram.ts';
import { element, escaped } from './svg-text.ts';

export function drawEdge(edge: PlacedEdge, drawing: Drawing): string {
  const [run, tip] = [runOf(edge.points, edge.label), tipOf(edge.points)];
  const [only] = edge.transitions;
  const look = edge.isError ? 'error-' : '';
  const line = (transition: string | undefined): string => {
    const { runPaint, tipPaint } = drawing.edgePaint(look, transition);
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
