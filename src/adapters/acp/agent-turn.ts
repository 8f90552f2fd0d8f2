/**
 * One turn of an agent: its program started, asked, listened to and served until it has answered, and ended with
 * everything that it started, however it behaves.
 */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { AgentRunParams, RunResumption } from '../../actors/run/agent-runtime.ts';
import { IdleWatch } from '../../actors/run/idle-watch.ts';
import { MAX_SAID_CHARACTERS } from '../../actors/run/said-so-far.ts';
import type { SaidSoFar } from '../../actors/run/said-so-far.ts';
import { TextTail } from '../../actors/run/text-tail.ts';
import { MAX_TOOL_CALLS } from '../../actors/run/tool-ledger.ts';
import type { ToolLedger } from '../../actors/run/tool-ledger.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { decidesByItself } from '../../machines/run/asks-permission.ts';
import type { ProgramExit } from '../../machines/run/program-end.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { TrackedProgram } from '../system/tracked-program.ts';
import { pause } from '../system/waiting.ts';
import { readAnswer } from './agent-answers.ts';
import type { Prompted } from './agent-answers.ts';
import type { AgentEnvironment } from './agent-environment.ts';
import { AgentLink } from './agent-link.ts';
import type { Answerers } from './agent-link.ts';
import { AgentMessages } from './agent-messages.ts';
import { answerers } from './answerers.ts';
import type { AcpSettings } from './acp-settings.ts';
import type { AcpSdk } from './load-sdk.ts';
import { openSession } from './open-session.ts';
import type { AgentSession } from './open-session.ts';
import { PermissionGate } from './permission-gate.ts';
import { endFailure, programEnd, startAgent } from './program-end.ts';
import { promptBlocks } from './prompt-blocks.ts';
import { RunFailed, RunStopped } from './run-failed.ts';
import { ServedCalls } from './served-calls.ts';
import { readUpdate } from './session-updates.ts';
import type { AgentNews, ToolCallNews } from './session-updates.ts';
import { Terminals } from './terminals.ts';
import { ToolCalls } from './tool-calls.ts';

/** Until it can be asked: it may have to start servers, but asks no model. */
const MAX_OPENING_MS = 300_000;
/** One that has been silent for so long has told what it had to. */
const QUIET_MS = 100;

const MODE_ADVICE =
  'Check in the log what it did last; let it stay in a mode in which it asks (options.mode of its provider), or give the agent "permission: preapproved" without rules that ask or deny.';

export interface AgentTurnOptions {
  readonly sdk: AcpSdk;
  readonly settings: AcpSettings;
  readonly environment: AgentEnvironment;
  readonly clock: Clock;
  readonly processTree: ProcessTree;
  readonly runId: string;
  readonly sessionId: string;
  readonly model: string;
  readonly instructions: string | undefined;
  readonly messages: readonly ProviderMessage[];
  readonly resume: RunResumption | undefined;
  readonly permissionsBind: boolean;
  /** Absolute. */
  readonly workspaceDir: string;
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
  /** How long it may take to end the turn by itself when it is asked to, in milliseconds. */
  readonly cancelGraceMs: number;
  /** How long it may take to end by itself after the turn, in milliseconds. */
  readonly lingerMs: number;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly killGraceMs: number;
  readonly redaction: SecretRedaction;
  readonly said: SaidSoFar;
  readonly ledger: ToolLedger;
  readonly requestPermission: AgentRunParams['requestPermission'];
  readonly onNews: (message: string) => void;
}

export interface AgentTurnEnd {
  readonly session: AgentSession;
  readonly answer: Prompted;
  /** Of this turn, as far as the agent told it. */
  readonly cost: number | undefined;
}

type Phase = 'opening' | 'prompting' | 'over';

export class AgentTurn {
  readonly #options: AgentTurnOptions;
  readonly #errorOutput: TextTail;
  readonly #gate: PermissionGate;
  readonly #calls: ToolCalls;
  readonly #served: ServedCalls;
  readonly #terminals: Terminals;
  #phase: Phase = 'opening';
  /** Messages that came. */
  #signs = 0;
  #session: AgentSession | undefined;
  #link: AgentLink | undefined;
  #idle: IdleWatch | undefined;
  #grace: TimerHandle | undefined;
  /** Of texts: another message, or something in between. */
  #block = 0;
  #messageId: string | undefined;
  #cost: number | undefined;
  #costBefore: number | undefined;

