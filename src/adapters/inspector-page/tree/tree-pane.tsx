/** All actors, as a tree; what is searched for, as a list. */
import { batch } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { actorName, keyName } from '../model/actor-names.ts';
import { chooseActor, chosenActor, middleTab, recording, recordingId, shownTime, world } from '../model/view.ts';
import { amount } from '../model/words.ts';
import { diedAt } from '../sessions/known-sessions.ts';
import { isPlainKey, rowAfter } from '../shared/list-keys.ts';
import { VirtualList } from '../shared/virtual-list.tsx';
import { ActorRow } from './actor-row.tsx';
import type { TreeRows } from './tree-rows.ts';
import { TreeTools } from './tree-tools.tsx';
import { counts, isListing, missedOf, MOST_FOUND, openAbove, rows, setOpen, watchFound } from './tree-view.ts';
import './tree.css';

// Where the keys of a tree lead from one row, and what they open or close. Lists of what was found have the same keys,
// and nothing to open.

interface TreePlace {
  /** Of the row that is chosen. -1: none is. */
  readonly index: number;
  readonly count: number;
  /** Undefined: it has no children. */
  readonly isOpen: boolean | undefined;
  /** Row of its parent. -1: it has none. */
  readonly parent: number;
}

type TreeMove = { readonly to: number } | { readonly open: boolean };

/** Undefined: the key is of no use here. */
export function moveOf(key: string, { index, count, isOpen, parent }: TreePlace): TreeMove | undefined {
  if (count > 0 && key === 'ArrowRight' && isOpen !== undefined)
    return isOpen ? { to: Math.min(count - 1, index + 1) } : { open: true };
  if (count > 0 && key === 'ArrowLeft' && isOpen === true) return { open: false };
  const to = count > 0 && key === 'ArrowLeft' && parent >= 0 ? parent : rowAfter(key, index, count);
  return to === undefined ? undefined : { to };
}

const ROW_HEIGHT = 28;
const rowId = (index: number): string => `actor-row-${index}`;

export function TreePane(): JSX.Element {
  return (
    <div class="tree-pane">
      <TreeTools />
      {isListing.value ? <FoundList key={`found ${recordingId.value}`} /> : <ActorTree key={recordingId.value} />}
    </div>
  );
}

/** Choosing as one goes; on a narrow page the tree stays, which `chooseActor` would leave. */
function pass(key: string): void {
  batch(() => {
    chosenActor.value = key;
    middleTab.value = 'chart';
  });
}

interface Keys {
  readonly place: TreePlace;
  readonly keyAt: (index: number) => string | undefined;
  readonly current: string | undefined;
}

function press(event: KeyboardEvent, { place, keyAt, current }: Keys): void {
  if (!isPlainKey(event) || event.shiftKey) return;
  if ((event.key === 'Enter' || event.key === ' ') && current !== undefined) {
    event.preventDefault();
    chooseActor(current);
    return;
  }
  const move = moveOf(event.key, place);
  if (move === undefined) return;
  event.preventDefault();
  if ('open' in move) {
    if (current !== undefined) setOpen(current, move.open);
    return;
  }
  const key = keyAt(move.to);
  if (key !== undefined) pass(key);
}

function ActorTree(): JSX.Element {
  const all = rows.value;
  const chosen = chosenActor.value;
  const index = chosen === undefined ? -1 : all.indexOf(chosen);
  const isKnown = chosen !== undefined && world.value.actor(chosen) !== undefined;
  // Once for each that is chosen: the user may close what is above it again.
  useEffect(() => {
    if (isKnown) openAbove(chosen);
  }, [chosen, isKnown]);
  const { vanished, onRows } = useAnchor(all);
  const reveal = useReveal(chosen, index);
  const time = shownTime.value;
  return (
    <VirtualList
      label="Actors"
      role="tree"
      class="tree"
      count={all.count}
      rowHeight={ROW_HEIGHT}
      vanished={vanished}
      onRows={onRows}
      shown={reveal.index}
      shownAs={reveal.key}
      empty={
        <p class="empty">
          {recording.value.phase.value.name === 'loading'
            ? 'What was recorded is being read.'
            : counts.value.all > 0
              ? 'All actors are over and hidden.'
              : 'No actor was recorded at this moment.'}
        </p>
      }
      attributes={{
        'aria-activedescendant': index < 0 ? undefined : rowId(index),
        onKeyDown: (event) =>
          press(event, { place: placeOf(all, index), keyAt: (row) => all.row(row)?.key, current: chosen }),
      }}
      row={(row) => treeRow(all, row, { chosen, time })}
    />
  );
}

