// @ts-check
/** Runs shell commands as background tasks: output and exit code, a log to read, a time limit that ends everything. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuntimeError } from 'wakechart';
import { createNodeRuntime } from 'wakechart/node';

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const runtime = await createNodeRuntime({ home });
const { tasks } = runtime;

try {
  // Every task is announced, from its first moment to its last.
  const announced = tasks.events$().subscribe((event) => {
    if ('task' in event && event.type !== 'background_task_updated')
      console.log(`${event.task.id} ${event.task.label}: ${event.task.status}`);
  });

  // An exit code is a result, not an error.
  const failing = await tasks.spawn({
    kind: 'process',
    label: 'count and fail',
    command: 'seq 3; echo oops >&2; exit 3',
    cwd: home,
  });
  const { output, exitCode } = await tasks.wait(failing.id);
  console.log('output', JSON.stringify(output), 'exit code', exitCode);

  // The log has every line with where it came from; it is also a file, at `logPath`.
  const { lines } = await tasks.readLog(failing.id);
  console.log(lines.join('\n'));

  // A time limit ends the command and whatever it has started, however hidden.
  const endless = await tasks.spawn({
    kind: 'process',
    label: 'never ends',
    command: 'setsid sleep 1000 & sleep 1000',
    cwd: home,
    timeoutMs: 300,
  });
  await tasks.wait(endless.id).catch((/** @type {unknown} */ error) => {
    if (!RuntimeError.is(error)) throw error;
    console.log(`${error.code}: ${error.message}`);
  });

  // Input can be sent while a task runs.
  const reader = await tasks.spawn({ kind: 'process', label: 'sort', command: 'sort', cwd: home });
  await tasks.send(reader.id, { stdin: 'pear\n', end: false });
  await tasks.send(reader.id, { stdin: 'apple\n' });
  console.log('sorted', JSON.stringify((await tasks.wait(reader.id)).output));

  announced.unsubscribe();
} finally {
  await runtime.shutdown();
  await rm(home, { recursive: true, force: true });
}
