/** The programs of examples/, run as a reader would. */
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { migratedDatabase } from '../support/postgres-server.ts';
import { checkout } from './pages.ts';
import { PATIENCE_MS, readersFolder, removeFolders, runProgram } from './running-pages.ts';

afterAll(removeFolders);

describe.concurrent('an example', { timeout: PATIENCE_MS }, () => {
  it.each([
    [
      'run-a-command.mjs',
      [
        /^output "1\\n2\\n3\\noops\\n" exit code 3$/m,
        /^\[stderr\] oops$/m,
        /^TASK_TIMED_OUT: /m,
        /^sorted "apple\\npear\\n"$/m,
      ],
    ],
    [
      'own-runner.mjs',
      [/^task_1 asks for say, and is waiting_permission$/m, /^"please delete nothing"$/m, /^timeout: .*\(idle\)$/m],
    ],
    [
      'check-a-chart.mjs',
      [
        /^to sold: 2 steps$/m,
        /^ {3}3\. 10 min pass +chart "free", real thing "held"$/m,
        /^1003 runs, and the two agree$/m,
      ],
    ],
    ['schedule.mjs', [/^fire 3: "ticker @ .*" wrote tick$/m, /^the schedule is cancelled$/m]],
    [
      'worker.mjs',
      [
        /^asked: may shell_run run .*notes\.txt.*\?$/m,
        /^lead says: My helper is done\.$/m,
        /^the worker ended because it was stopped$/m,
      ],
    ],
    [
      'permission.mjs',
      [
        /^Waits for an answer: permission to run write$/m,
        /for the session: write\(notes\/one\.txt\)$/m,
        /^Done\.$/m,
        /^the agent counter worked for it$/m,
      ],
    ],
    [
      'fallback.mjs',
      [
        /^ {2}failed: overloaded, so fall_back\. .*$/m,
        /^agent: Here I am instead\.$/m,
        /^ {2}passed over: busy\/large cools down for a while \(overloaded: .+\)$/m,
        /^[\da-f-]{36} +helper +idle$/m,
      ],
    ],
    [
      'model-server.mjs',
      [
        /^the server is asked for parrot-7b at \/v1\/chat\/completions$/m,
        /^it came in pieces$/m,
        /^agent: You said: hello over there$/m,
        /^it took 12 tokens to read and 6 to say$/m,
      ],
    ],
    [
      'subagents.mjs',
      [
        /^writer: The guide is written and committed\.$/m,
        /^dreamer: .*somebody changed their mind$/m,
        /^writer is completed, its worktree is preserved\. Merge what was committed: git -C …\/shop merge wakechart\/agent_1-\S+$/m,
        /^checker is completed, its worktree is removed\.$/m,
        /^dreamer is cancelled, its worktree is preserved\. Commit what is there/m,
        /^merged: A guide$/m,
      ],
    ],
    [
      'agents-in-code/program.mjs',
      [
        /^there is tea$/m,
        /^the tool ran in another process$/m,
        /^clerk ran under 1\.0\.0, 12 digits of its definition's hash$/m,
      ],
    ],
    [
      'session.mjs',
      [/^stored as event 2, disk$/m, /^9 agent\.tool_use$/m, /^sleep: Made notes\.txt\.$/m, /queued: check again$/m],
    ],
  ])('%s runs as it stands and leaves nothing behind', async (name, expected) => {
    const cwd = await readersFolder();
    const { code, output, complaints } = await runProgram(process.execPath, [join(checkout, 'examples', name)], cwd);
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    for (const pattern of expected) expect(output).toMatch(pattern);
  });

  it('postgres.mjs runs as it stands on a database with its tables', async () => {
    const { url, drop } = await migratedDatabase();
    const ended = await runProgram(
      process.execPath,
      [join(checkout, 'examples/postgres.mjs'), url],
      await readersFolder(),
    );
    await drop();
    expect(ended).toEqual({ code: 0, complaints: '', output: 'stored as event 2\nthe desk hears: It is counted.\n' });
  });
});