function treeRow(
  all: TreeRows,
  index: number,
  { chosen, time }: { readonly chosen: string | undefined; readonly time: number },
): JSX.Element | undefined {
  const row = all.row(index);
  const actor = row === undefined ? undefined : world.value.actor(row.key);
  if (row === undefined || actor === undefined) return undefined;
  const isOpen = actor.childCount === 0 ? undefined : row.isOpen;
  return (
    <ActorRow
      key={row.key}
      actor={actor}
      elementId={rowId(index)}
      role="treeitem"
      level={row.level}
      place={row.place}
      siblings={row.siblings}
      isOpen={isOpen}
      isChosen={row.key === chosen}
      time={time}
      diedAt={diedAt.value}
      missed={missedOf(row.key)}
      onChoose={() => chooseActor(row.key)}
      onToggle={() => setOpen(row.key, !row.isOpen)}
    />
  );
}

function placeOf(all: TreeRows, index: number): TreePlace {
  const row = all.row(index);
  const actor = row === undefined ? undefined : world.value.actor(row.key);
  const parent = actor?.parent === undefined ? -1 : all.indexOf(actor.parent);
  return {
    index,
    count: all.count,
    parent,
    isOpen: row === undefined || actor === undefined || actor.childCount === 0 ? undefined : row.isOpen,
  };
}

/** Rows that come or go before what is seen are counted by checking where a row that is seen has gone. */
function useAnchor(all: TreeRows): {
  readonly vanished: number;
  readonly onRows: (first: number, last: number) => void;
} {
  const state = useRef<{
    all: TreeRows;
    vanished: number;
    seen: readonly { readonly key: string; readonly index: number }[];
  }>({ all, vanished: 0, seen: [] });
  const { current } = state;
  if (current.all !== all) {
    current.all = all;
    for (const { key, index } of current.seen) {
      const now = all.indexOf(key);
      if (now < 0) continue;
      current.vanished += index - now;
      break;
    }
  }
  const onRows = (first: number, last: number): void => {
    current.seen = Array.from({ length: Math.max(0, last - first) }, (_, offset) => ({
      key: all.row(first + offset)?.key ?? '',
      index: first + offset,
    }));
  };
  return { vanished: current.vanished, onRows };
}

/** The row of what is chosen, as it was when it was chosen: where it moves later, the view stays. */
function useReveal(
  key: string | undefined,
  index: number,
): { readonly key: string | undefined; readonly index: number | undefined } {
  const revealed = useRef<{ key: string | undefined; index: number | undefined }>({ key: undefined, index: undefined });
  if (revealed.current.key !== key && (index >= 0 || key === undefined))
    revealed.current = { key, index: index < 0 ? undefined : index };
  return revealed.current;
}

function FoundList(): JSX.Element {
  const watch = useMemo(watchFound, []);
  useEffect(() => watch.leave, []);
  const { actors, isCut } = watch.value.value;
  const chosen = chosenActor.value;
  const index = actors.findIndex(({ key }) => key === chosen);
  const reveal = useReveal(chosen, index);
  const time = shownTime.value;
  return (
    <>
      {isCut ? <p class="sessions-note">The first {amount(MOST_FOUND)} are listed.</p> : undefined}
      <VirtualList
        label="Actors found"
        role="listbox"
        class="tree"
        count={actors.length}
        rowHeight={ROW_HEIGHT}
        shown={reveal.index}
        shownAs={reveal.key}
        empty={<p class="empty">No actor at this moment is like that.</p>}
        attributes={{
          'aria-activedescendant': index < 0 ? undefined : rowId(index),
          onKeyDown: (event) =>
            press(event, {
              place: { index, count: actors.length, isOpen: undefined, parent: -1 },
              keyAt: (row) => actors[row]?.key,
              current: chosen,
            }),
        }}
        row={(row) => {
          const found = actors[row];
          if (found === undefined) return undefined;
          const actor = world.value.actor(found.key) ?? found;
          return (
            <ActorRow
              key={actor.key}
              actor={actor}
              elementId={rowId(row)}
              role="option"
              level={1}
              place={row}
              siblings={actors.length}
              isChosen={actor.key === chosen}
              time={time}
              above={aboveOf(actor.parent)}
              diedAt={diedAt.value}
              missed={missedOf(actor.key)}
              onChoose={() => chooseActor(actor.key)}
              onToggle={() => undefined}
            />
          );
        }}
      />
    </>
  );
}

function aboveOf(key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  const parent = world.value.actor(key);
  return parent === undefined ? keyName(key) : actorName(parent);
}
