/** What has changed in the states of a chart. */
import { ROOT } from './chart-states.ts';
import type { ChartChange } from './chart-change.ts';
import type { ChartInvocation, ChartOperation, ChartState } from './chart-description.ts';
import type { StateMatch } from './diff-renames.ts';
import { actionChange, quoted } from './diff-operations.ts';

export function stateChanges(match: StateMatch): ChartChange[] {
  const { before, after, translate } = match;
  const later = new Map(after.states.map((state) => [state.id, state]));
  const known = new Set(before.states.map(({ id }) => translate(id)));
  const kept = before.states.flatMap((state): ChartChange[] => {
    const next = later.get(translate(state.id));
    return next === undefined ? [removed(state)] : changesOf(match, state, next);
  });
  const more = after.states.filter(({ id }) => !known.has(id));
  return [
    ...kept,
    ...more.map((state) => added(state, known.has(state.parent ?? ROOT) ? later.get(state.parent ?? ROOT) : undefined)),
  ];
}

function removed({ id, kind }: ChartState): ChartChange {
  return {
    bump: 'major',
    kind: 'state-removed',
    before: id,
    says: `The ${kind === 'final' ? 'outcome' : 'state'} ${nameOf(id)} is gone.`,
  };
}

/** @param outer the state around it, where that was there before */
function added({ id, kind }: ChartState, outer: ChartState | undefined): ChartChange {
  if (outer?.kind === 'parallel')
    return {
      bump: 'major',
      kind: 'state-added',
      after: id,
      says: `There is another region: ${nameOf(id)}. What was stored in ${nameOf(outer.id)} does not say where that is.`,
    };
  if (kind === 'final')
    return {
      bump: 'major',
      kind: 'outcome',
      after: id,
      says: `It can end in another way: ${nameOf(id)}. Code that tells its outcomes apart does not know this one.`,
    };
  return { bump: 'minor', kind: 'state-added', after: id, says: `There is another state: ${nameOf(id)}.` };
}

function changesOf({ renamed, translate }: StateMatch, before: ChartState, after: ChartState): ChartChange[] {
  const ids = { before: before.id, after: after.id };
  const changes: ChartChange[] = [];
  if (renamed.has(before.id))
    changes.push({
      bump: 'major',
      kind: 'state-renamed',
      ...ids,
      says: `${nameOf(before.id)} is called ${nameOf(after.id)} now; what was stored under the old name is not found.`,
    });
  if (before.kind !== after.kind || before.history !== after.history) {
    changes.push({
      bump: 'major',
      kind: 'state-kind',
      ...ids,
      says: `${nameOf(after.id)} was ${kindOf(before)} and is ${kindOf(after)}.`,
    });
  } else if (
    before.initial !== undefined &&
    after.initial !== undefined &&
    translate(before.initial) !== after.initial
  ) {
    changes.push({
      bump: 'major',
      kind: 'initial',
      ...ids,
      says: `${nameOf(after.id)} starts in ${nameOf(after.initial)} instead of ${nameOf(before.initial)}.`,
    });
  }
  if (before.hasOutput !== after.hasOutput) {
    const isGone = after.hasOutput !== true;
    changes.push({
      bump: isGone ? 'major' : 'minor',
      kind: 'output',
      ...ids,
      says: isGone
        ? `${nameOf(after.id)} does not say any more what came of it.`
        : `${nameOf(after.id)} says what came of it.`,
    });
  }
  if (JSON.stringify(before.tags.toSorted()) !== JSON.stringify(after.tags.toSorted())) {
    // A caller that waits for a tag does not find one that is gone.
    const bump = before.tags.every((tag) => after.tags.includes(tag)) ? 'minor' : 'major';
    changes.push({
      bump,
      kind: 'tags',
      ...ids,
      says: `The tags of ${nameOf(after.id)} are ${quoted(after.tags)} instead of ${quoted(before.tags)}.`,
    });
  }
  if (before.id !== ROOT && before.description !== after.description)
    changes.push({
      bump: 'patch',
      kind: 'description',
      ...ids,
      says: `${nameOf(after.id)} is described in other words.`,
    });
  return [...changes, ...lifeChanges(before, after), ...invokeChanges(before, after)];
}

function lifeChanges(before: ChartState, after: ChartState): ChartChange[] {
  const change = (moment: string, one: readonly ChartOperation[], other: readonly ChartOperation[]): ChartChange[] =>
    actionChange({ before: before.id, after: after.id, whose: `${moment} ${nameOf(after.id)}` }, one, other);
  return [
    ...change('on the way into', before.entry, after.entry),
    ...change('on the way out of', before.exit, after.exit),
    ...change('at the start of', before.initialActions ?? [], after.initialActions ?? []),
  ];
}

function invokeChanges(before: ChartState, after: ChartState): ChartChange[] {
  const ids = { before: before.id, after: after.id };
  const sourceOf = (invokes: readonly ChartInvocation[], id: string): string | undefined =>
    invokes.find((each) => each.id === id)?.source.name;
  const gone = before.invokes.flatMap(({ id, source }): ChartChange[] => {
    const next = sourceOf(after.invokes, id);
    if (next === source.name) return [];
    return [
      {
        bump: 'major',
        kind: 'invoke',
        ...ids,
        says:
          next === undefined
            ? `${nameOf(after.id)} does not run ${id} any more.`
            : `${nameOf(after.id)} runs ${next} as ${id} instead of ${source.name}.`,
      },
    ];
  });
  const more = after.invokes.filter(({ id }) => sourceOf(before.invokes, id) === undefined);
  return [
    ...gone,
    ...more.map(({ id }): ChartChange => ({
      bump: 'minor',
      kind: 'invoke',
      ...ids,
      says: `${nameOf(after.id)} runs ${id} too.`,
    })),
  ];
}

export function nameOf(id: string): string {
  return id === ROOT ? 'the chart' : `"${id}"`;
}

function kindOf({ kind, history }: ChartState): string {
  return history === undefined ? `${kind === 'atomic' ? 'an' : 'a'} ${kind} state` : `a ${history} history`;
}
