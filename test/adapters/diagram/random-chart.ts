/** Random chart descriptions: nested and parallel states, history, all kinds of transitions, long names. */
import fc from 'fast-check';
import type {
  ChartDescription,
  ChartState,
  ChartTransition,
} from '../../../src/machines/inspection/chart-description.ts';

const names = fc.constantFrom(
  'idle',
  'waiting',
  'run',
  'a_rather_long_name_of_a_state_that_goes_on',
  'done',
  'x',
  '状態',
  'stopping <now> & "here"',
);
const kinds = fc.constantFrom(
  'event',
  'event',
  'event',
  'delayed',
  'invoke-done',
  'invoke-error',
  'eventless',
  'wildcard',
  'done',
);
const operations = fc.array(
  fc
    .constantFrom('noteFailure', 'keep', 'assignEverythingThatCameWithTheEvent')
    .map((name) => ({ name, isInline: false })),
  { maxLength: 3 },
);

interface Sapling {
  readonly name: string;
  readonly kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly isInvoking: boolean;
  readonly children: readonly Sapling[];
}

const leaf: fc.Arbitrary<Sapling> = fc.record({
  name: names,
  kind: fc.constantFrom('atomic', 'atomic', 'atomic', 'final', 'history'),
  isInvoking: fc.boolean(),
  children: fc.constant([]),
});

function saplings(depth: number): fc.Arbitrary<Sapling> {
  if (depth === 0) return leaf;
  const outer = fc.record({
    name: names,
    kind: fc.constantFrom('compound' as const, 'parallel' as const),
    isInvoking: fc.boolean(),
    children: fc.array(saplings(depth - 1), { minLength: 1, maxLength: 3 }),
  });
  return fc.oneof({ weight: 3, arbitrary: leaf }, { weight: 1, arbitrary: outer });
}

const drafts = fc.array(
  fc.record({
    source: fc.nat(),
    targets: fc.array(fc.nat(), { maxLength: 2 }),
    kind: kinds,
    event: fc.constantFrom('GO', 'STOP', 'REQUEST_PERMISSION', 'mouse.move'),
    guard: fc.option(fc.constantFrom('isReady', 'and(isReady, not(isStopped))')),
    actions: operations,
  }),
  { maxLength: 9 },
);

export const randomChart: fc.Arbitrary<ChartDescription> = fc
  .tuple(fc.array(saplings(2), { minLength: 1, maxLength: 5 }), drafts, fc.boolean())
  .map(([roots, transitions, isParallel]) => {
    const kept = grown(
      { name: 'root', kind: isParallel ? 'parallel' : 'compound', isInvoking: false, children: roots },
      '',
      undefined,
    ).slice(0, 10);
    // A chart cannot start in a state that was cut off.
    const states = kept.map(({ initial, ...state }) =>
      initial !== undefined && kept.some(({ id }) => id === initial) ? { ...state, initial } : state,
    );
    return {
      format: 'chart/1',
      id: 'random',
      states,
      transitions: transitions.map((draft, index): ChartTransition => {
        const at = (place: number): string => states[place % states.length]?.id ?? '';
        const source = at(draft.source);
        return {
          id: `${source}|${draft.event}|${index}`,
          source,
          event: draft.event,
          kind: draft.kind,
          index,
          targets: draft.targets.map(at),
          ...(draft.guard === null ? {} : { guard: { name: draft.guard, isInline: false } }),
          actions: draft.actions,
          reenters: false,
          forbids: false,
          ...(draft.kind === 'delayed' ? { delay: 1500 } : {}),
          ...(draft.kind.startsWith('invoke') ? { invoke: 'fetch' } : {}),
        };
      }),
      events: [],
      unhandled: { as: 'ignored' },
      waivers: [],
    };
  });

function grown({ kind, isInvoking, children }: Sapling, id: string, parent: string | undefined): ChartState[] {
  const isOuter = kind === 'compound' || kind === 'parallel';
  const below = isOuter
    ? children.flatMap((child, index) => grown(child, `${id === '' ? '' : `${id}.`}${child.name}${index}`, id))
    : [];
  const first = below.find((state) => state.parent === id)?.id;
  const invokes = isInvoking
    ? [{ id: 'fetch', source: { name: 'fetch', isInline: false }, handlesDone: true, handlesError: false }]
    : [];
  return [
    {
      id,
      key: id === '' ? 'random' : (id.split('.').at(-1) ?? id),
      ...(parent === undefined ? {} : { parent }),
      kind,
      ...(kind === 'compound' && first !== undefined ? { initial: first } : {}),
      ...(kind === 'history' ? { history: 'deep' as const } : {}),
      tags: isInvoking ? ['busy'] : [],
      entry: [],
      exit: [],
      invokes,
    },
    ...below,
  ];
}
