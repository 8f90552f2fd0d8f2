/**
 * The backends of a runtime, by id, and the rule which one serves a provider. It fails closed: a missing backend is
 * never replaced by another.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { KNOWN_PROVIDERS } from '../../machines/run/provider-settings.ts';
import type { AgentRunConfig, AgentRuntime } from './agent-runtime.ts';

export class AgentRuntimeRegistry {
  readonly #runtimes = new Map<string, AgentRuntime>();

  constructor(runtimes: Iterable<AgentRuntime> = []) {
    for (const runtime of runtimes) this.register(runtime);
  }

  /** @throws RuntimeError AGENT_RUNTIME_EXISTS, AGENT_RUNTIME_INVALID */
  register(runtime: AgentRuntime): void {
    const { id, run } = (runtime ?? {}) as Partial<Readonly<Record<'id' | 'run', unknown>>>;
    if (typeof id !== 'string' || id === '' || typeof run !== 'function') {
      const came =
        runtime === null || typeof runtime !== 'object'
          ? String(runtime)
          : `one with the id ${JSON.stringify(id)} and ${typeof run === 'function' ? 'a' : 'no'} run function`;
      throw new RuntimeError('AGENT_RUNTIME_INVALID', `expected a backend with an id and a run function, got ${came}`, {
        category: 'validation',
        hint: 'createAgentRuntime makes one from a function; a class needs { id, run, abort, isRunActive }.',
      });
    }
    if (this.#runtimes.has(id)) {
      throw new RuntimeError('AGENT_RUNTIME_EXISTS', `a backend with the id "${id}" is registered already`, {
        category: 'conflict',
        hint: 'Unregister it first, or give this one another id.',
      });
    }
    this.#runtimes.set(id, runtime);
  }

  /** True when it was there. Runs that are active go on. */
  unregister(id: string): boolean {
    return this.#runtimes.delete(id);
  }

  get(id: string): AgentRuntime | undefined {
    return this.#runtimes.get(id);
  }

  list(): AgentRuntime[] {
    return [...this.#runtimes.values()];
  }

  /**
   * The backend for a provider: the one the configuration names, else the one of the provider's own name.
   * @throws RuntimeError AGENT_RUNTIME_NOT_FOUND
   */
  resolve(provider: string, config: AgentRunConfig = {}): AgentRuntime {
    const named = config.backend ?? this.#declared(provider, config);
    const runtime = this.#runtimes.get(named ?? provider);
    if (runtime !== undefined) return runtime;
    const wanted =
      named === undefined
        ? `a backend for the provider "${provider}"`
        : `the backend "${named}" that is configured for the provider "${provider}"`;
    throw new RuntimeError(
      'AGENT_RUNTIME_NOT_FOUND',
      `expected ${wanted}; registered: ${[...this.#runtimes.keys()].join(', ') || 'none'}`,
      {
        category: 'not_found',
        hint: 'Register the backend, or correct the provider of the agent.',
        details: { provider, backend: named, registered: [...this.#runtimes.keys()] },
      },
    );
  }

  /** A backend that is registered under the provider's own name goes before what is known of providers of that name. */
  #declared(provider: string, { providers = {} }: AgentRunConfig): string | undefined {
    if (Object.hasOwn(providers, provider)) return providers[provider]?.backend;
    return this.#runtimes.has(provider) || !Object.hasOwn(KNOWN_PROVIDERS, provider)
      ? undefined
      : KNOWN_PROVIDERS[provider]?.backend;
  }
}
