/** Environments for tests, and any environment at all. */
import fc from 'fast-check';
import { environmentFile } from '../../../src/machines/environment/environment-definition.ts';
import type {
  EnvironmentDefinition,
  EnvironmentFile,
} from '../../../src/machines/environment/environment-definition.ts';

export function environment(environmentId: string, file: Partial<EnvironmentFile> = {}): EnvironmentDefinition {
  return { ...environmentFile.parse({ sandbox: 'required', ...file }), environmentId };
}

const bound = fc.integer({ min: 1, max: 5 });
const optional = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });
const given = (entries: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
const some = (...names: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...names]);

const mounts = fc.subarray(['/data', '/cache', '/models']).chain((paths) =>
  fc.tuple(
    ...paths.map((path) =>
      fc.record({
        path: fc.constant(path),
        source: fc.constantFrom('/srv/one', '/srv/two'),
        access: fc.constantFrom('ro' as const, 'rw' as const),
      }),
    ),
  ),
);

const files = fc
  .record({
    isolation: fc.constantFrom(
      { sandbox: 'off' },
      { sandbox: 'required', network: 'open' },
      { sandbox: 'required', network: 'disabled' },
    ),
    mounts,
    vaults: some('github', 'npm'),
    permission: fc.record({
      mode: fc.constantFrom('preapproved', 'ask', 'deny'),
      ask: some('write', 'read'),
      deny: some('shell_run(rm)', 'shell_run(git push)'),
    }),
    budget: fc.record({ maxTokensPerWake: optional(bound), maxCostPerSession: optional(bound) }).map(given),
    variables: fc.record({
      pass: some('CI', 'LANG_X'),
      set: fc.record({ NODE_ENV: optional(fc.constantFrom('test', 'dev')), A: optional(fc.constant('1')) }).map(given),
    }),
    quota: fc.record({ maxBytes: optional(bound), maxFiles: optional(bound) }).map(given),
    evaluation: fc
      .record({
        check: optional(
          fc.record({ command: fc.constantFrom('true', "echo 'it''s'", 'npm test'), timeoutSeconds: bound }),
        ),
        judge: optional(fc.constantFrom({ provider: 'a', model: 'm' }, { provider: 'b', model: 'n' })),
      })
      .map(given),
  })
  .map(({ isolation, ...rest }) => ({ ...isolation, ...rest }));

export const anyEnvironment: fc.Arbitrary<EnvironmentDefinition> = fc
  .tuple(fc.constantFrom('one', 'two', 'three'), files)
  .map(([environmentId, file]) => ({ ...environmentFile.parse(file), environmentId }));
