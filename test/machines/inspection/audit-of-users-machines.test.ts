/**
 * Audits of machines as people write them: no registry of events, states that are gone through at once, contexts from
 * input, thousands of states.
 */
import { assign, createMachine, fromPromise, raise, setup, spawnChild } from 'xstate';
import type { AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import { auditPage } from '../../../src/machines/inspection/audit-page.ts';
import type { AuditRule, ChartAudit, Finding } from '../../../src/machines/inspection/chart-audit.ts';

const auditOf = (machine: unknown): ChartAudit => auditChart({ machine: machine as AnyStateMachine });
const ofRule = ({ findings }: ChartAudit, rule: AuditRule): readonly Finding[] =>
  findings.filter((finding) => finding.rule === rule);

describe('a state that is gone through at once', () => {
  it('is reached, by the path that leads through it', () => {
    const audit = auditOf(
      createMachine({
        id: 'router',
        initial: 'check',
        states: { check: { always: 'login' }, login: { on: { AGAIN: 'between' } }, between: { always: 'check' } },
      }),
    );
    expect(audit.reach).toEqual([
      { state: 'check', reach: 'witnessed', path: [], isPassed: true },
      { state: 'login', reach: 'witnessed', path: [] },
      { state: 'between', reach: 'witnessed', path: ['AGAIN'], isPassed: true },
    ]);
    expect(audit.findings).toEqual([]);
    expect(auditPage(audit)).toContain('| `between` | `AGAIN`, and it is left at once |');
  });

  it('is reached where what it raises on entry, or its own end, leads on', () => {
    const raising = setup({ actions: { next: raise({ type: 'NEXT' }) } }).createMachine({
      id: 'raising',
      initial: 'a',
      states: { a: { entry: 'next', on: { NEXT: 'b' } }, b: { on: { RESET: 'a' } } },
    });
    const nested = createMachine({
      id: 'nested',
      initial: 'p',
      states: {
        p: { initial: 'r', onDone: 'end', states: { r: { on: { E: 's' } }, s: { type: 'final' } } },
        end: { type: 'final' },
      },
    });
    for (const audit of [auditOf(raising), auditOf(nested)]) expect(ofRule(audit, 'unreachable-state')).toEqual([]);
  });

  it('is reached in a circle too, which is told once', () => {
    const audit = auditOf(
      createMachine({
        id: 'circle',
        initial: 'a',
        states: { a: { on: { GO: 'b' } }, b: { always: 'c' }, c: { always: 'b' } },
      }),
    );
    expect(audit.findings.map(({ rule }) => rule)).toEqual(['eventless-loop']);
  });
});

describe('a machine whose events nobody has declared', () => {
  it('is not told that a guard never held which reads what they would carry', () => {
    const router = setup({
      types: { context: {} as { user: unknown } },
      guards: { isIn: ({ context }) => context.user !== undefined },
      actions: { login: assign({ user: ({ event }) => event['name'] as unknown }) },
    }).createMachine({
      id: 'router',
      context: { user: undefined },
      initial: 'check',
      states: {
        check: { always: [{ guard: 'isIn', target: 'home' }, { target: 'login' }] },
        login: { on: { LOGIN: { target: 'check', actions: 'login' } } },
        home: { on: { LOGOUT: 'login' } },
      },
    });
    expect(auditOf(router).findings.map(({ severity }) => severity)).toEqual(['note', 'note']);
  });

  it('has one finding when it cannot start without input, not one for each state', () => {
    const { findings, counts } = auditOf(
      createMachine({
        id: 'given',
        context: ({ input }) => ({ id: (input as { user: { id: string } }).user.id }),
        initial: 'a',
        states: { a: { on: { X: 'b' } }, b: { on: { Y: 'a' } } },
      }),
    );
    expect(findings).toMatchObject([
      { rule: 'failing-operation', severity: 'note', hint: 'Give the input that an actor of the chart gets.' },
    ]);
    expect(findings[0]?.says).toContain('its context');
    expect(counts.notes).toBe(1);
  });

  it('is not told twice of what throws', () => {
    const audit = auditOf(
      setup({
        actions: { keep: assign(({ event }) => ({ n: (event as unknown as { items: string[] }).items.length })) },
      }).createMachine({
        id: 'keeping',
        initial: 'a',
        states: { a: { on: { GOT: { target: 'b', actions: 'keep' }, NO: 'b' } }, b: { on: { BACK: 'a' } } },
      }),
    );
    expect(audit.findings.map(({ rule }) => rule)).toEqual(['failing-operation']);
  });
});

it('the end of a whole machine leads nowhere, and the reason is said', () => {
  const audit = auditOf(
    createMachine({
      id: 'ended',
      initial: 'a',
      states: { a: { on: { X: 'b' } }, b: { type: 'final' } },
      onDone: { target: '.a' },
    } as never),
  );
  expect(ofRule(audit, 'unused-transition')[0]?.says).toContain('a machine that has finished takes nothing any more');
});

describe('a big machine', () => {
  it('with more combinations than are checked is said to have them, and not to count without end', () => {
    const regions = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `r${index}`,
        { initial: 'a', states: { a: { on: { [`GO${index}`]: 'b' } }, b: { on: { [`BACK${index}`]: 'a' } } } },
      ]),
    );
    const [finding] = ofRule(
      auditOf(createMachine({ id: 'wide', type: 'parallel', states: regions })),
      'exploration-cut',
    );
    expect(finding?.says).toContain('more combinations of states and context');
  });

  it('says where the context differs without end', () => {
    const counting = setup({
      types: { context: {} as { n: number } },
      actions: { count: assign({ n: ({ context }) => context.n + 1 }) },
    }).createMachine({
      id: 'counting',
      context: { n: 0 },
      initial: 'cart',
      states: { cart: { on: { ADD: { actions: 'count' } } } },
    });
    expect(ofRule(auditOf(counting), 'exploration-cut')).toMatchObject([{ state: 'cart', severity: 'note' }]);
  });

  it('of a thousand states is audited by checking each a few times, and every state is reached', () => {
    const states = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [
        `s${index}`,
        index === 999 ? { type: 'final' as const } : { on: { NEXT: `s${index + 1}` } },
      ]),
    );
    const audit = auditOf(createMachine({ id: 'long', initial: 's0', states } as never));
    expect(audit.findings).toEqual([]);
    expect(audit.reach.every(({ reach }) => reach === 'witnessed')).toBe(true);
  });
});

