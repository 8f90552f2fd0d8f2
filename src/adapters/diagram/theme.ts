/**
 * Colors and the style sheet of pictures. Every element also has its light color as an attribute, so that a picture is
 * legible where style sheets are not: in programs that know none, and in pages whose rules forbid those that are
 * written inside.
 */

export type Theme = 'auto' | 'light' | 'dark';

/**
 * By the name of the variable, `--wk-<name>`. Every text has a contrast of 4.5 to whatever it stands on, every line one
 * of 3; only the rim of the picture, which says nothing, has less. Tests measure it in a browser.
 */
const LIGHT = {
  page: '#ffffff',
  rim: '#d8dee6',
  text: '#18212f',
  quiet: '#5b6675',
  box: '#ffffff',
  border: '#7d8998',
  outer: '#f4f6f9',
  inner: '#e9edf2',
  frame: '#7d8998',
  line: '#66717f',
  guard: '#6d3fc0',
  action: '#0b6b6b',
  error: '#96565f',
  faint: '#b5727c',
  lit: '#1d5fd6',
  glow: '#dfeaff',
  added: '#18733a',
  addedfill: '#dff5e5',
  removed: '#b3261e',
  removedfill: '#fde4e2',
  changed: '#8a5300',
  changedfill: '#fff0cf',
} as const;

const DARK: Readonly<Record<Color, string>> = {
  page: '#0d1117',
  rim: '#2b323c',
  text: '#e6ebf2',
  quiet: '#98a3b1',
  box: '#1a212b',
  border: '#6b7685',
  outer: '#131922',
  inner: '#0f151d',
  frame: '#5d6875',
  line: '#8792a0',
  guard: '#c3a6ff',
  action: '#69cdc6',
  error: '#d39aa3',
  faint: '#946873',
  lit: '#6fa8ff',
  glow: '#16305a',
  added: '#5fd38a',
  addedfill: '#10321d',
  removed: '#ff8f87',
  removedfill: '#431816',
  changed: '#f0b95a',
  changedfill: '#3b2a0a',
};

export type Color = keyof typeof LIGHT;

export const FONT =
  "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', sans-serif";

/** The color as an attribute has it. */
export function plainColor(color: Color, theme: Theme): string {
  return theme === 'dark' ? DARK[color] : LIGHT[color];
}

/** How each class is painted. */
const PAINT: Readonly<Record<string, { readonly fill?: Color; readonly stroke?: Color }>> = {
  page: { fill: 'page', stroke: 'rim' },
  box: { fill: 'box', stroke: 'border' },
  even: { fill: 'outer', stroke: 'frame' },
  odd: { fill: 'inner', stroke: 'frame' },
  ring: { stroke: 'border' },
  dot: { fill: 'text' },
  line: { stroke: 'line' },
  tip: { fill: 'line', stroke: 'line' },
  'error-line': { stroke: 'faint' },
  'error-tip': { fill: 'faint', stroke: 'faint' },
  name: { fill: 'text' },
  event: { fill: 'text' },
  guard: { fill: 'guard' },
  action: { fill: 'action' },
  quiet: { fill: 'quiet' },
  error: { fill: 'error' },
  mark: { fill: 'text' },
  icon: { stroke: 'quiet' },
  'error-icon': { stroke: 'error' },
  'play-icon': { fill: 'lit', stroke: 'lit' },
};

/** The class, and its colors for where there is no style sheet. */
export function paint(
  name: string,
  theme: Theme,
): { readonly class: string; readonly fill?: string; readonly stroke?: string } {
  const { fill, stroke } = PAINT[name] ?? {};
  return {
    class: `wk-${name}`,
    fill: fill === undefined ? 'none' : plainColor(fill, theme),
    ...(stroke === undefined ? {} : { stroke: plainColor(stroke, theme) }),
  };
}

export interface DiagramStylesOptions {
  /** Whether pictures of what two versions differ in are among them. Default true. */
  readonly hasDifferences?: boolean;
}

const MARKS = ['added', 'removed', 'changed'] as const;

/**
 * The style sheet of pictures of a theme, for a page that puts them into itself: give it where the page may have style
 * sheets, and draw with `styles: 'outside'`. `is-active` on an element with `data-state` or `data-transition` lights
 * it.
 */
export function diagramStyles(theme: Theme, { hasDifferences = true }: DiagramStylesOptions = {}): string {
  const ofDifferences: ReadonlySet<string> = new Set(
    hasDifferences ? [] : MARKS.flatMap((mark) => [mark, `${mark}fill`]),
  );
  const variables = (colors: Readonly<Record<Color, string>>): string =>
    Object.entries(colors)
      .flatMap(([name, value]) => (ofDifferences.has(name) ? [] : [`--wk-${name}:${value}`]))
      .join(';');
  const root = `.wk-${theme}`;
  const painted = Object.entries(PAINT).map(
    ([name, { fill, stroke }]) =>
      `.wk .wk-${name}{${[fill === undefined ? '' : `fill:var(--wk-${fill})`, stroke === undefined ? '' : `stroke:var(--wk-${stroke})`].filter((part) => part !== '').join(';')}}`,
  );
  return [
    `${root}{${variables(theme === 'dark' ? DARK : LIGHT)}}`,
    ...(theme === 'auto' ? [`@media (prefers-color-scheme:dark){${root}{${variables(DARK)}}}`] : []),
    ...painted,
    ...(hasDifferences ? MARKS.flatMap(markRules) : []),
    ...LIT_RULES,
  ].join('\n');
}

function markRules(mark: (typeof MARKS)[number]): string[] {
  return [
    `.wk .is-${mark}>.wk-shape{fill:var(--wk-${mark}fill);stroke:var(--wk-${mark})}`,
    `.wk .is-${mark}>.wk-ring{stroke:var(--wk-${mark})}`,
    `.wk .is-${mark}>.wk-run{stroke:var(--wk-${mark})}`,
    `.wk .is-${mark}>.wk-head{fill:var(--wk-${mark});stroke:var(--wk-${mark})}`,
    `.wk .is-${mark}>.wk-words .wk-event,.wk .is-${mark}>.wk-words .wk-error,.wk .is-${mark}>.wk-words .wk-mark,.wk .is-${mark}>.wk-words .wk-name{fill:var(--wk-${mark})}`,
  ];
}

const LIT_RULES = [
  '.wk .is-active>.wk-shape{fill:var(--wk-glow);stroke:var(--wk-lit);stroke-width:2}',
  '.wk .is-active>.wk-ring{stroke:var(--wk-lit)}',
  '.wk .is-active>.wk-run{stroke:var(--wk-lit);stroke-width:2.25}',
  '.wk .is-active>.wk-head{fill:var(--wk-lit);stroke:var(--wk-lit)}',
  '.wk .is-active>.wk-words .wk-name,.wk .is-active>.wk-words .wk-event,.wk .is-active>.wk-words .wk-error{fill:var(--wk-lit)}',
];
