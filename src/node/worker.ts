/** What a worker loads once it has said that it is there: a runtime over the home, and what serves the job in it. */
import { createWorkerService } from '../adapters/child-process/worker-service.ts';
import type { OpenWorkerRuntime } from '../adapters/child-process/worker-service.ts';
import { createNodeRuntime } from './node-runtime.ts';

const openRuntime: OpenWorkerRuntime = async ({ home, store, providers, humans, environment, config }) => {
  // The process that started this one takes care of what crashed processes left.
  const runtime = await createNodeRuntime({
    ...(config === undefined ? {} : { config }),
    home,
    // What its parent works on counts, whatever the config says.
    store: store ?? 'files',
    humans,
    ...(environment === undefined ? {} : { environment }),
    reconcileOnStart: false,
    runConfig: { providers },
  });
  return {
    runner: runtime.localSubagents,
    createAgent: (agent) => runtime.agents.create(agent),
    close: (reason) => runtime.shutdown(reason),
  };
};

export const openWorker = createWorkerService(openRuntime);
