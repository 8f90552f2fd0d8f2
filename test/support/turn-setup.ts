/**
 * Runtimes for tests of agent turns: one store, one simulated clock, agents in real files, and models that are
 * functions. A second runtime over the same store stands for another process, or for the next one after a crash.
 */
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { PolicyStore } from '../../src/actors/permission/permission-ports.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../src/actors/run/agent-runtime.ts';
import type { EventStore } from '../../src/actors/session/event-store.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import { FileAgentCatalog } from '../../src/adapters/agents/file-agent-catalog.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import { MemoryPolicyStore } from '../../src/adapters/memory/memory-policy-store.ts';
import type { AgentFrontmatter } from '../../src/machines/agent/agent-definition.ts';
import type { RunPayload, RunUsage } from '../../src/machines/run/run-output.ts';
import type { SessionEvent, SessionEventData, SessionEventType } from '../../src/machines/session/session-event.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { createRuntime } from '../../src/runtime.ts';
import type { Runtime, RuntimePorts } from '../../src/runtime.ts';
import { createManualRunner } from './manual-runner.ts';
import { temporaryHome } from './temporary-home.ts';

/** What a model says in one step. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input?: unknown }[];
  readonly payloads?: readonly RunPayload[];
  readonly usage?: RunUsage;
  readonly error?: NonNullable<NonNullable<AgentRunResult['meta']>['error']>;
}

export type Model = (params: AgentRunParams) => Promise<Said> | Said;

export interface TurnSetup extends AsyncDisposable {
  readonly clock: SimulatedClock;
  readonly store: EventStore;
  readonly policy: PolicyStore;
  /** Of `open`, the newest. */
  runtime: Runtime;
  readonly reported: unknown[];
  readonly layout: HomeLayout;
  /** Every step that a model was asked for, with what it read. */
  readonly asked: { readonly agent: string; readonly read: string }[];
  /** Another runtime over the same store. The ones before live on. */
  open(ports?: Partial<RuntimePorts>): Runtime;
  /** An agent whose model says these things, one a step, and then nothing. */
  agent(agentId: string, model: Model | readonly Said[], frontmatter?: Partial<AgentFrontmatter>): Promise<void>;
  /** A session with a message in it. */
  start(agentId: string, text?: string): Promise<string>;
  state(sessionId: string): Promise<SessionState>;
  log(sessionId: string): Promise<readonly SessionEvent[]>;
  /** The data of each event of this type. */
  dataOf<Type extends SessionEventType>(sessionId: string, type: Type): Promise<SessionEventData<Type>[]>;
  /** The requests of a session that wait for somebody, oldest first. */
  requests(sessionId: string): Promise<readonly string[]>;
  confirm(
    sessionId: string,
    options?: {
      readonly requestId?: string;
      readonly toolName?: string;
      readonly allowed?: boolean;
      readonly scope?: 'once' | 'session' | 'always';
      readonly by?: Runtime;
    },
  ): Promise<unknown>;
  /** Results of the calls of a session, in the order in which they came. */
  results(sessionId: string): Promise<{ readonly outcome: string; readonly output: unknown }[]>;
  /** Sessions that are due now. */
  due(): Promise<readonly string[]>;
  /** Wakes whatever is due, again and again, until nothing is: a worker in slow motion. */
  settle(by?: Runtime): Promise<void>;
  /** The children of a session, by its log. */
  children(sessionId: string): Promise<readonly string[]>;
}

export interface TurnSetupOptions extends Partial<Omit<RuntimePorts, 'store'>> {
  readonly store?: EventStore;
}

/** More wakes than any test needs: whoever loops for ever fails. */
const MAX_SETTLING = 500;

