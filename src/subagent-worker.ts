/** The program of a worker: forked for one subagent job, it opens the home and runs the job in a session there. */
import { startSubagentWorker } from './adapters/child-process/worker-start.ts';

startSubagentWorker(async () => {
  // First: what comes next makes schemas.
  (await import('./adapters/child-process/worker-schemas.ts')).interpretSchemas();
  return (await import('./node/worker.ts')).openWorker;
});
