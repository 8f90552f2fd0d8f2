/** Commands put together at random and stopped at random moments: whatever happens, nothing of them is left. */
import { readdir } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixturePath, processesWith } from '../process-tree/system-processes.ts';
import { openShellWorkbench } from './shell-workbench.ts';

/** Things a command may do, each harmless to the next. */
const act = fc.constantFrom(
  'echo word',
  'sleep 1000 &',
  'setsid sleep 1000 >/dev/null 2>&1 &',
  "trap '' TERM",
  'sleep 0.02',
  '( setsid sh -c "sleep 1000 & exit" & )',
  'yes | head -c 300000',
  'exec 2>&-',
  'exec >/dev/null',
  `sh ${fixturePath('breed.sh')} 3 &`,
  'cat >/dev/null & ',
  'kill -STOP $$',
);

const stop = fc.oneof(
  fc.record({ kind: fc.constant('cancel' as const), afterMs: fc.nat(60) }),
  fc.record({ kind: fc.constant('timeout' as const), afterMs: fc.integer({ min: 1, max: 60 }) }),
);

describe('any command, stopped at any moment', () => {
  it('is gone with all its descendants when its result settles', async () => {
    await using bench = await openShellWorkbench({ killGraceMs: 30, lingerMs: 10, logsToDisk: true });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 5 }), stop, async (acts, { kind, afterMs }) => {
        const probe = `chaos-${process.pid}-${(count += 1)}`;
        const handle = await bench.start(acts.join('\n'), {
          env: { PROBE: probe },
          ...(kind === 'timeout' ? { timeoutMs: afterMs } : {}),
        });
        if (kind === 'cancel') {
          await new Promise((resolve) => setTimeout(resolve, afterMs));
          await handle.cancel('chaos');
        }
        const outcome = await handle.result.catch((error: unknown) => error);
        expect(outcome).toMatchObject(
          outcome instanceof Error
            ? { category: 'timeout', details: { timeoutReason: 'max_runtime' } }
            : { taskId: handle.taskId },
        );
        expect(processesWith(`PROBE=${probe}`)).toEqual([]);
        expect(await readdir(bench.records)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  }, 120_000);
});
