/**
 * Lays the facts of a session out as files before anything in its wake can read them, and once more when such a wake
 * has ended.
 */
import type { AgentFacts } from '../../machines/artifact/agent-artifacts.ts';
import type { Artifact } from '../../machines/artifact/artifact.ts';
import type { EnvironmentFacts } from '../../machines/artifact/isolation-artifacts.ts';
import type { LogTail } from '../../machines/artifact/log-tail.ts';
import { EMPTY_TAIL } from '../../machines/artifact/log-tail.ts';
import type { SessionFacts } from '../../machines/artifact/session-artifacts.ts';
import { sessionArtifacts } from '../../machines/artifact/session-artifacts.ts';
import type { ShownShell } from '../../machines/artifact/shell-artifacts.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import type { SessionSecrets } from '../environment/session-secrets.ts';
import { NO_SECRETS } from '../environment/session-secrets.ts';
import type { EventStore, SessionIdentity } from '../session/event-store.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { HookedWake } from '../turn/tool.ts';
import type { WakeHook } from '../wake/wake-hook.ts';
import type { ArtifactFiles } from './artifact-files.ts';
import { LogTails } from './log-tails.ts';

/** The port to the shells of a session, for those who only check. */
export interface ShellView {
  /** What is known of them now, the one opened first at the beginning. Cheap: asked before every model step. */
  describe(session: SessionIdentity): readonly ShownShell[] | Promise<readonly ShownShell[]>;
}

export interface ArtifactOptions {
  readonly files: ArtifactFiles;
  /** Without it only the log tells of commands. */
  readonly shells?: ShellView | undefined;
}

export interface ArtifactServices {
  readonly store: Pick<EventStore, 'read'>;
  readonly onListenerError: OnListenerError;
}

/** Sessions whose files are kept as they were laid out last, and those whose trouble was reported. */
const MAX_KNOWN_SESSIONS = 16;
const MAX_TROUBLED_SESSIONS = 1_000;

/** To be given to the runtime as one of its hookSources. */
export function createArtifactHookSource(
  options: ArtifactOptions,
): (services: ArtifactServices) => { readonly hook: WakeHook } {
  return (services) => ({ hook: new ArtifactHook(options, services) });
}

/** What can go wrong by itself. */
type Part = 'files' | 'log' | 'shells';

interface LaidOut {
  readonly head: number;
  readonly agent: HookedWake['agent'];
  readonly context: HookedWake['context'];
  readonly shells: string;
  readonly artifacts: readonly Artifact[];
}

class ArtifactHook implements WakeHook {
  readonly name = 'artifacts';
  readonly #options: ArtifactOptions;
  readonly #onListenerError: OnListenerError;
  readonly #tails: LogTails;
  /** The one used last at the end. */
  readonly #known = new Map<string, LaidOut>();
  /** Signals of wakes, which run, for which they were laid out. */
  readonly #asked = new WeakSet<AbortSignal>();
  /** Parts of sessions whose trouble was reported. */
  readonly #troubled = new Set<string>();

  constructor(options: ArtifactOptions, { store, onListenerError }: ArtifactServices) {
    this.#options = options;
    this.#onListenerError = onListenerError;
    this.#tails = new LogTails(store);
  }

  /**
   * A backend with tools of its own may read them at any time in its turn, and the checks of an outcome at the end of
   * the wake.
   */
  async beforeStep(wake: HookedWake): Promise<void> {
    if (wake.agent.runtime.runs === 'turn' || wake.state().outcome !== undefined) await this.#layOut(wake);
  }

  beforeCalls(wake: HookedWake): Promise<void> {
    return this.#layOut(wake);
  }

