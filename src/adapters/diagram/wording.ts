/** How transitions and states of a chart are written in its picture, in words that need no knowledge of XState. */
import type { ChartOperation, ChartState, ChartTransition } from '../../machines/inspection/chart-description.ts';
import type { Icon, Marks, Row, TextPart } from './diagram-plan.ts';
import { rowWidth } from './metrics.ts';
import { shortened } from './text-width.ts';

const LONGEST_NAME = 40;
/** Actions and tags beyond these are counted. */
const MOST_NAMED = 4;
const CONTINUED = 6;

const SIGNS = { added: '+ ', removed: '− ', changed: '~ ' } as const;

export interface Wording {
  /** Pixels. A line that would be wider goes on in the next one. */
  readonly widestRow: number;
  readonly marks: Marks;
  /** Ids of transitions that are taken where no guard before them holds. */
  readonly otherwise: ReadonlySet<string>;
}

/** The name of a state as its box shows it. */
export function stateName({ id, key }: ChartState, marks: Marks): string {
  const mark = marks.get(id);
  return `${mark === undefined ? '' : SIGNS[mark]}${shortened(key, LONGEST_NAME)}`;
}

/** The lines under the name of a state: what it invokes, its tags, what happens on its way in and out. */
export function stateRows({ invokes, tags, entry, exit }: ChartState): Row[] {
  const rows: Row[] = invokes.map(({ id }) => ({
    icon: 'play',
    parts: [{ text: shortened(plain(id), LONGEST_NAME), tone: 'event' }],
    indent: 0,
  }));
  if (tags.length > 0)
    rows.push(
      quiet(
        named(
          tags.map((tag) => `#${tag}`),
          ' ',
        ),
      ),
    );
  if (entry.length > 0) rows.push(actionRow('on entry', entry));
  if (exit.length > 0) rows.push(actionRow('on exit', exit));
  return rows;
}

/** The line of a transition, or lines where it is long. */
export function transitionRows(
  transition: ChartTransition,
  { marks, otherwise, widestRow }: Wording,
  lead?: Icon,
): Row[] {
  const { id, guard, actions } = transition;
  const mark = marks.get(id);
  const trigger = triggerOf(transition);
  const head: TextPart[] = [
    ...(mark === undefined ? [] : [{ text: SIGNS[mark], tone: 'mark' as const }]),
    ...(trigger.text === ''
      ? []
      : [{ text: trigger.text, tone: trigger.isError ? ('error' as const) : ('event' as const) }]),
  ];
  const tails: TextPart[] = [];
  if (guard !== undefined) tails.push({ text: `[${shortened(plain(guard.name), LONGEST_NAME)}]`, tone: 'guard' });
  else if (otherwise.has(id)) tails.push({ text: '[else]', tone: 'guard' });
  if (actions.length > 0) tails.push({ text: `/ ${operationNames(actions)}`, tone: 'action' });
  return folded({ icon: lead ?? trigger.icon, parts: head, transition: id, indent: 0 }, tails, widestRow);
}

/** Transitions without a guard that come after others of the same event with one. */
export function otherwiseOf(transitions: readonly ChartTransition[]): ReadonlySet<string> {
  const guarded = new Set(
    transitions.filter(({ guard }) => guard !== undefined).map(({ source, event }) => JSON.stringify([source, event])),
  );
  return new Set(
    transitions
      .filter(
        ({ guard, index, source, event }) =>
          guard === undefined && index > 0 && guarded.has(JSON.stringify([source, event])),
      )
      .map(({ id }) => id),
  );
}

/** One sentence for the tooltip of a transition. */
export function transitionSentence({
  source,
  event,
  targets,
  guard,
  actions,
  forbids,
  description,
}: ChartTransition): string {
  const where =
    targets.length > 0
      ? `to ${targets.map(placeName).join(' and ')}`
      : forbids
        ? 'is taken and changes nothing'
        : 'stays';
  const parts = [
    `${placeName(source)}: ${event} ${where}`,
    guard === undefined ? '' : `if ${guard.name}`,
    actions.length === 0 ? '' : `doing ${actions.map(({ name }) => name).join(', ')}`,
  ];
  return [parts.filter((part) => part !== '').join(' '), description ?? ''].filter((part) => part !== '').join('. ');
}

export function placeName(state: string): string {
  return state === '' ? 'anywhere' : state;
}

interface TriggerText {
  readonly text: string;
  readonly icon?: Icon | undefined;
  readonly isError: boolean;
}

function triggerOf({ kind, event, invoke = '', delay, guard }: ChartTransition): TriggerText {
  const short = (text: string): string => shortened(text, LONGEST_NAME);
  if (kind === 'invoke-done') return { text: short(plain(invoke)), icon: 'done', isError: false };
  if (kind === 'invoke-error') return { text: short(plain(invoke)), icon: 'failed', isError: true };
  if (kind === 'invoke-snapshot') return { text: `${short(plain(invoke))} reports`, isError: false };
  if (kind === 'delayed') return { text: delayText(delay), icon: 'clock', isError: false };
  if (kind === 'done') return { text: 'finished', icon: 'done', isError: false };
  // Where a guard says when, "at once" says nothing.
  if (kind === 'eventless') return { text: guard === undefined ? 'at once' : '', isError: false };
  return { text: event === '*' ? 'any other event' : short(event), isError: false };
}

function delayText(delay: number | string | undefined): string {
  if (typeof delay !== 'number') return shortened(delay ?? 'a while', LONGEST_NAME);
  return delay >= 1000 ? `${Number((delay / 1000).toFixed(3))} s` : `${delay} ms`;
}

/** Puts as much into each line as it may hold. */
function folded(first: Row, tails: readonly TextPart[], widestRow: number): Row[] {
  const rows: Row[] = [];
  let row = first;
  for (const tail of tails) {
    const joined: Row = {
      ...row,
      parts: [...row.parts, { ...tail, text: row.parts.length === 0 ? tail.text : ` ${tail.text}` }],
    };
    if (row.parts.length === 0 || rowWidth(joined) <= widestRow) row = joined;
    else {
      rows.push(row);
      row = { parts: [tail], transition: first.transition, indent: CONTINUED };
    }
  }
  return [...rows, row];
}

function actionRow(when: string, operations: readonly ChartOperation[]): Row {
  return {
    parts: [
      { text: when, tone: 'quiet' },
      { text: ` / ${operationNames(operations)}`, tone: 'action' },
    ],
    indent: 0,
  };
}

function quiet(text: string): Row {
  return { parts: [{ text, tone: 'quiet' }], indent: 0 };
}

function operationNames(operations: readonly ChartOperation[]): string {
  return named(
    operations.map(({ name }) => plain(name)),
    ', ',
  );
}

function named(names: readonly string[], separator: string): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => shortened(name, LONGEST_NAME));
  return `${shown.join(separator)}${names.length > shown.length ? `${separator}and ${names.length - shown.length} more` : ''}`;
}

/** What has no name of its own stands in parentheses in descriptions: `(inline)`. */
function plain(name: string): string {
  return name.startsWith('(') && name.endsWith(')') ? name.slice(1, -1) : name;
}
