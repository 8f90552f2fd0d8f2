/** Turns the states of a chart into the nodes of its picture. */
import { ROOT } from '../../machines/inspection/chart-states.ts';
import type { ChartDescription, ChartState, ChartTransition } from '../../machines/inspection/chart-description.ts';
import type { PlannedNode, Row, Shape } from './diagram-plan.ts';
import { DOT_SIZE, SIGN_SIZE, blockSize } from './metrics.ts';
import { stateName, stateRows, transitionRows } from './wording.ts';
import type { Wording } from './wording.ts';

const NARROWEST_LEAF = 72;
/** In a state itself; what is beyond stands in the tooltip of the state. */
const MOST_ROWS = 14;

/** Keys of nodes: those of states, and those of signs that lie in a state. */
export const keyOf = {
  state: (id: string): string => `state:${id}`,
  start: (id: string): string => `start:${id}`,
  anywhere: (id: string): string => `anywhere:${id}`,
};

export interface StateContext {
  readonly order: ReadonlyMap<string, number>;
  readonly wording: Wording;
  readonly byId: ReadonlyMap<string, ChartState>;
}

/** The node of a state. The root is one where the whole chart is a single state. */
export function stateNode(state: ChartState, inside: readonly ChartTransition[], context: StateContext): PlannedNode {
  const shape = shapeOf(state, context.byId);
  const name = state.id === ROOT ? state.key : stateName(state, context.wording.marks);
  const rows = innerRows(state, inside, context.wording);
  const { width, height } = blockSize(name, rows);
  const box =
    shape === 'history'
      ? { width: SIGN_SIZE, height: SIGN_SIZE }
      : { width: shape === 'leaf' || shape === 'final' ? Math.max(width, NARROWEST_LEAF) : width, height };
  return {
    key: keyOf.state(state.id),
    ...parentKey(state.parent),
    shape,
    state: state.id,
    name: shape === 'history' ? (state.history === 'deep' ? 'H*' : 'H') : name,
    rows: shape === 'history' ? [] : rows,
    ...box,
    order: (context.order.get(state.id) ?? 0) + FIRST_STATE,
  };
}

/** Signs come before the states beside them. */
const FIRST_STATE = 2;

export function startNode(inside: string): PlannedNode {
  return {
    key: keyOf.start(inside),
    ...parentKey(inside),
    shape: 'start',
    state: inside,
    name: '',
    rows: [],
    width: DOT_SIZE,
    height: DOT_SIZE,
    order: 0,
  };
}

export function anywhereNode(inside: string): PlannedNode {
  return {
    key: keyOf.anywhere(inside),
    ...parentKey(inside),
    shape: 'anywhere',
    state: inside,
    name: '∗',
    rows: [],
    width: SIGN_SIZE,
    height: SIGN_SIZE,
    order: 1,
  };
}

/** What stands in the box of a state: what it has, and the transitions that do not leave it. */
export function innerRows(state: ChartState, inside: readonly ChartTransition[], wording: Wording): Row[] {
  const rows = [
    ...stateRows(state),
    ...inside.flatMap((transition) =>
      transitionRows(
        transition,
        wording,
        transition.forbids ? 'forbidden' : transition.targets.length > 0 ? 'again' : undefined,
      ),
    ),
  ];
  if (rows.length <= MOST_ROWS) return rows;
  return [
    ...rows.slice(0, MOST_ROWS - 1),
    { parts: [{ text: `and ${rows.length - MOST_ROWS + 1} more`, tone: 'quiet' }], indent: 0 },
  ];
}

/** Transitions that stay in their state or come back to it at once. */
export function staysInside({ source, targets }: ChartTransition): boolean {
  return targets.every((target) => target === source);
}

export function hasChildren(id: string, { states }: Pick<ChartDescription, 'states'>): boolean {
  return states.some(({ parent }) => parent === id);
}

/** What lies in the root lies in nothing: the picture itself is the root. */
function parentKey(parent: string | undefined): { readonly parent?: string } {
  return parent === undefined || parent === ROOT ? {} : { parent: keyOf.state(parent) };
}

function shapeOf({ kind, parent }: ChartState, byId: ReadonlyMap<string, ChartState>): Shape {
  if (kind === 'history') return 'history';
  const isRegion = parent !== undefined && byId.get(parent)?.kind === 'parallel';
  if (kind === 'final') return 'final';
  if (kind === 'atomic') return 'leaf';
  return isRegion ? 'region' : 'compound';
}
