/**
 * What drawing a chart needs beside the places: the theme, what is lit and marked, and the sentences of its tooltips.
 */
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { Marks } from './diagram-plan.ts';
import { shortened } from './text-width.ts';
import { paint, plainColor } from './theme.ts';
import type { Theme } from './theme.ts';
import { placeName, transitionSentence } from './wording.ts';

const LONGEST_TOOLTIP = 600;

type Painted = Readonly<Record<string, string>>;

export interface Drawing {
  readonly theme: Theme;
  /** The class of the group of a state or a transition. */
  classOf(base: string, id: string): string;
  /** Of the outline of a state. */
  shapePaint(style: string, state: string): Painted;
  /** Of the line of an edge and its tip; `style` is the beginning of the name of its paint. */
  edgePaint(style: string, transition: string | undefined): { readonly runPaint: Painted; readonly tipPaint: Painted };
  /** The color of lines of a state or a transition that is lit or marked. */
  colorOf(id: string): string | undefined;
  tooltipOf(state: string): string;
  sentenceOf(transition: string): string;
}

export function drawingOf(
  description: ChartDescription,
  { theme, active, marks }: { readonly theme: Theme; readonly active: ReadonlySet<string>; readonly marks: Marks },
): Drawing {
  const states = new Map(description.states.map((state) => [state.id, state]));
  const transitions = new Map(description.transitions.map((transition) => [transition.id, transition]));
  const colorOf = (id: string): string | undefined => {
    const mark = marks.get(id);
    if (active.has(id)) return plainColor('lit', theme);
    return mark === undefined ? undefined : plainColor(mark, theme);
  };
  return {
    theme,
    colorOf,
    classOf: (base, id) =>
      [base, active.has(id) ? 'is-active' : '', marks.has(id) ? `is-${marks.get(id)}` : '']
        .filter((part) => part !== '')
        .join(' '),
    shapePaint: (style, state) => {
      const mark = marks.get(state);
      const { class: name, ...colors } = paint(style, theme);
      const lit = active.has(state) ? { fill: plainColor('glow', theme), stroke: plainColor('lit', theme) } : {};
      return {
        class: `wk-shape ${name}`,
        ...colors,
        ...(mark === undefined ? {} : { fill: plainColor(`${mark}fill`, theme), stroke: plainColor(mark, theme) }),
        ...lit,
      };
    },
    edgePaint: (style, transition = '') => {
      const color = colorOf(transition);
      const withClass = (added: string, { class: name, ...colors }: Painted): Painted => ({
        class: `${added} ${name ?? ''}`,
        ...colors,
      });
      return {
        runPaint: {
          ...withClass('wk-run', paint(`${style}line`, theme)),
          ...(color === undefined ? {} : { stroke: color }),
        },
        tipPaint: {
          ...withClass('wk-head', paint(`${style}tip`, theme)),
          ...(color === undefined ? {} : { fill: color, stroke: color }),
        },
      };
    },
    tooltipOf: (state) =>
      shortened(
        [placeName(state), states.get(state)?.description ?? ''].filter((part) => part !== '').join(': '),
        LONGEST_TOOLTIP,
      ),
    sentenceOf: (id) => {
      const transition = transitions.get(id);
      return transition === undefined ? id : shortened(transitionSentence(transition), LONGEST_TOOLTIP);
    },
  };
}
