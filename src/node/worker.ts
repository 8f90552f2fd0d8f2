/** What a worker loads once it has said that it is there: a runtime over the home, and what serves the job in it. */
import { pathToFileURL } from 'node:url';
import { createWorkerService } from '../adapters/child-process/worker-service.ts';
import type { OpenWorkerRuntime } from '../adapters/child-process/worker-service.ts';
import { createNodeRuntime } from './node-runtime.ts';

const openRuntime: OpenWorkerRuntime = async ({ home, store, providers, humans, environment, setup }) => {
  // The process that started this one takes care of what crashed processes left.
  const runtime = await createNodeRuntime({
    ...(await optionsFrom(setup)),
    home,
    ...(store === undefined ? {} : { store }),
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

/** What the user's module adds. @throws Error when it exports no `runtimeOptions` */
async function optionsFrom(setup: string | undefined): Promise<object> {
  if (setup === undefined) return {};
  const { runtimeOptions } = (await import(pathToFileURL(setup).href)) as { readonly runtimeOptions?: unknown };
  const options: unknown =
    typeof runtimeOptions === 'function' ? await (runtimeOptions as () => unknown)() : runtimeOptions;
  if (typeof options === 'object' && options !== null) return options;
  throw new Error(`expected ${setup} to export runtimeOptions, an object or a function that gives one`);
}
