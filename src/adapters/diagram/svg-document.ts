/**
 * Wraps what was drawn into an SVG document that stands alone: no font, no request, no script; with a title and a
 * description for those who cannot see it.
 */
import type { Drawn } from './draw-chart.ts';
import { element, escaped } from './svg-text.ts';
import { FONT, diagramStyles, paint } from './theme.ts';
import type { Theme } from './theme.ts';

export interface DocumentParts {
  readonly drawn: Drawn;
  readonly theme: Theme;
  /** By which a picture is known; the ids in it start with it, so that several can stand in one page. */
  readonly key: string;
  /** Of the chart alone; see `diagramHash`. */
  readonly hash: string;
  readonly title: string;
  readonly text: string;
  readonly styles: 'inside' | 'outside';
}

export function svgDocument({ drawn, theme, key, hash, title, text, styles }: DocumentParts): string {
  const [width, height] = [Math.ceil(drawn.width), Math.ceil(drawn.height)];
  const id = `wk-${key.slice(0, 12)}`;
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    'data-diagram': hash,
    class: `wk wk-${theme}`,
    role: 'img',
    'aria-labelledby': `${id}-title ${id}-text`,
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    'font-family': FONT,
  };
  const page = element('rect', {
    ...paint('page', theme),
    x: 0.5,
    y: 0.5,
    width: width - 1,
    height: height - 1,
    rx: 10,
  });
  const sheet = styles === 'inside' ? element('style', {}, `\n${diagramStyles(theme)}\n`) : '';
  return `${element('svg', attributes, element('title', { id: `${id}-title` }, escaped(title)), element('desc', { id: `${id}-text` }, escaped(text)), sheet, page, drawn.content)}\n`;
}
