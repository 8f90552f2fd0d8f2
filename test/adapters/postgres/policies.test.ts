/** The rules that people keep by an answer hold on all machines, and what is taken back on one is taken back on all. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryPolicyStore } from '../../../src/adapters/memory/memory-policy-store.ts';
import { createPostgresPolicyStore } from '../../../src/adapters/postgres/policy-store.ts';
import type { PostgresDatabase } from '../../../src/adapters/postgres/postgres-database.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { by, describePolicyStore, textsOf } from '../../contracts/policy-store.contract.ts';
import type { PolicyStoreSetting, PolicyStoreUnderTest } from '../../contracts/policy-store.contract.ts';
import { ask } from '../../support/postgres-databases.ts';
import { losingAnswers, openSharedTables } from '../../support/shared-tables.ts';
import type { SharedTables } from '../../support/shared-tables.ts';

let tables: SharedTables;
beforeAll(async () => void (tables = await openSharedTables()));
afterAll(() => tables.drop());

async function opened(
  { nowMs, forEveryAgent }: PolicyStoreSetting,
  wrap: (database: PostgresDatabase) => PostgresDatabase = (database) => database,
): Promise<PolicyStoreUnderTest> {
  await tables.clear();
  const clock = { now: () => nowMs };
  const written = new MemoryPolicyStore({ clock, forEveryAgent: forEveryAgent.map((text) => parseRule(text)) });
  const open = (database: PostgresDatabase) => createPostgresPolicyStore({ database: wrap(database), clock, written });
  return { store: open(tables.one), beside: open(tables.other), dispose: async () => undefined };
}

describePolicyStore('a database', opened);
describePolicyStore('a database whose answers are lost', (setting) => opened(setting, losingAnswers));

describe('rules in a database', () => {
  const nothingWritten: PolicyStoreSetting = { nowMs: 0, forEveryAgent: [] };

  it('stand behind what people have written on this machine, and are removed there too', async () => {
    await tables.clear();
    const clock = { now: () => 0 };
    const written = new MemoryPolicyStore({ clock });
    await written.keep('reviewer', parseRule('deny shell_run(rm)'), by('r0'));
    const [here, there] = [
      createPostgresPolicyStore({ database: tables.one, clock, written }),
      createPostgresPolicyStore({ database: tables.other, clock }),
    ];
    await there.keep('reviewer', parseRule('allow docs__search'), by('r1'));
    expect(textsOf(await here.rules('reviewer'))).toEqual(['deny shell_run(rm)', 'allow docs__search']);
    expect(textsOf(await there.rules('reviewer'))).toEqual(['allow docs__search']);
    expect(await here.remove('reviewer', 'deny shell_run(rm)')).toBe(true);
    expect(await here.remove('reviewer', 'allow docs__search')).toBe(true);
    expect([await here.rules('reviewer'), await there.rules('reviewer')]).toEqual([[], []]);
  });

  it('for every agent are only written by people', async () => {
    const { store } = await opened(nothingWritten);
    expect(await codeOf(store.keep('all', parseRule('allow docs__search'), by('r1')))).toBe('POLICY_RESERVED');
    expect(await codeOf(store.remove('all', 'allow docs__search'))).toBe('POLICY_RESERVED');
  });

  it.each([
    ['half of it', '[{"rule":"al'],
    [
      'no rule',
      '[{"rule":"allow everything (","since":"2026-01-01T00:00:00.000Z","by":{"sessionId":"s","requestId":"r"}}]',
    ],
    [
      'what a newer version keeps',
      '[{"rule":"allow docs__search","since":"2026-01-01T00:00:00.000Z","by":{"sessionId":"s","requestId":"r"},"until":"2026-02-01T00:00:00.000Z"}]',
    ],
  ])('that hold %s allow nothing, and nothing is added to them', async (_, body) => {
    const { store, beside } = await opened(nothingWritten);
    await store.keep('reviewer', parseRule('allow docs__search'), by('r1'));
    await ask(tables.url, 'UPDATE wakechart.policy SET body = $1', [body]);
    expect(await codeOf(beside.rules('reviewer'))).toBe('POLICY_INVALID');
    expect(await beside.rules('writer')).toEqual([]);
  });
});
