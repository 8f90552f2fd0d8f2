/** A backend and a server that speaks all three protocols, for one test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { createEmbeddedAgentRuntime } from '../../../src/adapters/embedded/embedded-agent-runtime.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import { ModelServer } from '../../support/http-models/model-server.ts';
import type { Behavior } from '../../support/http-models/model-server.ts';
import type { EmbeddedApi } from '../../support/http-models/protocol.ts';

export const APIS = ['anthropic', 'openai', 'openai-chat'] as const satisfies readonly EmbeddedApi[];

export const KEY = 'sk-test-0123456789abcdef';

export interface SetupRun {
  readonly events: readonly AgentRunEvent[];
  readonly result: Promise<AgentRunResult>;
  /** Resolves when so many characters of text were told. */
  told(characters: number): Promise<void>;
  readonly text: string;
  readonly reasoning: string;
}

export interface RunOptions extends Partial<Omit<AgentRunParams, 'messages' | 'prompt'>> {
  readonly messages?: AgentRunParams['messages'];
  readonly settings?: Partial<ProviderSettings>;
}

export class EmbeddedSetup {
  readonly server: ModelServer;
  readonly runtime: AgentRuntime;
  readonly workspaceDir: string;
  #runs = 0;

  private constructor(server: ModelServer, runtime: AgentRuntime, workspaceDir: string) {
    this.server = server;
    this.runtime = runtime;
    this.workspaceDir = workspaceDir;
  }

  static async open(
    options: Partial<Parameters<typeof createEmbeddedAgentRuntime>[0]> & { readonly clock?: Clock } = {},
  ): Promise<EmbeddedSetup> {
    const runtime = createEmbeddedAgentRuntime({
      clock: createSystemClock(),
      environment: { FIXTURE_KEY: KEY },
      ...options,
    });
    return new EmbeddedSetup(await ModelServer.start(), runtime, await mkdtemp(join(tmpdir(), 'embedded-')));
  }

  async close(): Promise<void> {
    await this.server.close();
    await rm(this.workspaceDir, { recursive: true, force: true });
  }

  /** Asks a model of the provider "fixture", whose interface this is. */
  ask(api: EmbeddedApi, behavior: Behavior, { messages, settings = {}, ...params }: RunOptions = {}): SetupRun {
    const model = params.model ?? `model-${this.#runs}`;
    this.server.when(model, behavior);
    return this.start({
      ...params,
      model,
      ...(messages === undefined ? {} : { messages }),
      config: params.config ?? { providers: { fixture: this.settings(api, settings) } },
    });
  }

  settings(api: EmbeddedApi, more: Partial<ProviderSettings> = {}): ProviderSettings {
    return { backend: 'embedded', api, baseUrl: this.server.baseUrl(api), keyVariable: 'FIXTURE_KEY', ...more };
  }

  start({ messages, settings: _, ...params }: RunOptions): SetupRun {
    this.#runs += 1;
    const heard = new Heard();
    const conversation = messages ?? [{ role: 'user', content: [{ type: 'text', text: 'Please answer.' }] } as const];
    const run = this.runtime.run({
      runId: `run_${this.#runs}`,
      sessionId: 'session_1',
      provider: 'fixture',
      model: 'none',
      config: {},
      workspaceDir: this.workspaceDir,
      agentDir: this.workspaceDir,
      modelStepsTaken: 0,
      onEvent: (event) => heard.hear(event),
      ...params,
      messages: conversation,
    });
    return heard.of(run);
  }
}

class Heard {
  readonly events: AgentRunEvent[] = [];
  #wake = (): void => undefined;

  hear(event: AgentRunEvent): void {
    this.events.push(event);
    this.#wake();
  }

  of(result: Promise<AgentRunResult>): SetupRun {
    const { events } = this;
    const said = (kind: 'text' | 'reasoning'): string =>
      events
        .flatMap((event) => (event.stream === 'assistant' && event.data.kind === kind ? [event.data.text] : []))
        .join('');
    return {
      events,
      result,
      told: async (characters) => {
        while (said('text').length < characters) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      },
      get text() {
        return said('text');
      },
      get reasoning() {
        return said('reasoning');
      },
    };
  }
}
