/** Draws lines of text, and the signs before them. */
import type { Icon, Row, TextPart } from './diagram-plan.ts';
import { ICON_WIDTH, ROW_SIZE, isBoldTone } from './metrics.ts';
import { element, escaped, numberText } from './svg-text.ts';
import { paint } from './theme.ts';
import type { Theme } from './theme.ts';

/** From the middle of a line of text down to where its letters stand, as a part of the font size. */
const BASELINE = 0.36;

/** Lines in a square of 10 pixels around the origin. */
const ICONS = {
  play: 'M-3.2 -4.2L4 0L-3.2 4.2Z',
  done: 'M-4.2 0.4L-1.2 3.4L4.4 -3.4',
  failed: 'M-3.4 -3.4L3.4 3.4M3.4 -3.4L-3.4 3.4',
  clock: 'M0 -4.8A4.8 4.8 0 1 1 -0.01 -4.8ZM0 -2.6V0L2 1.4',
  again: 'M3.6 -3A4.6 4.6 0 1 0 4.6 0.6M4.4 -5V-2.2H1.4',
  forbidden: 'M0 -4.8A4.8 4.8 0 1 1 -0.01 -4.8ZM-3.3 -3.3L3.3 3.3',
} satisfies Record<Icon, string>;

const ICON_PAINT = {
  play: 'play-icon',
  done: 'icon',
  failed: 'error-icon',
  clock: 'icon',
  again: 'icon',
  forbidden: 'icon',
} as const satisfies Record<Icon, string>;

export interface TextPlace {
  /** Where it starts, or its middle where it is centered. */
  readonly x: number;
  /** The middle of the line. */
  readonly y: number;
  readonly isCentered?: boolean;
  readonly size?: number;
}

export function drawText(
  parts: readonly TextPart[],
  { x, y, isCentered = false, size = ROW_SIZE }: TextPlace,
  theme: Theme,
): string {
  const pieces = parts.map(({ text, tone }) =>
    element('tspan', { ...paint(tone, theme), 'font-weight': isBoldTone(tone) ? 600 : undefined }, escaped(text)),
  );
  return element(
    'text',
    { x, y: y + size * BASELINE, 'font-size': size, 'text-anchor': isCentered ? 'middle' : undefined },
    ...pieces,
  );
}

/** One line, `x` being the left edge of the text around it. */
export function drawRow({ icon, parts, indent }: Row, { x, y, isCentered = false }: TextPlace, theme: Theme): string {
  if (isCentered) return drawText(parts, { x, y, isCentered }, theme);
  const start = x + indent;
  return (
    (icon === undefined ? '' : drawIcon(icon, start, y, theme)) +
    drawText(parts, { x: start + (icon === undefined ? 0 : ICON_WIDTH), y }, theme)
  );
}

function drawIcon(icon: Icon, x: number, y: number, theme: Theme): string {
  return element('path', {
    ...paint(ICON_PAINT[icon], theme),
    d: ICONS[icon],
    transform: `translate(${numberText(x + 5)} ${numberText(y)})`,
    'stroke-width': 1.6,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
  });
}
