/** What every store of permission rules does. Each implementation runs these tests. */
import { describe, expect, it } from 'vitest';
import type { KeptRule, PolicyStore } from '../../src/actors/permission/permission-ports.ts';
import { formatRule, parseRule } from '../../src/machines/permission/permission-rule.ts';
import { codeOf } from './event-store.contract.ts';

export interface PolicyStoreUnderTest {
  readonly store: PolicyStore;
  /** Another store over the same rules, as another process would have. */
  readonly beside: PolicyStore;
  dispose(): Promise<void>;
}

export interface PolicyStoreSetting {
  /** Epoch milliseconds, for `since`. */
  readonly nowMs: number;
  /** Texts of the rules that are there for every agent. */
  readonly forEveryAgent: readonly string[];
}

export const by = (requestId: string) =>
  ({ by: { sessionId: '0192f0c1-2345-7abc-8def-0123456789ab', requestId } }) as const;

export const textsOf = (kept: readonly KeptRule[]): string[] => kept.map(({ rule }) => formatRule(rule));

const NOW_MS = Date.UTC(2026, 0, 1);

export function describePolicyStore(
  name: string,
  open: (setting: PolicyStoreSetting) => Promise<PolicyStoreUnderTest>,
): void {
  const using = async (
    forEveryAgent: readonly string[],
    body: (test: PolicyStoreUnderTest) => Promise<void>,
  ): Promise<void> => {
    const test = await open({ nowMs: NOW_MS, forEveryAgent });
    try {
      await body(test);
    } finally {
      await test.dispose();
    }
  };

  describe(`${name} keeps rules so that`, () => {
    it('an agent that nobody has ruled on has none', () =>
      using([], async ({ store }) => expect(await store.rules('nobody')).toEqual([])));

    it('a rule comes back as it was given, with when and why', () =>
      using([], async ({ store }) => {
        const rule = parseRule('allow shell_run(git commit -m \'it is; # "a: b"\' $)');
        await store.keep('reviewer', rule, by('r1'));
        expect(await store.rules('reviewer')).toEqual([
          { rule, since: '2026-01-01T00:00:00.000Z', ...by('r1'), isForEveryAgent: false },
        ]);
      }));

    it('rules stand in the order in which they were kept, behind those for every agent', () =>
      using(['deny shell_run(rm)'], async ({ store }) => {
        await store.keep('reviewer', parseRule('allow shell_run(npm test)'), by('r1'));
        await store.keep('reviewer', parseRule('deny write(config/**)'), by('r2'));
        const kept = await store.rules('reviewer');
        expect(textsOf(kept)).toEqual(['deny shell_run(rm)', 'allow shell_run(npm test)', 'deny write(config/**)']);
        expect(kept.map(({ isForEveryAgent }) => isForEveryAgent)).toEqual([true, false, false]);
        expect(textsOf(await store.rules('writer'))).toEqual(['deny shell_run(rm)']);
      }));

    it('a rule that is kept twice is kept once, as it was', () =>
      using([], async ({ store, beside }) => {
        await store.keep('reviewer', parseRule('allow docs__search'), by('r1'));
        await beside.keep('reviewer', parseRule('allow docs__search'), by('r2'));
        expect((await store.rules('reviewer')).map((kept) => kept.by?.requestId)).toEqual(['r1']);
      }));

    it('what one has kept or removed, the other sees', () =>
      using([], async ({ store, beside }) => {
        await store.keep('reviewer', parseRule('allow docs__search'), by('r1'));
        expect(textsOf(await beside.rules('reviewer'))).toEqual(['allow docs__search']);
        expect(await beside.remove('reviewer', 'allow docs__search')).toBe(true);
        expect(await store.rules('reviewer')).toEqual([]);
      }));

    it('rules that many keep at the same moment are all kept', () =>
      using([], async ({ store, beside }) => {
        const names = Array.from({ length: 20 }, (_, index) => `allow tool_${index}`);
        await Promise.all(
          names.map((text, index) =>
            (index % 2 === 0 ? store : beside).keep('reviewer', parseRule(text), by(`r${index}`)),
          ),
        );
        expect(textsOf(await store.rules('reviewer')).toSorted()).toEqual(names.toSorted());
      }));

    it('a rule is removed however it is written, and nothing else', () =>
      using(['allow shell_run(npm ci)'], async ({ store }) => {
        await store.keep('reviewer', parseRule('allow shell_run(npm test)'), by('r1'));
        await store.keep('reviewer', parseRule('allow shell_run(npm run build)'), by('r2'));
        await store.keep('writer', parseRule('allow shell_run(npm test)'), by('r3'));
        expect(await store.remove('reviewer', '  allow  shell_run( \'npm\'  "test" ) ')).toBe(true);
        expect(await store.remove('reviewer', 'allow shell_run(npm test)')).toBe(false);
        expect(await store.remove('reviewer', 'allow shell_run(npm ci)')).toBe(false);
        expect(textsOf(await store.rules('reviewer'))).toEqual([
          'allow shell_run(npm ci)',
          'allow shell_run(npm run build)',
        ]);
        expect(textsOf(await store.rules('writer'))).toEqual(['allow shell_run(npm ci)', 'allow shell_run(npm test)']);
      }));

    it('a rule that is none is refused, and so is an agent that can be none', () =>
      using([], async ({ store }) => {
        expect(
          await codeOf(
            store.keep('reviewer', { effect: 'allow', tool: 'shell_run', commandPrefix: ['sudo', 'x'] }, by('r1')),
          ),
        ).toBe('RULE_INVALID');
        expect(await codeOf(store.remove('reviewer', 'allow'))).toBe('RULE_INVALID');
        for (const agent of ['../reviewer', '', 'A', '.', 'a/b', 'a\0']) {
          expect(await codeOf(store.rules(agent))).toBe('AGENT_INVALID');
          expect(await codeOf(store.keep(agent, parseRule('allow docs__search'), by('r1')))).toBe('AGENT_INVALID');
          expect(await codeOf(store.remove(agent, 'allow docs__search'))).toBe('AGENT_INVALID');
        }
        expect(await store.rules('reviewer')).toEqual([]);
      }));
  });
}
