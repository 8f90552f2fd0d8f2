/**
 * Draws a chart as a plain list of its states and transitions: for charts that are too big to lay out, and for when
 * there is no layout.
 */
import { ROOT } from '../../machines/inspection/chart-states.ts';
import type { ChartDescription, ChartState, ChartTransition } from '../../machines/inspection/chart-description.ts';
import type { Row } from './diagram-plan.ts';
import { drawHeading } from './draw-chart.ts';
import type { Drawn, Heading } from './draw-chart.ts';
import { drawRow, drawText } from './draw-text.ts';
import type { Drawing } from './drawing.ts';
import { NAME_HEIGHT, NAME_SIZE, ROW_HEIGHT, rowWidth } from './metrics.ts';
import { element, escaped } from './svg-text.ts';
import { shortened, textWidth } from './text-width.ts';
import { placeName, stateName, stateRows, transitionRows } from './wording.ts';
import type { Wording } from './wording.ts';

/** Lines beyond these are counted. */
const MOST_LINES = 4000;
const STEP = 18;
const DEEPEST = 12;
const ABOVE_STATE = 8;
const LONGEST_TARGETS = 80;

/** Why it is a list is told in its heading. */
export function drawList(
  description: ChartDescription,
  {
    drawing,
    wording,
    heading,
    because,
  }: {
    readonly drawing: Drawing;
    readonly wording: Wording;
    readonly heading: Heading | undefined;
    readonly because: string;
  },
): Drawn {
  const top = drawHeading(
    heading,
    [{ parts: [{ text: `A list, because ${because}.`, tone: 'quiet' }], indent: 0 }],
    drawing,
  );
  const leaving = new Map<string, ChartTransition[]>(description.states.map(({ id }) => [id, []]));
  for (const transition of description.transitions) leaving.get(transition.source)?.push(transition);
  let { height: y, width } = top;
  let lines = 0;
  const blocks: string[] = [];
  const depths = depthsOf(description.states);
  for (const state of description.states) {
    const rows = [
      ...stateRows(state),
      ...(leaving.get(state.id) ?? []).flatMap((transition) =>
        withTargets(transition, transitionRows(transition, wording)),
      ),
    ];
    if (lines + rows.length + 1 > MOST_LINES) break;
    lines += rows.length + 1;
    const x = Math.min(depths.get(state.id) ?? 0, DEEPEST) * STEP;
    const name = `${state.id === ROOT ? placeName(ROOT) : stateName(state, wording.marks)}${kindNote(state)}`;
    blocks.push(drawBlock(state, { name, rows, x, y, drawing }));
    width = Math.max(
      width,
      x + textWidth(name, { size: NAME_SIZE, isBold: true }),
      ...rows.map((row) => x + STEP + rowWidth(row)),
    );
    y += ABOVE_STATE + NAME_HEIGHT + rows.length * ROW_HEIGHT;
  }
  const missing = description.states.length - blocks.length;
  if (missing === 0) return { width, height: y, content: top.content + blocks.join('') };
  const rest = drawText(
    [{ text: `and ${missing} more states`, tone: 'quiet' }],
    { x: 0, y: y + ROW_HEIGHT },
    drawing.theme,
  );
  return { width, height: y + 2 * ROW_HEIGHT, content: top.content + blocks.join('') + rest };
}

interface Block {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly x: number;
  readonly y: number;
  readonly drawing: Drawing;
}

function drawBlock(state: ChartState, { name, rows, x, y, drawing }: Block): string {
  const heading = drawText(
    [{ text: name, tone: 'name' }],
    { x, y: y + ABOVE_STATE + NAME_HEIGHT / 2, size: NAME_SIZE },
    drawing.theme,
  );
  const lines = rows.map((row, index) => {
    const line = drawRow(
      row,
      { x: x + STEP, y: y + ABOVE_STATE + NAME_HEIGHT + (index + 0.5) * ROW_HEIGHT },
      drawing.theme,
    );
    return row.transition === undefined
      ? line
      : element(
          'g',
          { class: drawing.classOf('wk-transition', row.transition), 'data-transition': row.transition },
          element('g', { class: 'wk-words' }, line),
        );
  });
  return element(
    'g',
    { class: drawing.classOf('wk-state', state.id), 'data-state': state.id },
    element('title', {}, escaped(drawing.tooltipOf(state.id))),
    element('g', { class: 'wk-words' }, heading, ...lines),
  );
}

function withTargets({ targets, id }: ChartTransition, rows: readonly Row[]): Row[] {
  const [last] = rows.slice(-1);
  if (last === undefined || targets.length === 0) return [...rows];
  return [
    ...rows.slice(0, -1),
    {
      ...last,
      transition: id,
      parts: [
        ...last.parts,
        { text: ` → ${shortened(targets.map(placeName).join(', '), LONGEST_TARGETS)}`, tone: 'quiet' },
      ],
    },
  ];
}

function kindNote({ kind, history }: ChartState): string {
  if (kind === 'final') return ' (final)';
  if (kind === 'parallel') return ' (all at once)';
  return kind === 'history' ? ` (${history ?? 'shallow'} history)` : '';
}

function depthsOf(states: readonly ChartState[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  for (const { id, parent } of states) depths.set(id, parent === undefined ? 0 : (depths.get(parent) ?? 0) + 1);
  return depths;
}
