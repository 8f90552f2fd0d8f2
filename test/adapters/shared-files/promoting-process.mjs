/**
 * A process that promotes two files together, again and again, and kills itself before or after its n-th operation on a
 * disk.
 *
 *   argv: folder of the agent, before or after, the number of the operation (0: none), how many promotions
 */
import { writeSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** The files of dist/ that it runs. */
export const PROMOTING_LOADS = [
  'adapters/system/process-lock.js',
  'adapters/shared-files/memory-files.js',
  'actors/outcome/promotion-gate.js',
  'machines/session/session-state.js',
];

/** @typedef {(this: unknown, ...parameters: unknown[]) => Promise<unknown>} Operation */

/** @param {(path: string) => any} load what gives a file of dist/ */
export async function main(load) {
  const [directory = '', when = '', number = '0', count = '1'] = process.argv.slice(2);

  let done = 0;

  /** @param {Record<string, Operation>} owner @param {readonly string[]} names */
  function makeDeadly(owner, names) {
    for (const name of names) {
      const work = owner[name];
      if (work === undefined) throw new Error(`there is no ${name}`);
      owner[name] = async function (...parameters) {
        done += 1;
        const isLast = done === Number(number);
        if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL');
        const result = await work.apply(this, parameters);
        if (isLast) process.kill(process.pid, 'SIGKILL');
        return result;
      };
    }
  }

  const handle = await promises.open(process.execPath, 'r');
  makeDeadly(Object.getPrototypeOf(handle), ['writeFile', 'appendFile', 'sync', 'datasync']);
  await handle.close();
  makeDeadly(/** @type {Record<string, Operation>} */ (/** @type {unknown} */ (promises)), [
    'mkdir',
    'link',
    'rename',
    'unlink',
    'rmdir',
  ]);
  syncBuiltinESMExports();

  const { underLock } = load('adapters/system/process-lock.js');
  const { createMemoryFiles } = load('adapters/shared-files/memory-files.js');
  const { requirePromotion } = load('actors/outcome/promotion-gate.js');
  const { initialSessionState } = load('machines/session/session-state.js');

  const permit = requirePromotion({
    ...initialSessionState({ sessionId: '0192f0c1-2345-7abc-8def-0123456789ab', agentId: 'writer' }),
    outcome: { title: 'Done.', seq: 1, by: 'person' },
    evaluation: { verdict: 'pass', because: 'So it is.', throughSeq: 5, seq: 6 },
  });
  const { sharedFiles } = createMemoryFiles({ agentDirectory: () => directory, clock: Date, exclusively: underLock });
  for (let round = 0; round < Number(count);) {
    const { version } = await sharedFiles.head('writer');
    try {
      const changes = [
        { path: 'a.md', content: `${version + 1}` },
        { path: 'deep/b.md', content: `${version + 1}` },
        { path: `only-${version + 1}.md`, content: '' },
        { path: `only-${version}.md`, content: null },
      ];
      const result = await sharedFiles.promote(permit, {
        agentId: 'writer',
        expectedVersion: version,
        why: '',
        changes,
      });
      writeSync(1, `promoted ${result.version}\n`);
      round += 1;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'SHARED_FILES_CONFLICT')) throw error;
    }
  }
  writeSync(1, `operations ${done}\n`);
}
