/** One run of the backend: a turn of its agent, and the result of it all. */
import type { Clock } from '../../actors/clock/clock.ts';
import type { AgentRunParams, AgentRunResult } from '../../actors/run/agent-runtime.ts';
import { messagesOf } from '../../actors/run/agent-runtime.ts';
import type { RunEvents } from '../../actors/run/run-events.ts';
import { SaidSoFar } from '../../actors/run/said-so-far.ts';
import { ToolLedger } from '../../actors/run/tool-ledger.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { isBackendSessionId, reasonForNewSession } from '../../machines/run/backend-session-id.ts';
import { withoutKeys } from '../../machines/run/failure-message.ts';
import { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import { acpSettingsOf } from './acp-settings.ts';
import type { AcpSettings } from './acp-settings.ts';
import type { Prompted } from './agent-answers.ts';
import { agentEnvironment } from './agent-environment.ts';
import type { AgentEnvironment } from './agent-environment.ts';
import { AgentTurn } from './agent-turn.ts';
import type { AgentTurnEnd } from './agent-turn.ts';
import { loadAcpSdk } from './load-sdk.ts';
import { RunFailed, RunStopped, failureOf } from './run-failed.ts';

export interface AcpNews {
  readonly runId: string;
  /** What was passed over, or could not be put right. Without secrets. */
  readonly message: string;
}

/** What all runs of a runtime share. */
export interface AcpSurroundings {
  readonly clock: Clock;
  readonly processTree: ProcessTree;
  readonly environment: () => HostEnvironment;
  readonly idleTimeoutMs: number;
  readonly cancelGraceMs: number;
  readonly lingerMs: number;
  readonly killGraceMs: number;
  readonly onNews: (news: AcpNews) => void;
}

export interface AcpRunLife {
  readonly surroundings: AcpSurroundings;
  readonly events: RunEvents;
  /** Aborts when the run is to stop. */
  readonly signal: AbortSignal;
}

export class AcpRun {
  readonly #params: AgentRunParams;
  readonly #surroundings: AcpSurroundings;
  readonly #events: RunEvents;
  readonly #signal: AbortSignal;
  readonly #settings: AcpSettings;
  readonly #environment: AgentEnvironment;
  readonly #redaction: SecretRedaction;
  readonly #said: SaidSoFar;
  readonly #tools: ToolLedger;

  /** @throws RunFailed when the settings of the provider cannot be used */
  constructor(params: AgentRunParams, { surroundings, events, signal }: AcpRunLife) {
    const { provider, config, agentDir, credential, workspaceDir } = params;
    this.#params = params;
    this.#surroundings = surroundings;
    this.#events = events;
    this.#signal = signal;
    this.#settings = acpSettingsOf(provider, { providers: config.providers, agentDir });
    this.#environment = agentEnvironment({
      host: surroundings.environment(),
      settings: this.#settings,
      credential,
      workspaceDir,
    });
    this.#redaction = new SecretRedaction(this.#environment.secrets);
    const emit: RunEvents['emit'] = (event) => this.#events.emit(event);
    this.#said = new SaidSoFar({ redaction: this.#redaction, emit });
    this.#tools = new ToolLedger({ redaction: this.#redaction, emit, onRequest: () => this.#said.end() });
  }

  /** Never rejects. */
  async run(): Promise<AgentRunResult> {
    try {
      const end = await this.#turn();
      return this.#conclude(this.#failureIn(end.answer), end);
    } catch (thrown) {
      const { command } = this.#settings;
      const isStopped = this.#signal.aborted || thrown instanceof RunStopped;
      return this.#conclude(
        isStopped
          ? this.#aborted()
          : failureOf(thrown, { command, redaction: this.#redaction, now: this.#surroundings.clock.now() }),
      );
    }
  }

  async #turn(): Promise<AgentTurnEnd> {
    const { runId, sessionId, model, instructions, resume, workspaceDir, requestPermission } = this.#params;
    const { clock, processTree, cancelGraceMs, lingerMs, killGraceMs, idleTimeoutMs, onNews } = this.#surroundings;
    const signal = this.#signal;
    if (signal.aborted) throw new RunStopped();
    const sdk = await loadAcpSdk();
    const turn = new AgentTurn({
      ...{
        sdk,
        clock,
        processTree,
        cancelGraceMs,
        lingerMs,
        killGraceMs,
        signal,
        runId,
        sessionId,
        model,
        instructions,
        resume,
        workspaceDir,
        requestPermission,
      },
      permissionsBind: this.#params.permissionsBind ?? false,
      settings: this.#settings,
      environment: this.#environment,
      idleTimeoutMs: this.#settings.idleTimeoutMs ?? idleTimeoutMs,
      messages: messagesOf(this.#params),
      redaction: this.#redaction,
      said: this.#said,
      ledger: this.#tools,
      onNews: (message) =>
        onNews({ runId, message: withoutKeys(this.#redaction.text(`${this.#settings.command}: ${message}`)) }),
    });
    return turn.run();
  }

  #failureIn({ stopReason }: Prompted): RunFailure | undefined {
    if (this.#signal.aborted) return this.#aborted();
    const { command } = this.#settings;
    if (stopReason === 'cancelled')
      return { kind: 'aborted', message: `${command}: it has canceled the turn by itself` };
    if (stopReason === 'refusal') return { kind: 'refusal', message: `${command}: its model has refused to answer` };
    if (this.#said.hasText || this.#tools.count > 0) return undefined;
    return {
      kind: 'empty_response',
      message: `${command}: ${EMPTINESS[stopReason] ?? 'it has ended the turn without an answer'}`,
    };
  }

  #conclude(failure: RunFailure | undefined, end?: AgentTurnEnd): AgentRunResult {
    const hasActed = this.#said.characters > 0 || this.#tools.count > 0;
    const payloads = this.#said.payloads();
    this.#tools.endAll(failure?.kind === 'aborted');
    const usage = usageOf(end);
    if (failure === undefined)
      this.#events.emit({ stream: 'lifecycle', data: { phase: 'end', ...(usage === undefined ? {} : { usage }) } });
    else this.#events.fail(failure);
    return {
      payloads,
      ...(usage === undefined ? {} : { usage }),
      meta: {
        ...(failure === undefined ? {} : { error: failure }),
        ...this.#sessionMeta(end),
        modelSteps: failure !== undefined && !hasActed ? 0 : 1,
      },
    };
  }

  /** Only a session that has answered is sure to have taken in what it was asked, and only some can be taken up. */
  #sessionMeta(end: AgentTurnEnd | undefined): { readonly sessionId?: string; readonly reseeded?: string } {
    if (end === undefined) return {};
    const { sessionId, canGoOn, because } = end.session;
    const { command } = this.#settings;
    if (because === undefined) return canGoOn && isBackendSessionId(sessionId) ? { sessionId } : {};
    const why = withoutKeys(this.#redaction.text(because));
    const reseeded = reasonForNewSession(
      `The session ${shown(this.#params.resume?.sessionId)} of ${command} could not go on, so a new one was begun and given the whole conversation: ${why}.`,
    );
    return { ...(canGoOn && isBackendSessionId(sessionId) ? { sessionId } : {}), reseeded };
  }

  #aborted(): RunFailure {
    return { kind: 'aborted', message: messageOf(this.#signal.reason) };
  }
}

const EMPTINESS: Readonly<Record<string, string>> = {
  max_tokens: 'it has used up its tokens before it answered',
  max_turn_requests: 'it has used up its model calls before it answered',
};

type Counts = Partial<NonNullable<Prompted['usage']>>;

/** Kinds of tokens are counted apart. */
function usageOf(end: AgentTurnEnd | undefined): RunUsage | undefined {
  if (end === undefined) return undefined;
  const { answer, cost } = end;
  const { inputTokens, outputTokens, cachedReadTokens, cachedWriteTokens, thoughtTokens }: Counts =
    answer.usage ?? answer._meta ?? {};
  const counts = {
    inputTokens: sum(inputTokens, cachedReadTokens, cachedWriteTokens),
    outputTokens: sum(outputTokens, thoughtTokens),
    cachedInputTokens: cachedReadTokens ?? undefined,
    cacheWriteTokens: cachedWriteTokens ?? undefined,
    reasoningTokens: thoughtTokens ?? undefined,
    cost,
  };
  const told = Object.entries(counts).filter(([, count]) => count !== undefined);
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

function sum(first: number | null | undefined, ...others: readonly (number | null | undefined)[]): number | undefined {
  return first === undefined || first === null
    ? undefined
    : others.reduce<number>((total, each) => total + (each ?? 0), first);
}

function shown(sessionId: string | undefined): string {
  return JSON.stringify((sessionId ?? '').slice(0, 200));
}

/** What a run is refused with before it starts. */
export function refusalOf(thrown: unknown): RunFailure {
  return thrown instanceof RunFailed ? thrown.failure : { kind: 'format', message: messageOf(thrown) };
}
