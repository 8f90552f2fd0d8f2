/**
 * Findings about what XState takes without a word: transitions out of final states, names that nothing stands behind,
 * events that the machine raises and no state takes, a guard that is asked twice.
 */
import type { AnyStateNode } from 'xstate';
import { closestName } from '../closest-name.ts';
import type { Finding } from './chart-audit.ts';
import { idOf, nodesOf, partsOf, transitionsOf } from './chart-reading.ts';
import type { ChartPart } from './chart-reading.ts';
import { machineOf } from './describe-chart.ts';
import type { AuditMatter } from './findings.ts';
import { opening } from './findings.ts';

export function findingsOfXState({ chart, index }: AuditMatter): readonly Finding[] {
  const machine = machineOf(chart.machine);
  const nodes = nodesOf(machine);
  const taken = new Set(index.chart.transitions.filter(({ kind }) => kind === 'event').map(({ event }) => event));
  const { implementations } = machine as unknown as { readonly implementations: Implementations };
  const isTemplate = Object.values(implementations).every((named) => Object.keys(named).length === 0);
  const wildcards = index.chart.transitions.flatMap(({ kind, event }) =>
    kind === 'wildcard' ? [event.slice(0, -1)] : [],
  );
  const isTaken = (type: string): boolean =>
    taken.has(type) || wildcards.some((beginning) => type.startsWith(beginning));
  return [
    ...nodes.flatMap((node) => [...outOfFinal(node), ...repeatedGuards(node)]),
    ...firstOfEach(nodes.flatMap(partsOf)).flatMap((part) => [
      ...missing(part, implementations, isTemplate ? 'note' : 'warning'),
      ...unheardRaise(part, isTaken, [...taken]),
    ]),
  ];
}

/** What is named in many places is missing once. */
function firstOfEach(parts: readonly ChartPart[]): readonly ChartPart[] {
  const first = new Map<string, ChartPart>();
  for (const part of parts) {
    const key = `${part.kind} ${part.name}`;
    if (!first.has(key)) first.set(key, part);
  }
  return [...first.values()];
}

type Implementations = Readonly<Record<Exclude<ChartPart['kind'], 'raise'>, Readonly<Record<string, unknown>>>>;

/** A machine that has ended takes nothing; in a final state within it, SCXML has no transitions, and XState takes them. */
function outOfFinal(node: AnyStateNode): Finding[] {
  if (node.type !== 'final') return [];
  const isEnd = node.parent === node.machine.root;
  return transitionsOf(node).map(({ transition: { id, event } }) => ({
    rule: 'final-transition',
    severity: isEnd ? 'error' : 'warning',
    state: idOf(node),
    event,
    transition: id,
    says: `${opening(idOf(node))} is final and has a transition for ${event}${isEnd ? ': it is never taken, since the machine has ended' : ', so that what counts as done goes on'}.`,
    hint: 'Take the transition out, or do not make the state final.',
  }));
}

function repeatedGuards(node: AnyStateNode): Finding[] {
  const seen = new Map<string, unknown[]>();
  return transitionsOf(node).flatMap(({ transition, definition }): Finding[] => {
    const { guard } = definition as { readonly guard?: unknown };
    if (guard === undefined) return [];
    const before = seen.get(transition.event) ?? [];
    seen.set(transition.event, [...before, guard]);
    if (!before.some((other) => isSameGuard(other, guard))) return [];
    return [
      {
        rule: 'repeated-guard',
        severity: 'error',
        state: transition.source,
        event: transition.event,
        transition: transition.id,
        says: `${opening(transition.source)}: transition ${transition.index + 1} of ${transition.event} is never taken, since the same guard ${transition.guard?.name ?? ''} stands before it.`,
        hint: 'Give it another guard, or take it out.',
      },
    ];
  });
}

/** Of one name, and asked the same: what is computed for each may differ. */
function isSameGuard(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  const [first, second] = [one, other].map((guard) =>
    typeof guard === 'string' ? { type: guard } : (guard as { readonly type?: unknown; readonly params?: unknown }),
  );
  if (typeof first?.type !== 'string' || first.type !== second?.type || typeof one === 'function') return false;
  return (
    typeof first.params !== 'function' &&
    typeof second.params !== 'function' &&
    JSON.stringify(first.params) === JSON.stringify(second.params)
  );
}

const WHERE = { guards: 'guards', actions: 'actions', actors: 'actors', delays: 'delays' } as const;
const WHAT = { guards: 'guard', actions: 'action', actors: 'actor', delays: 'delay' } as const;

/**
 * It may be provided before the machine runs, so it is no error; what it does without is said. A chart without any
 * implementation is made to be given them all.
 */
function missing(part: ChartPart, implementations: Implementations, severity: Finding['severity']): Finding[] {
  if (part.kind === 'raise' || Object.hasOwn(implementations[part.kind], part.name)) return [];
  const { kind, name, state, event, transition } = part;
  const near = closestName(name, Object.keys(implementations[kind]));
  return [
    {
      rule: 'missing-implementation',
      severity,
      state,
      ...(event === undefined ? {} : { event }),
      ...(transition === undefined ? {} : { transition }),
      says: `${opening(state)} names the ${WHAT[kind]} ${name}, and nothing stands behind it: ${kind === 'actions' ? 'it does nothing' : 'the machine breaks there'} unless one is provided.`,
      hint:
        near === undefined
          ? `Add it to setup({ ${WHERE[kind]} }), or give it with machine.provide() before the machine runs.`
          : `Did you mean "${near}"?`,
    },
  ];
}

function unheardRaise(part: ChartPart, isTaken: (type: string) => boolean, taken: readonly string[]): Finding[] {
  if (part.kind !== 'raise' || isTaken(part.name)) return [];
  const { name, state, event, transition } = part;
  const near = closestName(name, taken);
  return [
    {
      rule: 'unheard-raise',
      severity: 'warning',
      state,
      ...(event === undefined ? {} : { event }),
      ...(transition === undefined ? {} : { transition }),
      says: `${opening(state)} raises ${name}, which no state takes.`,
      hint: near === undefined ? 'Correct the name of the event, or take the raise out.' : `Did you mean "${near}"?`,
    },
  ];
}