export async function openTurnSetup({
  store = new MemoryEventStore(),
  ...defaults
}: TurnSetupOptions = {}): Promise<TurnSetup> {
  const home = await temporaryHome();
  const clock = createSimulatedClock();
  const layout = new HomeLayout(home.path);
  const agents = new FileAgentCatalog({ agentsDirectory: layout.agents });
  const policy = defaults.policy ?? new MemoryPolicyStore({ clock });
  const reported: unknown[] = [];
  const onListenerError = (error: unknown): void => void reported.push(error);
  const models = new Map<string, Model>();
  const asked: { agent: string; read: string }[] = [];
  const runtimes: Runtime[] = [];

  const open = (ports: Partial<RuntimePorts> = {}): Runtime => {
    const tasks = new BackgroundTaskManager({
      runners: { process: createManualRunner('process') },
      clock,
      onListenerError,
    });
    const common = {
      clock,
      store,
      directories: layout,
      agents,
      policy,
      tasks,
      onListenerError,
      runtimes: [modelRuntime(models, asked)],
      owner: `process_${runtimes.length + 1}`,
    };
    const runtime = createRuntime({ runLimits: { maxBackOffs: 0 }, ...common, ...defaults, ...ports });
    runtimes.push(runtime);
    return runtime;
  };
  const log = async (sessionId: string): Promise<readonly SessionEvent[]> => {
    const events: SessionEvent[] = [];
    for (let from = 1; ; from = events.length + 1) {
      const page = await store.read(sessionId, { from });
      events.push(...page);
      if (page.length === 0) return events;
    }
  };

  const setup: TurnSetup = {
    clock,
    store,
    policy,
    runtime: open(),
    reported,
    layout,
    asked,
    log,
    open: (ports) => (setup.runtime = open(ports)),
    async agent(agentId, model, frontmatter = {}) {
      const known = models.has(agentId);
      models.set(agentId, typeof model === 'function' ? model : inTurn(model));
      if (!known)
        await agents.create({
          agentId,
          source: {
            frontmatter: { name: agentId, provider: 'model', model: agentId, ...frontmatter },
            instructions: 'Work.',
          },
        });
    },
    async start(agentId, text = 'Go') {
      const { sessionId } = await setup.runtime.sessions.create({ agentId });
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text });
      return sessionId;
    },
    state: (sessionId) => setup.runtime.sessions.get(sessionId),
    async dataOf(sessionId, type) {
      return (await log(sessionId)).flatMap((event) => (event.type === type ? [event.data as never] : []));
    },
    requests: async (sessionId) => (await setup.state(sessionId)).pendingActions.map(({ requestId }) => requestId),
    async confirm(sessionId, { requestId, toolName = 'launch', allowed = true, scope, by = setup.runtime } = {}) {
      const id = requestId ?? (await setup.requests(sessionId))[0] ?? 'none';
      return by.sessions.send(sessionId, {
        type: 'user.tool_confirmation',
        requestId: id,
        toolName,
        allowed,
        ...(scope === undefined ? {} : { scope }),
      });
    },
    results: async (sessionId) =>
      (await setup.dataOf(sessionId, 'agent.tool_result')).map(({ outcome, output }) => ({ outcome, output })),
    due: async () => [
      ...new Set(
        (await store.activations.due({ nowMs: clock.now(), limit: 100 })).due.map(({ sessionId }) => sessionId),
      ),
    ],
    async settle(by = setup.runtime) {
      for (let count = 0; ; count += 1) {
        const [sessionId] = await setup.due();
        if (sessionId === undefined) return;
        if (count === MAX_SETTLING) throw new Error(`${sessionId} is due again and again`);
        const outcome = await by.wake(sessionId, { isAutonomous: true }).catch((error: unknown) => error);
        if (!isOver(outcome)) continue;
        const { due } = await store.activations.due({ nowMs: clock.now(), limit: 100 });
        await store.activations.remove(due.flatMap((each) => (each.sessionId === sessionId ? each.activations : [])));
      }
    },
    children: async (sessionId) =>
      (await setup.dataOf(sessionId, 'agent.subflow_started')).map(({ childSessionId }) => childSessionId),
    async [Symbol.asyncDispose]() {
      for (const runtime of runtimes) await runtime.shutdown();
      await home.remove();
    },
  };
  return setup;
}

/** Whether the hint that it was due is out of date. */
function isOver(outcome: unknown): boolean {
  return (
    outcome instanceof Error ||
    (typeof outcome === 'object' && outcome !== null && 'outcome' in outcome && outcome.outcome === 'nothing_to_do')
  );
}

function inTurn(steps: readonly Said[]): Model {
  return ({ modelStepsTaken }) => steps[modelStepsTaken] ?? { text: 'Nothing more.' };
}

/** A backend whose models are functions, by the name of their agent. */
function modelRuntime(models: ReadonlyMap<string, Model>, asked: { agent: string; read: string }[]): AgentRuntime {
  return {
    id: 'model',
    async run(params) {
      asked.push({ agent: params.model, read: JSON.stringify(params.messages) });
      const { text, calls = [], payloads = [], usage, error } = (await models.get(params.model)?.(params)) ?? {};
      const said: RunPayload[] = [
        ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
        ...calls.map(({ name, input = {} }, index) => ({
          type: 'tool_call' as const,
          callId: `c${index}`,
          name,
          input,
        })),
        ...payloads,
      ];
      return {
        payloads: said,
        ...(usage === undefined ? {} : { usage }),
        meta: error === undefined ? { modelSteps: 1 } : { error, modelSteps: 0 },
      };
    },
    abort: async () => undefined,
    isRunActive: () => false,
  };
}
