/**
 * One run of the backend: a program for the turn, a second one when the session that was to go on is gone, and the
 * result of it all.
 */
import { isAbsolute, resolve } from 'node:path';
import type { Clock } from '../../actors/clock/clock.ts';
import type { AgentRunParams, AgentRunResult } from '../../actors/run/agent-runtime.ts';
import { messagesOf } from '../../actors/run/agent-runtime.ts';
import type { RunEvents } from '../../actors/run/run-events.ts';
import { SaidSoFar } from '../../actors/run/said-so-far.ts';
import { ToolLedger } from '../../actors/run/tool-ledger.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { reasonForNewSession } from '../../machines/run/backend-session-id.ts';
import { promptOf } from '../../machines/run/conversation-text.ts';
import { withoutKeys } from '../../machines/run/failure-message.ts';
import { ProgramNotStarted } from '../../machines/run/program-end.ts';
import { settingsOf } from '../../machines/run/provider-settings.ts';
import type { CheckedProviderSettings } from '../../machines/run/provider-settings.ts';
import { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import { aboutVersion, triedProgramOf } from '../../machines/run/tried-programs.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import { programVersion } from '../system/program-version.ts';
import { endFailure, missingProgram, ownFailure, startFailure, thrownFailure, toldFailure } from './cli-failures.ts';
import type { FailureSurroundings, ProgramEnd } from './cli-failures.ts';
import { claudeDialect } from './claude-dialect.ts';
import { codexDialect } from './codex-dialect.ts';
import { SettingsRefused } from './dialect.ts';
import type { CliDialect } from './dialect.ts';
import { programEnvironment } from './program-environment.ts';
import type { ProgramEnvironment } from './program-environment.ts';
import { ProgramRun } from './program-run.ts';
import type { ProgramOutcome } from './program-run.ts';

const DIALECTS: Readonly<Record<CliDialect['name'], CliDialect>> = { claude: claudeDialect, codex: codexDialect };

/** What leaves the choice of the model to the program. */
const DEFAULT_MODEL = 'default';
/** Fit to stand among arguments. */
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/;

export interface CliAgentNews {
  readonly runId: string;
  /** What was passed over, or could not be put right. Without secrets. */
  readonly message: string;
}

/** What all runs of a runtime share. */
export interface CliAgentSurroundings {
  readonly clock: Clock;
  readonly processTree: ProcessTree;
  readonly environment: () => HostEnvironment;
  readonly idleTimeoutMs: number;
  readonly killGraceMs: number;
  readonly onNews: (news: CliAgentNews) => void;
}

export interface CliAgentRunLife {
  readonly surroundings: CliAgentSurroundings;
  readonly events: RunEvents;
  /** Aborts when the run is to stop. */
  readonly signal: AbortSignal;
}

interface Resumed {
  readonly sessionId: string;
  readonly newMessages: readonly ProviderMessage[];
}

/** How the run ended. */
interface Ending {
  readonly failure: RunFailure | undefined;
  readonly usage?: RunUsage | undefined;
  readonly modelSteps?: number | undefined;
}

export class CliAgentRun {
  readonly #params: AgentRunParams;
  readonly #surroundings: CliAgentSurroundings;
  readonly #events: RunEvents;
  readonly #signal: AbortSignal;
  readonly #settings: CheckedProviderSettings | undefined;
  readonly #dialect: CliDialect;
  readonly #environment: ProgramEnvironment;
  readonly #redaction: SecretRedaction;
  readonly #said: SaidSoFar;
  readonly #tools: ToolLedger;
  #program: ProgramRun | undefined;
  #reseeded: string | undefined;

  /** @throws what is wrong with the settings of the provider */
  constructor(params: AgentRunParams, { surroundings, events, signal }: CliAgentRunLife) {
    this.#params = params;
    this.#surroundings = surroundings;
    this.#events = events;
    this.#signal = signal;
    this.#settings = settingsOf(params.provider, params.config.providers);
    this.#dialect = dialectOf(params.provider, this.#settings);
    const { credential, workspaceDir } = params;
    const { pass = [], set = {} } = this.#settings?.program ?? {};
    this.#environment = programEnvironment({
      host: surroundings.environment(),
      dialect: this.#dialect,
      pass,
      set,
      credential,
      workspaceDir,
    });
    this.#redaction = new SecretRedaction(this.#environment.secrets);
    const emit: RunEvents['emit'] = (event) => this.#events.emit(event);
    this.#said = new SaidSoFar({ redaction: this.#redaction, emit });
    this.#tools = new ToolLedger({ redaction: this.#redaction, emit, onRequest: () => this.#said.end() });
  }

  async queue(message: string): Promise<boolean> {
    return (await this.#program?.queue(message)) ?? false;
  }

  /** Never rejects. */
  async run(): Promise<AgentRunResult> {
    return this.#conclude(await this.#end());
  }

  async #end(): Promise<Ending> {
    try {
      return await this.#endOrThrow();
    } catch (thrown) {
      if (this.#signal.aborted) return { failure: this.#aborted() };
      if (thrown instanceof SettingsRefused) return { failure: ownFailure('format', thrown.message, this.#failing()) };
      if (!(thrown instanceof ProgramNotStarted)) return { failure: thrownFailure(thrown, this.#failing()) };
      return {
        failure: thrown.because === 'missing' ? missingProgram(this.#failing()) : startFailure(thrown, this.#failing()),
      };
    }
  }

  async #endOrThrow(): Promise<Ending> {
    if (this.#signal.aborted) return { failure: this.#aborted() };
    const { resume } = this.#params;
    if (resume === undefined) return await this.#endOf(await this.#runProgram(undefined));
    const gone = await this.#resume(resume);
    if (typeof gone !== 'string') return gone;
    const what = `The session ${shown(resume.sessionId)} of ${this.#dialect.name} could not go on, so a new one was begun and given the whole conversation: ${withoutKeys(gone)}.`;
    this.#reseeded = reasonForNewSession(what);
    return await this.#endOf(await this.#runProgram(undefined));
  }

  /** Goes on with the program's own session. A text says why that is not to be had; nothing of it has happened then. */
  async #resume(resume: Resumed): Promise<Ending | string> {
    if (!SESSION_ID.test(resume.sessionId)) return 'its id is none that a program could be given';
    const outcome = await this.#runProgram(resume);
    const hasActed = this.#said.characters > 0 || this.#tools.count > 0;
    if (outcome.kind === 'session_gone' && !hasActed) return this.#redaction.text(outcome.because);
    const ending = await this.#endOf(outcome);
    return ending.failure?.kind === 'session_expired' && !hasActed ? ending.failure.message : ending;
  }

  async #runProgram(resumed: Resumed | undefined): Promise<ProgramOutcome> {
    const { model, instructions, workspaceDir, agentDir, runId, sessionId, requestPermission } = this.#params;
    const { idleTimeoutMs = this.#surroundings.idleTimeoutMs, options = {}, program } = this.#settings ?? {};
    const conversation = this.#dialect.converse({
      model: model === DEFAULT_MODEL ? undefined : model,
      instructions,
      prompt: promptOf(resumed?.newMessages ?? messagesOf(this.#params)),
      maxCost: this.#params.budget?.maxCost,
      resumedSessionId: resumed?.sessionId,
      workspaceDir,
      options,
      environment: { ...this.#environment.variables, ...this.#environment.told },
      permissionsBind: this.#params.permissionsBind,
    });
    const args = [...(program?.args ?? []), ...conversation.args];
    const { processTree, clock, killGraceMs, onNews } = this.#surroundings;
    this.#program = new ProgramRun({
      conversation,
      resumes: resumed !== undefined,
      command: {
        program: commandOf(this.#command(), agentDir),
        args,
        cwd: workspaceDir,
        environment: this.#environment.variables,
      },
      processTree,
      clock,
      taskId: `run ${runId}`,
      sessionId,
      signal: this.#signal,
      idleTimeoutMs,
      killGraceMs,
      redaction: this.#redaction,
      said: this.#said,
      tools: this.#tools,
      requestPermission,
      onNews: (message) => onNews({ runId, message: withoutKeys(`${this.#command()}: ${message}`) }),
    });
    return this.#program.run();
  }

  async #endOf(outcome: ProgramOutcome): Promise<Ending> {
    switch (outcome.kind) {
      case 'finished': {
        const { failure, usage, modelSteps } = outcome.finish;
        return {
          failure: failure === undefined ? this.#emptiness() : toldFailure(failure, this.#failing()),
          usage,
          modelSteps,
        };
      }
      case 'session_gone':
        return { failure: ownFailure('session_expired', outcome.because, this.#failing()) };
      case 'ended':
        return { failure: endFailure({ ...outcome.end, ...(await this.#tried()) }, this.#failing()) };
      case 'cut_off':
        return { failure: ownFailure(outcome.failure, outcome.message, this.#failing()) };
      case 'stopped':
        return { failure: this.#aborted() };
    }
  }

  /** Which program it is, and that its version was not tried, which may be why it did not understand us. */
  async #tried(): Promise<Pick<ProgramEnd, 'name' | 'untried'>> {
    const settings = this.#settings;
    const name = settings === undefined ? undefined : triedProgramOf(settings);
    if (name === undefined) return {};
    const program = { name, command: this.#command(), provider: this.#params.provider };
    const place = { command: program.command, directory: this.#params.agentDir };
    const asked = await programVersion({ ...place, environment: this.#environment.variables });
    return { name, untried: aboutVersion(program, asked) };
  }

  #emptiness(): RunFailure | undefined {
    return this.#said.hasText || this.#tools.count > 0
      ? undefined
      : ownFailure('empty_response', 'it ended without an answer', this.#failing());
  }

  #conclude({ failure, usage = this.#program?.usage, modelSteps }: Ending): AgentRunResult {
    const hasActed = this.#said.characters > 0 || this.#tools.count > 0;
    const payloads = this.#said.payloads();
    this.#tools.endAll(failure?.kind === 'aborted');
    if (failure === undefined)
      this.#events.emit({ stream: 'lifecycle', data: { phase: 'end', ...(usage === undefined ? {} : { usage }) } });
    else this.#events.fail(failure);
    const sessionId = this.#program?.sessionId;
    return {
      payloads,
      ...(usage === undefined ? {} : { usage }),
      meta: {
        ...(failure === undefined ? {} : { error: failure }),
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(this.#reseeded === undefined ? {} : { reseeded: this.#reseeded }),
        modelSteps: failure !== undefined && !hasActed ? 0 : Math.max(1, modelSteps ?? 1),
      },
    };
  }

  #aborted(): RunFailure {
    return { kind: 'aborted', message: messageOf(this.#signal.reason) };
  }

  #command(): string {
    return this.#settings?.program?.command ?? this.#dialect.name;
  }

  #failing(): FailureSurroundings {
    const { clock } = this.#surroundings;
    return {
      dialect: this.#dialect,
      command: this.#command(),
      provider: this.#params.provider,
      redaction: this.#redaction,
      now: clock.now(),
    };
  }
}

function dialectOf(provider: string, settings: CheckedProviderSettings | undefined): CliDialect {
  if (settings?.dialect !== undefined) return DIALECTS[settings.dialect];
  throw new SettingsRefused(
    `expected the provider "${provider}" to say which family its program is of (dialect: claude or codex), received ${settings === undefined ? 'no settings' : 'none'}`,
  );
}

function shown(sessionId: string): string {
  return sessionId.slice(0, 100);
}

/** A mere name is left to PATH; a relative path starts in the folder of the agent. */
function commandOf(command: string, agentDir: string): string {
  return command.includes('/') && !isAbsolute(command) ? resolve(agentDir, command) : command;
}
