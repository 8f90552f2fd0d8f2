/** The program of a worker: forked for one subagent job, it opens the home and runs the job in a session there. */
import { pathToFileURL } from 'node:url';
import { startSubagentWorker } from './adapters/child-process/worker-start.ts';
import type { OpenWorkerHouse } from './adapters/child-process/worker-service.ts';

startSubagentWorker(async () => {
  const [{ createWorkerService }, { createNodeRuntime }] = await Promise.all([import('./adapters/child-process/worker-service.ts'), import('./node.ts')]);
  const openHouse: OpenWorkerHouse = async ({ home, providers, humans, setup }) => {
    // What crashed processes left is looked after by whoever started this one.
    const runtime = await createNodeRuntime({ ...(await optionsFrom(setup)), home, humans, reconcileOnStart: false, runConfig: { providers } });
    return {
      runner: runtime.localSubagents,
      createAgent: (agent) => runtime.agents.create(agent),
      close: (reason) => runtime.shutdown(reason),
    };
  };
  return createWorkerService(openHouse);
});

/** What the user's module adds. @throws Error when it exports no `runtimeOptions` */
async function optionsFrom(setup: string | undefined): Promise<object> {
  if (setup === undefined) return {};
  const { runtimeOptions } = (await import(pathToFileURL(setup).href)) as { readonly runtimeOptions?: unknown };
  const options: unknown = typeof runtimeOptions === 'function' ? await runtimeOptions() : runtimeOptions;
  if (typeof options === 'object' && options !== null) return options;
  throw new Error(`expected ${setup} to export runtimeOptions, an object or a function that gives one`);
}