  constructor(options: AgentTurnOptions) {
    const { redaction, requestPermission, ledger, onNews, runId, sessionId, environment } = options;
    this.#options = options;
    this.#errorOutput = new TextTail(redaction);
    this.#calls = new ToolCalls(ledger, redaction);
    this.#gate = new PermissionGate({
      requestPermission,
      redaction,
      onWait: () => this.#wait(),
      onFlood: (message) => this.#cut(new RunFailed('format', message)),
    });
    this.#served = new ServedCalls({ gate: this.#gate, ledger, onRequest: () => this.#beforeTool() });
    this.#terminals = new Terminals({
      ...options,
      served: this.#served,
      taskId: `run ${runId}`,
      sessionId,
      environment: environment.commandVariables,
      onOutput: () => this.#idle?.touch(),
      onNews,
    });
  }

  /**
   * Resolves or rejects when the program and all that was started for it are gone. @throws RunFailed, RunStopped, or
   * what the agent answered
   */
  async run(): Promise<AgentTurnEnd> {
    const { signal } = this.#options;
    const program = await startAgent(this.#options);
    const onAbort = (): void => this.#stop();
    signal.addEventListener('abort', onAbort, { once: true });
    let hasAnswered = false;
    try {
      const end = await this.#converse(program);
      hasAnswered = true;
      return end;
    } finally {
      signal.removeEventListener('abort', onAbort);
      await this.#windDown(program, hasAnswered);
    }
  }

  async #converse(program: TrackedProgram): Promise<AgentTurnEnd> {
    const { sdk, settings, idleTimeoutMs, model, workspaceDir, requestPermission, resume, signal, onNews } =
      this.#options;
    this.#watch(Math.min(idleTimeoutMs, MAX_OPENING_MS));
    const messages = this.#listen(program);
    const link = new AgentLink(sdk, messages, this.#answerers());
    this.#link = link;
    void programEnd(program).then((exit) => this.#cut(this.#endedBy(exit, messages)));
    if (signal.aborted) this.#stop();
    const session = await openSession({
      link,
      protocolVersion: sdk.PROTOCOL_VERSION,
      options: settings.options,
      model,
      workspaceDir,
      offersServices: requestPermission !== undefined,
      resume,
      permissionsBind: this.#options.permissionsBind,
      quiet: () => this.#quiet(),
    });
    this.#session = session;
    this.#costBefore = session.isResumed ? this.#cost : 0;
    const answer = await this.#prompt(link, session);
    if (messages.noise !== undefined) onNews(messages.noise);
    return { session, answer, cost: this.#costOfTurn() };
  }

  async #quiet(): Promise<void> {
    for (let before = -1; before !== this.#signs; await pause(QUIET_MS, { keepsAlive: false })) before = this.#signs;
  }

  #listen(program: TrackedProgram): AgentMessages {
    this.#errorOutput.follow(program.stderr);
    return new AgentMessages(program, {
      redaction: this.#options.redaction,
      onSign: () => {
        this.#signs += 1;
        this.#idle?.touch();
      },
      onUpdate: (params) => this.#update(params),
      onBroken: (message) => this.#cut(new RunFailed('format', message)),
    });
  }

  #answerers(): Answerers {
    const { ledger, workspaceDir, onNews } = this.#options;
    const isOurs = (sessionId: string): boolean =>
      this.#phase === 'prompting' && sessionId === this.#session?.sessionId;
    return answerers({
      ledger,
      workspaceDir,
      onNews,
      isOurs,
      gate: this.#gate,
      calls: this.#calls,
      served: this.#served,
      terminals: this.#terminals,
      onRequest: () => this.#beforeTool(),
    });
  }

  async #prompt(link: AgentLink, { sessionId, isResumed, takes }: AgentSession): Promise<Prompted> {
    const { instructions, messages, resume, workspaceDir, idleTimeoutMs, signal } = this.#options;
    const news = isResumed && resume !== undefined ? resume.newMessages : messages;
    const prompt = await promptBlocks({ instructions, messages: news, workspaceDir, takes });
    if (signal.aborted) throw new RunStopped();
    this.#phase = 'prompting';
    this.#watch(idleTimeoutMs);
    try {
      return readAnswer('session/prompt', await link.request('session/prompt', { sessionId, prompt }));
    } finally {
      this.#phase = 'over';
    }
  }

  #update(params: unknown): void {
    const update = readUpdate(params);
    const { news } = update ?? {};
    const sessionId = this.#session?.sessionId ?? this.#options.resume?.sessionId;
    if (news === undefined || update?.sessionId !== sessionId || this.#phase === 'over') return;
    if (news.kind === 'cost') this.#cost = news.amount;
    // What is told before the question is what was said long ago.
    else if (this.#phase === 'prompting' && news.kind === 'said') this.#say(news);
    else if (this.#phase === 'prompting' && news.kind === 'tool') this.#takeCall(news.call);
    else if (this.#phase === 'prompting' && news.kind === 'mode') this.#checkMode(news.mode);
  }

  /** To set it back would come too late: until then it does unasked whatever its model wants. */
  #checkMode(mode: string): void {
    if (!this.#options.permissionsBind || !decidesByItself(mode)) return;
    this.#phase = 'over';
    this.#gate.close();
    this.#cut(
      new RunFailed(
        { kind: 'format', hint: MODE_ADVICE },
        `it has changed to its mode "${mode}" in the middle of the turn, in which it asks for nothing, and permissions bind it; the turn was stopped`,
      ),
    );
  }

  #say({ what, messageId, text }: Extract<AgentNews, { kind: 'said' }>): void {
    const { said } = this.#options;
    this.#calls.release();
    if (messageId !== this.#messageId) this.#block += 1;
    this.#messageId = messageId;
    said.add({ what, block: this.#block, text });
    if (said.characters > MAX_SAID_CHARACTERS)
      this.#cut(new RunFailed('format', `it has said more than ${MAX_SAID_CHARACTERS} characters`));
  }

  #takeCall(call: ToolCallNews): void {
    this.#calls.take(call, this.#options.signal.aborted);
    this.#boundTools();
  }

  #beforeTool(): void {
    this.#calls.release();
    this.#boundTools();
  }

  #boundTools(): void {
    if (this.#calls.count > MAX_TOOL_CALLS)
      this.#cut(new RunFailed('format', `it has used more than ${MAX_TOOL_CALLS} tools`));
  }

  #stop(): void {
    const { clock, cancelGraceMs } = this.#options;
    const sessionId = this.#session?.sessionId;
    if (this.#phase === 'prompting' && sessionId !== undefined) {
      this.#link?.notify('session/cancel', { sessionId });
      this.#grace = clock.setTimeout(() => this.#cut(new RunStopped()), cancelGraceMs);
    } else this.#cut(new RunStopped());
    this.#gate.close();
    // An agent that waits for a command can end its turn once that has ended.
    void this.#terminals.end();
  }

  #cut(reason: Error): void {
    this.#link?.cut(reason);
  }

  #watch(limitMs: number): void {
    this.#idle?.end();
    this.#idle = new IdleWatch({
      clock: this.#options.clock,
      limitMs,
      onIdle: () => this.#cut(new RunFailed('timeout', `it has said nothing for ${limitMs} ms`)),
    });
  }

  #wait(): () => void {
    const idle = this.#idle;
    idle?.pause();
    return () => idle?.resume();
  }

  #endedBy(exit: ProgramExit | undefined, { noise, isNotUnderstood }: AgentMessages): RunFailed {
    const { settings, clock } = this.#options;
    const errorOutput = this.#errorOutput.toString();
    return endFailure({ exit, errorOutput, noise, isNotUnderstood, name: settings.name, now: clock.now() });
  }

  /** Agents tell what the whole session has cost so far: of one that goes on, what it had cost before must be known. */
  #costOfTurn(): number | undefined {
    if (this.#cost === undefined || this.#costBefore === undefined) return undefined;
    return Math.max(0, this.#cost - this.#costBefore);
  }

  async #windDown(program: TrackedProgram, hasAnswered: boolean): Promise<void> {
    const { clock, lingerMs, killGraceMs, onNews } = this.#options;
    this.#phase = 'over';
    this.#idle?.end();
    clock.clearTimeout(this.#grace);
    this.#gate.close();
    await Promise.all([this.#served.settle(), this.#terminals.end()]);
    this.#link?.close();
    program.stdin.end();
    try {
      // One that has answered writes its session down before it ends.
      await program.end({ lingerMs: hasAnswered ? lingerMs : 0, graceMs: killGraceMs });
    } catch {
      await program
        .end({ graceMs: 0 })
        .catch((error: unknown) => onNews(`its processes could not all be ended: ${messageOf(error)}`));
    }
  }
}
