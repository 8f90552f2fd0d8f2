/** Definitions come from other programs: what is understood becomes a chart, and everything else an answer in words. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assign, createMachine, not } from 'xstate';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import { chartDescription } from '../../../src/machines/inspection/chart-description.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { definitionOf } from '../../../src/machines/inspection-log/stately-config-writer.ts';
import { MAX_DEFINITION_CHARACTERS, readDefinition } from '../../../src/machines/inspection-log/stately-definition.ts';
import { StatelyText } from '../../../src/machines/inspection-log/stately-text.ts';

const text = new StatelyText();
const read = (config: unknown): ReturnType<typeof readDefinition> => readDefinition(JSON.stringify(config), text);
const because = (config: unknown): string => (read(config) as { readonly because: string }).because;

describe('a definition', () => {
  it('gives the chart of the machine, with functions as what has no name', () => {
    const machine = createMachine({
      id: 'light',
      initial: 'red',
      states: {
        red: { on: { GO: { target: 'green', guard: not('busy'), actions: [assign({}), 'ring', () => undefined] } } },
        green: { tags: 'lit', after: { 500: 'red' }, invoke: { src: 'work', onDone: 'red' } },
      },
    });
    const sent = JSON.stringify(machine.config, (_key, value: unknown) =>
      typeof value === 'function' ? { type: value.name } : value,
    );
    const made = readDefinition(sent, text);
    if (!('chart' in made)) throw new Error(JSON.stringify(made));
    expect(made.chart.states.map(({ id }) => id)).toEqual(['', 'red', 'green']);
    expect(made.chart.transitions.map(({ id }) => id)).toEqual([
      'red|GO|0',
      'green|done(work)|0',
      'green|after(500)|0',
    ]);
    const [go] = made.chart.transitions;
    expect(go?.guard).toEqual({ name: '(not)', isInline: true });
    expect(go?.actions).toEqual([
      { name: '(assign)', isInline: true },
      { name: 'ring', isInline: false },
      { name: '(inline)', isInline: true },
    ]);
    expect(made.isCut).toBe(false);
    expect(chartDescription.safeParse(made.chart).success).toBe(true);
  });

  it('of what is no machine gives no chart', () => {
    for (const config of [{ id: '0.light.green' }, {}, [], 'text', 7, null])
      expect(read(config)).toEqual({ noChart: true });
  });

  it('says that the program left something out', () => {
    const made = read({ id: 'm', initial: 'a', states: { a: { on: { GO: '[Object]' } }, b: '[Object]' } });
    expect(made).toMatchObject({ isCut: true });
    expect(because({ id: 'm', initial: 'a', states: { a: { on: { GO: '#deep' } }, b: '[Object]' } })).toMatch(
      /serializationDepthLimit/,
    );
  });

  it('that is broken, huge or hostile is refused in words', () => {
    expect(readDefinition('{"id":', text)).toHaveProperty('because');
    expect(because({ initial: 'a', states: { a: { on: { GO: 'nowhere' } } } })).toMatch(/nowhere/);
    expect(
      because({
        initial: 'a',
        states: Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`s${index}`, {}])),
      }),
    ).toMatch(/more than 2000 states/);
    expect(because({ on: Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`E${index}`, {}])) })).toMatch(
      /more than 5000 transitions/,
    );
    expect(because({ entry: Array.from({ length: 21_000 }, () => 'a') })).toMatch(/more than 20000/);
    expect(
      readDefinition(`{"states":${'{"a":{"states":'.repeat(10_000)}{}${'}}'.repeat(10_000)}}`, text),
    ).toHaveProperty('because');
    expect(readDefinition('x'.repeat(MAX_DEFINITION_CHARACTERS + 1), text)).toEqual({
      because: `it is longer than ${MAX_DEFINITION_CHARACTERS} characters`,
    });
    const made = readDefinition(
      '{"initial":"a","states":{"a":{},"__proto__":{"entry":"x"}},"__proto__":{"states":{}}}',
      text,
    );
    expect('chart' in made && made.chart.states.map(({ id }) => id)).toEqual(['', 'a']);
  });

  it('runs nothing of what it names', () => {
    // What XState would take for its own is only a name here.
    const made = read({
      initial: 'a',
      entry: { type: 'xstate.raise', event: { type: 'GO' } },
      states: { a: { on: { GO: 'b' } }, b: {} },
      context: { constructor: { name: 'x' } },
    });
    expect('chart' in made && made.chart.states[0]?.entry).toEqual([{ name: 'xstate.raise', isInline: false }]);
  });

  it('gives an answer for any JSON there is', () => {
    const keys = fc.constantFrom(
      'states',
      'on',
      'initial',
      'always',
      'after',
      'invoke',
      'entry',
      'type',
      'id',
      'target',
      'guard',
      'actions',
      'history',
      'onDone',
      'src',
      'tags',
      'a',
      'b',
      '',
      '*',
      '__proto__',
      'constructor',
    );
    const leaf = fc.oneof(
      fc.constantFrom('a', 'b', '#a', '.a', 'parallel', 'final', 'history', '[Object]', '', 'a.b'),
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.string({ maxLength: 5 }),
    );
    const { json } = fc.letrec<{ json: unknown }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        leaf,
        fc.dictionary(keys, tie('json'), { maxKeys: 5, noNullPrototype: true }),
        fc.array(tie('json'), { maxLength: 3 }),
      ),
    }));
    let charted = 0;
    fc.assert(
      fc.property(fc.dictionary(keys, json, { minKeys: 1, maxKeys: 6, noNullPrototype: true }), (config) => {
        const made = read(config);
        if (!('chart' in made)) return 'noChart' in made || made.because.length > 0;
        charted += 1;
        return chartDescription.safeParse(made.chart).success;
      }),
      { seed: 20_260_614, numRuns: 1_000 },
    );
    expect(charted).toBeGreaterThan(50);
  });

  it('takes secrets out of every name', () => {
    const made = readDefinition(
      JSON.stringify({
        id: 'm',
        initial: 'sk-1',
        states: { 'sk-1': { description: 'has sk-1', on: { 'sk-1.x': 'sk-1' } } },
      }),
      new StatelyText((each) => each.replaceAll('sk-1', '***')),
    );
    expect(JSON.stringify(made)).not.toContain('sk-1');
    expect(made).toHaveProperty('chart');
  });
});

describe('a chart that is written as a definition', () => {
  it('is read as the same chart, for every chart of this project', () => {
    for (const { machine } of charts) {
      const chart = describeChart(machine);
      const made = readDefinition(definitionOf(chart), text);
      if (!('chart' in made)) throw new Error(`${chart.id}: ${JSON.stringify(made)}`);
      expect(made.chart.states.map(({ id, kind, initial, invokes }) => ({ id, kind, initial, invokes }))).toEqual(
        chart.states.map(({ id, kind, initial, invokes }) => ({ id, kind, initial, invokes })),
      );
      expect(
        made.chart.transitions
          .map(({ id, targets, guard, kind }) => ({ id, targets, guard: guard?.name, kind }))
          .toSorted(byId),
      ).toEqual(
        chart.transitions
          .map(({ id, targets, guard, kind }) => ({ id, targets, guard: guard?.name, kind }))
          .toSorted(byId),
      );
    }
  });
});

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}