describe('one fault', () => {
  it('of a guard that stands there twice is told once, with what the order decides', () => {
    const { findings } = auditOf(
      setup({ guards: { open: () => true } }).createMachine({
        id: 'shop',
        initial: 'a',
        states: {
          a: {
            on: {
              GO: [
                { guard: 'open', target: 'b' },
                { guard: 'open', target: 'c' },
              ],
              SKIP: 'c',
            },
          },
          b: { on: { BACK: 'a' } },
          c: { on: { BACK: 'a' } },
        },
      }),
    );
    expect(findings.map(({ rule }) => rule)).toEqual(['repeated-guard', 'overlapping-transitions']);
  });

  it('of a guard that nothing stands behind is told once, with the name that was meant', () => {
    const machine = setup({ guards: { hasItems: () => true } }).createMachine({
      id: 'cart',
      initial: 'a',
      states: { a: { on: { PAY: { guard: 'hasItms' as never, target: 'b' }, SKIP: 'b' } }, b: { on: { BACK: 'a' } } },
    });
    expect(auditOf(machine).findings).toMatchObject([
      { rule: 'missing-implementation', hint: 'Did you mean "hasItems"?' },
    ]);
  });

  it('of a start that never comes to an end is at no event', () => {
    const states = {
      a: { always: { guard: 'yes', target: 'b' } },
      b: { always: { guard: 'yes', target: 'a' } },
    } as const;
    const loop = setup({ guards: { yes: () => true } }).createMachine({ id: 'loop', initial: 'a', states });
    const [found] = ofRule(auditOf(loop), 'eventless-loop');
    expect([found?.event, found?.says]).toEqual([undefined, expect.stringContaining('In the first state, the start')]);
  });
});

describe('what a spawned actor tells', () => {
  const machine = setup({
    actors: { work: fromPromise(async () => 1) },
    actions: { begin: spawnChild('work' as never, { id: 'w' }) },
  }).createMachine({
    id: 'spawning',
    initial: 'a',
    entry: 'begin',
    states: { a: { on: { 'xstate.done.actor.w': 'b', SKIP: 'b' } }, b: { on: { BACK: 'a' } } },
  });

  it('is not tried without a sample, which is said', () => {
    expect(auditOf(machine).findings).toMatchObject([
      {
        rule: 'unused-transition',
        severity: 'note',
        says: expect.stringContaining('there is no sample of it') as unknown,
      },
    ]);
  });

  it('is tried with one', () => {
    const type = 'xstate.done.actor.w';
    expect(auditChart({ machine, samples: { [type]: [{ type, output: 1 }] } }).findings).toEqual([]);
  });
});

it('outputs of an actor that none invokes are a warning', () => {
  const machine = createMachine({
    id: 'one',
    initial: 'a',
    states: { a: { on: { GO: 'b' } }, b: { on: { BACK: 'a' } } },
  });
  expect(auditChart({ machine, outputs: { load: [1] } }).findings).toMatchObject([
    { rule: 'unknown-sample', severity: 'warning', says: expect.stringContaining('outputs of load') as unknown },
  ]);
});
