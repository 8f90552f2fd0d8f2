/**
 * Draws the nodes of a picture. Each state is a group with `data-state`, to be found and lit by the page that shows it.
 */
import { ROOT } from '../../machines/inspection/chart-states.ts';
import type { Row } from './diagram-plan.ts';
import type { Drawing } from './drawing.ts';
import { drawRow, drawText } from './draw-text.ts';
import { NAME_HEIGHT, NAME_SIZE, PADDING_X, PADDING_Y, ROW_HEIGHT } from './metrics.ts';
import type { Box, PlacedNode } from './placed-diagram.ts';
import { element, escaped } from './svg-text.ts';
import { paint } from './theme.ts';

const RADIUS = 8;
/** Between the two borders of a final state. */
const INNER_BORDER = 3;

export function drawNode(node: PlacedNode, drawing: Drawing): string {
  const { shape, state } = node;
  if (shape === 'start') return drawStart(node, drawing);
  if (shape === 'anywhere') return drawSign(node, drawing, `from any state in ${state === ROOT ? 'the chart' : state}`);
  const title = element('title', {}, escaped(drawing.tooltipOf(state)));
  const attributes = { class: drawing.classOf('wk-state', state), 'data-state': state };
  if (shape === 'history')
    return element(
      'g',
      attributes,
      title,
      circle(node.box, 'box', drawing),
      words(
        drawText(
          [{ text: node.name, tone: 'event' }],
          { ...middleOf(node.box), isCentered: true, size: 11 },
          drawing.theme,
        ),
      ),
    );
  return element('g', attributes, title, ...frameOf(node, drawing), words(...textOf(node, drawing)));
}

function frameOf({ shape, box, depth, state }: PlacedNode, drawing: Drawing): string[] {
  const isOuter = shape === 'compound' || shape === 'region';
  const style = drawing.shapePaint(isOuter ? (depth % 2 === 0 ? 'even' : 'odd') : 'box', state);
  const outline = element('rect', {
    ...style,
    ...rectOf(box),
    rx: isOuter ? RADIUS + 3 : RADIUS,
    'stroke-width': 1.25,
    'stroke-dasharray': shape === 'region' ? '5 4' : undefined,
  });
  if (shape !== 'final') return [outline];
  const inner: Box = {
    x: box.x + INNER_BORDER,
    y: box.y + INNER_BORDER,
    width: box.width - 2 * INNER_BORDER,
    height: box.height - 2 * INNER_BORDER,
  };
  const color = drawing.colorOf(state);
  return [
    outline,
    element('rect', {
      ...paint('ring', drawing.theme),
      ...(color === undefined ? {} : { stroke: color }),
      ...rectOf(inner),
      rx: RADIUS - INNER_BORDER + 1,
      'stroke-width': 1.25,
    }),
  ];
}

function textOf({ box, shape, name, rows, headingX = box.x }: PlacedNode, drawing: Drawing): string[] {
  const { theme } = drawing;
  const isCentered = rows.length === 0 && (shape === 'leaf' || shape === 'final');
  const top = isCentered ? box.y + (box.height - NAME_HEIGHT) / 2 : box.y + PADDING_Y;
  const heading = drawText(
    [{ text: name, tone: 'name' }],
    {
      x: isCentered ? box.x + box.width / 2 : headingX + PADDING_X,
      y: top + NAME_HEIGHT / 2,
      isCentered,
      size: NAME_SIZE,
    },
    theme,
  );
  return [heading, ...drawRows(rows, { x: headingX + PADDING_X, y: top + NAME_HEIGHT }, drawing)];
}

/** Lines under each other, the first below `y`. A line that tells of a transition is that transition. */
export function drawRows(
  rows: readonly Row[],
  { x, y }: { readonly x: number; readonly y: number },
  drawing: Drawing,
): string[] {
  return rows.map((row, index) => {
    const { transition } = row;
    const line = drawRow(row, { x, y: y + (index + 0.5) * ROW_HEIGHT }, drawing.theme);
    if (transition === undefined) return line;
    return element(
      'g',
      { class: drawing.classOf('wk-transition', transition), 'data-transition': transition },
      element('title', {}, escaped(drawing.sentenceOf(transition))),
      words(line),
    );
  });
}

function drawStart({ box, state }: PlacedNode, { theme }: Drawing): string {
  const { x, y } = middleOf(box);
  return element('circle', { ...paint('dot', theme), 'data-start': state, cx: x, cy: y, r: box.width / 2 - 1 });
}

function drawSign({ box, name }: PlacedNode, drawing: Drawing, tooltip: string): string {
  return element(
    'g',
    {},
    element('title', {}, escaped(tooltip)),
    circle(box, 'box', drawing),
    words(drawText([{ text: name, tone: 'event' }], { ...middleOf(box), isCentered: true, size: 13 }, drawing.theme)),
  );
}

function circle(box: Box, style: string, { theme }: Drawing): string {
  const { x, y } = middleOf(box);
  const { class: name, ...colors } = paint(style, theme);
  return element('circle', {
    class: `wk-shape ${name}`,
    ...colors,
    cx: x,
    cy: y,
    r: box.width / 2 - 1,
    'stroke-width': 1.25,
  });
}

function words(...inside: readonly string[]): string {
  return element('g', { class: 'wk-words' }, ...inside);
}

function middleOf({ x, y, width, height }: Box): { readonly x: number; readonly y: number } {
  return { x: x + width / 2, y: y + height / 2 };
}

function rectOf({ x, y, width, height }: Box): Record<'x' | 'y' | 'width' | 'height', number> {
  return { x, y, width, height };
}
