/** What a home runs agents with: the backends, the providers that are set up for it, and the accounts that pay. */
import { join } from 'node:path';
import type { Clock } from '../actors/clock/clock.ts';
import { AgentRuntimeRegistry } from '../actors/run/agent-runtime-registry.ts';
import type { AgentRuntime } from '../actors/run/agent-runtime.ts';
import type { CandidateHealthStore } from '../actors/run/candidate-health-store.ts';
import type { AuthProfiles } from '../actors/run/auth-profiles.ts';
import { lazyAgentRuntime } from '../actors/run/lazy-agent-runtime.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import type { ProcessTree } from '../actors/task/process-tree.ts';
import { createFileAuthProfiles } from '../adapters/auth-files/file-auth-profiles.ts';
import { createFileCandidateHealthStore } from '../adapters/auth-files/file-candidate-health-store.ts';
import { createKeychainCommand } from '../adapters/auth-files/keychain-command.ts';
import { readProviderFile } from '../adapters/provider-files/provider-file.ts';
import { underLock } from '../adapters/system/process-lock.ts';
import { createScriptAgentRuntime } from '../adapters/script/script-agent-runtime.ts';
import { providerAsks } from '../machines/run/asks-permission.ts';
import type { ProviderTable } from '../machines/run/provider-settings.ts';
import type { RuntimePorts } from '../runtime.ts';

/** Folder of a home that holds accounts, and the file that says which providers there are. */
const AUTH_FOLDER = 'auth';
const PROVIDERS_FILE = 'providers.yaml';

export interface BackendsOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly processTree: ProcessTree;
  readonly onListenerError: OnListenerError | undefined;
  readonly runConfig: RuntimePorts['runConfig'];
  /** Besides those that come with Wakechart. */
  readonly backends: readonly AgentRuntime[];
  /** What is known of candidates that have failed. Undefined: that lies in the home. */
  readonly candidateHealth?: CandidateHealthStore | undefined;
}

/** @throws RuntimeError PROVIDERS_INVALID, AGENT_RUNTIME_INVALID, AGENT_RUNTIME_EXISTS */
export async function nodeBackends({
  home,
  clock,
  processTree,
  onListenerError,
  runConfig,
  backends,
  candidateHealth,
}: BackendsOptions): Promise<Pick<RuntimePorts, 'runtimes' | 'runConfig' | 'profiles' | 'candidateHealth'>> {
  const directory = join(home, AUTH_FOLDER);
  // Checks them before anything asks for their ids.
  const given = new AgentRuntimeRegistry(backends);
  return {
    // A backend that the program gives replaces ours of the same id.
    runtimes: [
      ...ownBackends({ clock, processTree, onListenerError }).filter(({ id }) => given.get(id) === undefined),
      ...backends,
    ],
    runConfig: { ...runConfig, providers: await providersOfHome(home, runConfig?.providers) },
    profiles: profilesOfHome({ home, clock }),
    candidateHealth: candidateHealth ?? createFileCandidateHealthStore({ directory, clock, exclusively: underLock }),
  };
}

/** Those of a home, and those of the program, which go before them. @throws RuntimeError PROVIDERS_INVALID */
export async function providersOfHome(home: string, own: ProviderTable | undefined): Promise<ProviderTable> {
  return { ...(await readProviderFile(join(home, PROVIDERS_FILE))), ...own };
}

/** The accounts of a home. */
export function profilesOfHome({ home, clock }: Pick<BackendsOptions, 'home' | 'clock'>): AuthProfiles {
  return createFileAuthProfiles({
    directory: join(home, AUTH_FOLDER),
    clock,
    exclusively: underLock,
    environment: process.env,
    runCommand: createKeychainCommand({ clock, environment: process.env }),
  });
}

function ownBackends({
  clock,
  processTree,
  onListenerError,
}: Pick<BackendsOptions, 'clock' | 'processTree' | 'onListenerError'>): readonly AgentRuntime[] {
  return [
    createScriptAgentRuntime({ clock, onListenerError }),
    lazyAgentRuntime({
      id: 'embedded',
      runs: 'step',
      takesMessages: false,
      load: async () =>
        (await import('../adapters/embedded/embedded-agent-runtime.ts')).createEmbeddedAgentRuntime({
          clock,
          onListenerError,
        }),
    }),
    lazyAgentRuntime({
      id: 'cli-agent',
      runs: 'turn',
      messageIntake: 'running',
      asksPermission: (provider, { providers }) => providerAsks(provider, providers),
      takesMessages: true,
      load: async () =>
        (await import('../adapters/cli-agent/cli-agent-runtime.ts')).createCliAgentRuntime({ clock, processTree }),
    }),
    lazyAgentRuntime({
      id: 'acp',
      runs: 'turn',
      messageIntake: 'next_turn',
      asksPermission: (provider, { providers }) => providerAsks(provider, providers),
      takesMessages: false,
      load: async () =>
        (await import('../adapters/acp/acp-agent-runtime.ts')).createAcpAgentRuntime({
          clock,
          processTree,
          onListenerError,
        }),
    }),
  ];
}
