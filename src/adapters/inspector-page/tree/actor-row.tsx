/** One actor in a row: what it is, what it is called, how it stands, and for how long. */
import type { JSX } from 'preact';
import type { InspectedActorState } from '../../../machines/inspection-log/inspection-world.ts';
import { actorName, wholeName } from '../model/actor-names.ts';
import { TONE_WORDS, badExit, toneOf } from '../model/outcomes.ts';
import { spanOf } from '../model/spans.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, counted, stateText, wholeTime } from '../model/words.ts';
import { Sign } from '../shared/sign.tsx';
import type { SignName } from '../shared/sign.tsx';

export interface ActorRowProps {
  readonly actor: InspectedActorState;
  readonly elementId: string;
  readonly role: 'treeitem' | 'option';
  /** From 1. */
  readonly level: number;
  /** From 0. */
  readonly place: number;
  readonly siblings: number;
  /** Undefined: it has no children. */
  readonly isOpen?: boolean | undefined;
  readonly isChosen: boolean;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** What it belongs to, where that is not to be seen. */
  readonly above?: string | undefined;
  /** When the process died that it lived in, though its log does not say so yet. */
  readonly diedAt: number | undefined;
  /** How many events it ignored that another of its states takes. */
  readonly missed: number;
  readonly onChoose: () => void;
  readonly onToggle: () => void;
}

const INDENT = 14;
/** Deeper ones stand no further in: their level is in the row, for screen readers. */
const MOST_INDENTS = 10;

export function ActorRow({
  actor,
  elementId,
  role,
  level,
  place,
  siblings,
  isOpen,
  isChosen,
  time,
  above,
  diedAt,
  missed,
  onChoose,
  onToggle,
}: ActorRowProps): JSX.Element {
  const hasDied = diedAt !== undefined && actor.status === 'active';
  const tone = hasDied ? 'unknown' : toneOf(actor);
  const state = visibleText(stateText(actor.value), 80);
  const exit = badExit(actor.facts);
  const shown = exit ?? (hasDied ? 'died with its process' : state === '' ? TONE_WORDS[tone] : state);
  const isOver = hasDied || actor.status !== 'active';
  const span = spanOf(actor, hasDied ? diedAt : time);
  const name = actorName(actor);
  return (
    <div
      id={elementId}
      key={actor.key}
      class={`actor-row${isChosen ? ' is-chosen' : ''}${isOver ? ' is-over' : ''}`}
      role={role}
      aria-level={role === 'treeitem' ? level : undefined}
      aria-expanded={isOpen}
      aria-selected={isChosen}
      aria-setsize={siblings}
      aria-posinset={place + 1}
      title={`${wholeName(actor)}\n${exit === undefined ? '' : `${state}, `}${shown}${isOver ? `, took ${span}, over` : ` for ${span},`} since ${wholeTime(actor.since.t)}${actor.error === undefined ? '' : `\n${visibleText(actor.error.message, 400)}`}`}
      style={{ paddingInlineStart: `${6 + Math.min(level - 1, MOST_INDENTS) * INDENT}px` }}
      onClick={onChoose}
    >
      <Toggle isOpen={isOpen} onToggle={onToggle} />
      <ActorSign kind={actor.kind} />
      <span class="name">
        {name}
        {above === undefined ? undefined : <small> {above}</small>}
      </span>
      <Missed count={missed} />
      <span class="unseen">, {visibleText(actor.kind ?? 'actor', 60)}, </span>
      <span class={`state is-${tone}${exit === undefined ? '' : ' is-exit'}`}>
        <Sign of={tone} />
        <span>{shown}</span>
      </span>
      <span class="unseen">
        {shown === TONE_WORDS[tone] ? '' : `, ${TONE_WORDS[tone]}`}
        {isOver ? ', took ' : ', for '}
      </span>
      <span class="age">{span}</span>
    </div>
  );
}

function Missed({ count }: { readonly count: number }): JSX.Element | undefined {
  if (count === 0) return undefined;
  return (
    <span class="badge is-error" title={`It ignored ${counted(count, 'event')} which another of its states takes`}>
      {amount(count)} ignored
    </span>
  );
}

function Toggle({ isOpen, onToggle }: Pick<ActorRowProps, 'isOpen' | 'onToggle'>): JSX.Element {
  const toggle = (event: MouseEvent): void => {
    event.stopPropagation();
    onToggle();
  };
  return (
    <span class="toggle" aria-hidden="true" onClick={isOpen === undefined ? undefined : toggle}>
      {isOpen === undefined ? undefined : <Sign of={isOpen ? 'open' : 'closed'} />}
    </span>
  );
}

const OF_KINDS: readonly (readonly [RegExp, SignName])[] = [
  [/supervisor/i, 'supervisor'],
  [/^tool|call$/i, 'toolCall'],
  [/subagent|worktree/i, 'subagent'],
  [/schedule/i, 'timer'],
  [/^session/i, 'session'],
  [/^wake/i, 'action'],
  [/^task/i, 'task'],
  [/^run$/i, 'run'],
];

/** What the actor is. */
function ActorSign({ kind }: { readonly kind: string | undefined }): JSX.Element {
  return <Sign of={OF_KINDS.find(([pattern]) => kind !== undefined && pattern.test(kind))?.[1] ?? 'other'} />;
}
