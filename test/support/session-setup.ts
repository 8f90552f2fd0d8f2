/**
 * A whole runtime for tests of wakes: the script backend with real script files, and whatever store, clock and tasks
 * the test wants.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { EnvironmentCatalog } from '../../src/actors/environment/environment-catalog.ts';
import { environmentNames } from '../../src/actors/environment/environment-names.ts';
import { lackedHere } from '../../src/actors/workspace-copy/lacked-here.ts';
import { RuntimeError } from '../../src/machines/errors.ts';
import type { AgentRuntime } from '../../src/actors/run/agent-runtime.ts';
import type { EventStore } from '../../src/actors/session/event-store.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import type { Tool } from '../../src/actors/turn/tool.ts';
import { FileAgentCatalog } from '../../src/adapters/agents/file-agent-catalog.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import { createScriptAgentRuntime } from '../../src/adapters/script/script-agent-runtime.ts';
import type { AgentFrontmatter } from '../../src/machines/agent/agent-definition.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { createRuntime } from '../../src/runtime.ts';
import type { Runtime, RuntimePorts } from '../../src/runtime.ts';
import { createManualRunner } from './manual-runner.ts';
import type { ManualRunner } from './manual-runner.ts';
import { temporaryHome } from './temporary-home.ts';

export interface SessionSetup extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly clock: SimulatedClock;
  readonly home: string;
  readonly store: EventStore;
  /** The process tasks that were started. */
  readonly processes: ManualRunner<'process'>;
  /** What listeners threw. */
  readonly reported: unknown[];
  /** A session whose agent plays these steps; with a message in it when one is given. */
  session(
    steps: readonly object[],
    options?: { readonly message?: string; readonly agent?: Partial<AgentFrontmatter>; readonly script?: object },
  ): Promise<string>;
  write(steps: readonly object[], script?: object): Promise<void>;
  log(sessionId: string): Promise<readonly SessionEvent[]>;
  /** `type` of every event, in order. */
  types(sessionId: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface SessionSetupOptions {
  readonly store?: (setup: { readonly home: string; readonly clock: SimulatedClock }) => EventStore;
  readonly runtimes?: readonly AgentRuntime[];
  readonly tools?: readonly Tool[];
  readonly hookSources?: RuntimePorts['hookSources'];
  /** Sessions whose agent or environment is not in the home are left to other processes. Default: their wakes fail. */
  readonly leavesToOthers?: boolean;
  /** What sessions are told of where they work, for those that do nothing there. */
  readonly workspace?: string;
}

export const AGENT = 'player';

/** A call of the tool that runs a command, as a script writes it. */
export const shellRun = (command = 'true'): object => ({ name: 'shell_run', input: { command } });
const SCRIPT = 'play.json';

const catalog: Pick<EnvironmentCatalog, 'get'> = {
  get: async (id) => {
    throw new RuntimeError('ENVIRONMENT_NOT_FOUND', `there is no environment ${id}`, { category: 'not_found' });
  },
};
const WITHOUT_ENVIRONMENTS = { catalog, environments: environmentNames({ catalog }) };

export async function openSetup(options: SessionSetupOptions = {}): Promise<SessionSetup> {
  const home = await temporaryHome();
  const clock = createSimulatedClock();
  const store = options.store?.({ home: home.path, clock }) ?? new MemoryEventStore();
  const processes = createManualRunner('process');
  const reported: unknown[] = [];
  const onListenerError = (error: unknown): void => void reported.push(error);
  const layout = new HomeLayout(home.path);
  const agents = new FileAgentCatalog({ agentsDirectory: layout.agents });
  const runtime = createRuntime({
    // Nobody moves the clock on while a step waits.
    runLimits: { maxBackOffs: 0 },
    clock,
    store,
    directories:
      options.workspace === undefined
        ? layout
        : {
            agentDirectory: (agentId) => layout.agentDirectory(agentId),
            workspaceDirectory: async () => options.workspace ?? '',
          },
    agents,
    ...(options.leavesToOthers === true ? { lackedHere: lackedHere({ agents, ...WITHOUT_ENVIRONMENTS }) } : {}),
    runtimes: [createScriptAgentRuntime({ clock }), ...(options.runtimes ?? [])],
    tasks: new BackgroundTaskManager({ runners: { process: processes }, clock, onListenerError }),
    tools: options.tools,
    hookSources: options.hookSources,
    owner: 'setup',
    onListenerError,
  });

  const write = async (steps: readonly object[], script: object = {}): Promise<void> => {
    await mkdir(layout.agentDirectory(AGENT), { recursive: true });
    await writeFile(
      join(layout.agentDirectory(AGENT), SCRIPT),
      JSON.stringify({ format: 'wakechart-script/1', steps, ...script }),
    );
  };
  const log = async (sessionId: string): Promise<readonly SessionEvent[]> => {
    const events: SessionEvent[] = [];
    for await (const event of runtime.sessions.events(sessionId)) events.push(event);
    return events;
  };
  const close = async (): Promise<void> => {
    await runtime.shutdown();
    await home.remove();
  };

  return {
    runtime,
    clock,
    home: home.path,
    store,
    processes,
    reported,
    async session(steps, { message, agent = {}, script } = {}) {
      await write(steps, script);
      await runtime.agents.create({
        agentId: AGENT,
        source: { frontmatter: { name: 'Player', provider: 'script', model: SCRIPT, ...agent }, instructions: 'Play.' },
      });
      const { sessionId } = await runtime.sessions.create({ agentId: AGENT });
      if (message !== undefined) await runtime.sessions.send(sessionId, { type: 'user.message', text: message });
      return sessionId;
    },
    write,
    log,
    types: async (sessionId) => (await log(sessionId)).map(({ type }) => type),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Lets everything that is ready to run do so, until `isTrue`. Fails through the test's own time limit. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
}