  async ended(wake: HookedWake): Promise<void> {
    if (this.#asked.has(wake.signal)) await this.#layOut(wake);
  }

  needsRight(wake: HookedWake): boolean {
    return this.#asked.has(wake.signal);
  }

  async #layOut(wake: HookedWake): Promise<void> {
    const { sessionId, workspace } = wake.state();
    this.#asked.add(wake.signal);
    try {
      const artifacts = await this.#artifacts(wake, sessionId);
      await this.#options.files.layOut(
        { workspaceDirectory: wake.agent.workspaceDirectory, ...(workspace === undefined ? {} : { sessionId }) },
        artifacts,
      );
      this.#works(sessionId, 'files');
    } catch (error) {
      this.#report(sessionId, 'files', error);
    }
  }

  /** Those of the last time, when nothing has changed since. */
  async #artifacts(wake: HookedWake, sessionId: string): Promise<readonly Artifact[]> {
    const { agent, context } = wake;
    const { head } = wake.state();
    const shells = await this.#shells(wake.state());
    const shown = JSON.stringify(shells ?? null);
    const known = this.#known.get(sessionId);
    if (
      known !== undefined &&
      known.head === head &&
      known.agent === agent &&
      known.context === context &&
      known.shells === shown
    )
      return known.artifacts;
    const tail = await this.#tails.upTo(sessionId, head).catch((error: unknown) => {
      this.#report(sessionId, 'log', error);
      return EMPTY_TAIL;
    });
    const { secrets = NO_SECRETS } = agent.environment ?? {};
    // What the log holds is clean already; what shells know of themselves may not be.
    const artifacts = sessionArtifacts(factsOf(wake, { tail, shells })).map((artifact) =>
      withoutSecrets(artifact, secrets),
    );
    this.#known.delete(sessionId);
    this.#known.set(sessionId, { head, agent, context, shells: shown, artifacts });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN_SESSIONS && oldest !== undefined) this.#known.delete(oldest);
    return artifacts;
  }

  async #shells({ sessionId, agentId }: SessionIdentity): Promise<readonly ShownShell[] | undefined> {
    try {
      const shells = await this.#options.shells?.describe({ sessionId, agentId });
      this.#works(sessionId, 'shells');
      return shells;
    } catch (error) {
      this.#report(sessionId, 'shells', error);
      return undefined;
    }
  }

  /** Once, until it works again: a workspace that is read-only stays so. */
  #report(sessionId: string, part: Part, error: unknown): void {
    const key = `${part} ${sessionId}`;
    if (this.#troubled.has(key)) return;
    if (this.#troubled.size >= MAX_TROUBLED_SESSIONS) this.#troubled.clear();
    this.#troubled.add(key);
    this.#onListenerError(error, 'listener');
  }

  #works(sessionId: string, part: Part): void {
    this.#troubled.delete(`${part} ${sessionId}`);
  }
}

/** The same where there is none in it. */
function withoutSecrets(artifact: Artifact, secrets: SessionSecrets): Artifact {
  const text = secrets.text(artifact.text);
  return text === artifact.text ? artifact : { ...artifact, text };
}

// What is known in a wake, as the plain facts that are laid out for its agent.

interface FactSources {
  readonly tail: LogTail;
  readonly shells?: readonly ShownShell[] | undefined;
}

const knownAgents = new WeakMap<HookedWake['agent'], AgentFacts>();

/** The same as long as the agent is. */
function agentFacts(agent: HookedWake['agent']): AgentFacts {
  const { definition, tools, skippedTools: skipped } = agent;
  const facts = knownAgents.get(agent) ?? {
    definition,
    tools: [...tools.values()].map((tool) => tool.definition),
    skipped,
  };
  knownAgents.set(agent, facts);
  return facts;
}

function factsOf({ agent, context, ...wake }: HookedWake, { tail, shells }: FactSources): SessionFacts {
  const { environment } = agent;
  return {
    state: wake.state(),
    agent: agentFacts(agent),
    tail,
    ...(environment === undefined ? {} : { environment: environmentFacts(environment) }),
    ...(context === undefined ? {} : { context }),
    ...(shells === undefined ? {} : { shells }),
  };
}

function environmentFacts({
  definition,
  fingerprint,
  within,
  sandbox,
  mounts,
  secrets,
}: SessionEnvironment): EnvironmentFacts {
  return { definition, fingerprint, within, sandbox: sandbox?.kind, mounts, secrets: secrets.names };
}
