/** The program of a worker: forked for one subagent job, it opens the home and runs the job in a session there. */
import { startSubagentWorker } from './adapters/child-process/worker-start.ts';
import type { OpenWorkerHouse } from './adapters/child-process/worker-service.ts';

startSubagentWorker(async () => {
  const [{ createWorkerService }, { createNodeRuntime }] = await Promise.all([import('./adapters/child-process/worker-service.ts'), import('./node.ts')]);
  const openHouse: OpenWorkerHouse = async ({ home, providers, humans }) => {
    // What crashed processes left is looked after by whoever started this one.
    const runtime = await createNodeRuntime({ home, humans, reconcileOnStart: false, runConfig: { providers } });
    return {
      runner: runtime.localSubagents,
      createAgent: (agent) => runtime.agents.create(agent),
      close: (reason) => runtime.shutdown(reason),
    };
  };
  return createWorkerService(openHouse);
});
