import { join } from 'node:path';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import { FileAgentCatalog } from '../../src/adapters/agents/file-agent-catalog.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { PostgresEventStore } from '../../src/adapters/postgres/postgres-event-store.ts';
import { createProcessTree } from '../../src/adapters/process-tree/process-tree.ts';
import { createScriptAgentRuntime } from '../../src/adapters/script/script-agent-runtime.ts';
import { createManagedShellProcessRunner } from '../../src/adapters/shell/shell-runner.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntimeOptions } from '../../src/node.ts';
import { createRuntime } from '../../src/runtime.ts';
import type { Runtime } from '../../src/runtime.ts';
import type { Place } from './store-under-test.ts';

export async function openPlace(place: Place, options: NodeRuntimeOptions = {}): Promise<Runtime> {
  if (place.store === undefined) return createNodeRuntime({ ...place, ...options });
  const { home } = place;
  const ours = options.clock ?? createSystemClock();
  const store = await PostgresEventStore.open({ url: place.store.postgres, clock: ours, owner: `scratch:${process.pid}`, ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }) });
  const clock = store.clock;
  const layout = new HomeLayout(home);
  const processTree = createProcessTree({ clock, directory: join(home, 'processes') });
  const runtime = createRuntime({
    clock,
    store,
    directories: layout,
    agents: new FileAgentCatalog({ agentsDirectory: layout.agents }),
    runtimes: [createScriptAgentRuntime({ clock })],
    tasks: new BackgroundTaskManager({ runners: { process: createManagedShellProcessRunner({ processTree, clock, logDirectory: join(home, 'task-logs') }) }, clock }),
    processTree,
    owner: `scratch:${process.pid}`,
    ...(options.tools === undefined ? {} : { tools: options.tools }),
    ...(options.onListenerError === undefined ? {} : { onListenerError: options.onListenerError }),
  });
  if (options.reconcileOnStart !== false) await runtime.reconcile();
  return runtime;
}
