/**
 * One life of a program: started, written to, listened to, and ended with its whole process tree, however it behaves.
 * What its lines mean is the dialect's affair.
 */
import { stat } from 'node:fs/promises';
import type { Clock } from '../../actors/clock/clock.ts';
import type { AgentRunParams, RunPermissionAnswer, RunPermissionRequest } from '../../actors/run/agent-runtime.ts';
import { IdleWatch } from '../../actors/run/idle-watch.ts';
import { MAX_SAID_CHARACTERS } from '../../actors/run/said-so-far.ts';
import type { SaidSoFar } from '../../actors/run/said-so-far.ts';
import { shownRequest } from '../../actors/run/shown-request.ts';
import { TextTail } from '../../actors/run/text-tail.ts';
import { MAX_TOOL_CALLS } from '../../actors/run/tool-ledger.ts';
import type { ToolLedger } from '../../actors/run/tool-ledger.ts';
import type { ProcessLaunch, ProcessTree } from '../../actors/task/process-tree.ts';
import { assertNever, messageOf } from '../../machines/errors.ts';
import { isBackendSessionId } from '../../machines/run/backend-session-id.ts';
import type { ProgramExit } from '../../machines/run/program-end.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { RunFailureKind } from '../../machines/run/run-failure.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import { startProgram } from '../system/tracked-program.ts';
import type { StartProgram, TrackedProgram } from '../system/tracked-program.ts';
import { within } from '../system/waiting.ts';
import type { ProgramEnd } from './cli-failures.ts';
import { SettingsRefused } from './dialect.ts';
import type { CliConversation, CliFact, CliFinish } from './dialect.ts';
import { OutputLines } from './output-lines.ts';

/** What a program has not read yet of what it is told while it runs. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** A program that has answered writes its session down before it ends. */
const LINGER_AFTER_ANSWER_MS = 5_000;
/** A program that is asked to stop may do the same. */
const LINGER_AFTER_STOP_MS = 1_000;
/** How soon a program that does not tell what it has read begins the turn for it. */
const NEXT_TURN_MS = 3_000;

const NOBODY_PERMITS = 'No person is there to permit it.';
/** In one run: each may be a question to a person. */
const MAX_QUESTIONS = MAX_TOOL_CALLS;

export interface ProgramRunOptions {
  readonly conversation: CliConversation;
  /** Whether a session of the program goes on. Until it names it, another program may have to begin anew. */
  readonly resumes: boolean;
  readonly command: ProcessLaunch;
  readonly processTree: ProcessTree;
  readonly clock: Clock;
  readonly taskId: string;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly killGraceMs: number;
  readonly redaction: SecretRedaction;
  readonly said: SaidSoFar;
  readonly tools: ToolLedger;
  readonly requestPermission: AgentRunParams['requestPermission'];
  /** News for people that belong to no answer. */
  readonly onNews: (message: string) => void;
}

export type ProgramOutcome =
  | { readonly kind: 'finished'; readonly finish: CliFinish }
  | { readonly kind: 'session_gone'; readonly because: string }
  | { readonly kind: 'ended'; readonly end: Omit<ProgramEnd, 'name' | 'untried'> }
  /** It was ended by us because of how it behaved. */
  | { readonly kind: 'cut_off'; readonly failure: RunFailureKind; readonly message: string }
  | { readonly kind: 'stopped' };

export class ProgramRun {
  readonly #options: ProgramRunOptions;
  readonly #errorOutput: TextTail;
  /** Questions that wait for their answers, by the program's ids. */
  readonly #asks = new Map<string, AbortController>();
  #questionCount = 0;
  readonly #settled: Promise<ProgramOutcome>;
  #settle: (outcome: ProgramOutcome) => void = () => undefined;
  #outcome: ProgramOutcome | undefined;
  #process: TrackedProgram | undefined;
  #idle: IdleWatch | undefined;
  #lines: OutputLines | undefined;
  /** Of a turn that is over, while it is open whether another follows. */
  #betweenTurns: CliFinish | undefined;
  #usage: RunUsage | undefined;
  #sessionId: string | undefined;
  #isInSession: boolean;
  /** Resolves when a program that has answered begins another turn by itself: no log would tell what it does in it. */
  readonly #unasked: Promise<void>;
  #goesOnUnasked: () => void = () => undefined;

  constructor(options: ProgramRunOptions) {
    this.#options = options;
    this.#isInSession = !options.resumes;
    this.#errorOutput = new TextTail(options.redaction);
    this.#unasked = new Promise((resolve) => {
      this.#goesOnUnasked = resolve;
    });
    this.#settled = new Promise((resolve) => {
      this.#settle = (outcome) => {
        // The first cause wins.
        this.#outcome ??= outcome;
        resolve(this.#outcome);
      };
    });
  }

  /** The program's own session, as it named it last. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** What its turns that are over have used. */
  get usage(): RunUsage | undefined {
    return this.#usage;
  }

  /** Resolves when the program and all that it started are gone. @throws as `startRun` */
  async run(): Promise<ProgramOutcome> {
    const { signal, command, processTree, taskId, sessionId, conversation } = this.#options;
    const process = await startRun({ command, processTree, taskId, sessionId, signal });
    this.#process = process;
    const onAbort = (): void => this.#settle({ kind: 'stopped' });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      this.#listen(process);
      process.stdin.write(conversation.opening);
      if (!conversation.keepsInputOpen) process.stdin.end();
      const outcome = await this.#settled;
      await this.#windDown(process, outcome);
      this.#lines?.report();
      return outcome;
    } finally {
      this.#idle?.end();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Gives the program another message of the user. False when it cannot take it any more. */
  async queue(text: string): Promise<boolean> {
    const { conversation } = this.#options;
    const stdin = this.#process?.stdin;
    const isOver = this.#outcome !== undefined || this.#betweenTurns?.goesOn === 'perhaps';
    // A session that is gone takes with it what it was told: the next program is given what the log says.
    if (!this.#isInSession) return false;
    if (stdin === undefined || isOver || !stdin.writable || conversation.furtherMessage === undefined) return false;
    if (stdin.writableLength > MAX_UNREAD_BYTES) return false;
    const line = conversation.furtherMessage(text);
    return new Promise((resolve) => {
      stdin.write(line, (error) => resolve(!(error instanceof Error)));
    });
  }

  #listen(process: TrackedProgram): void {
    const { clock, idleTimeoutMs, conversation, redaction, onNews } = this.#options;
    this.#idle = new IdleWatch({ clock, limitMs: idleTimeoutMs, onIdle: () => this.#onIdle(idleTimeoutMs) });
    this.#errorOutput.follow(process.stderr);
    this.#lines = new OutputLines(process, {
      read: (line) => conversation.read(line),
      redaction,
      onNews,
      onFacts: (facts) => this.#takeAll(facts),
      onSign: () => this.#idle?.touch(),
      onBroken: (message) => this.#cutOff('format', message),
      onEnd: (exit) => this.#onEnd(exit),
    });
  }

  #onIdle(limitMs: number): void {
    if (this.#betweenTurns === undefined) this.#cutOff('timeout', `it has said nothing for ${limitMs} ms`);
    else this.#settle({ kind: 'finished', finish: this.#betweenTurns });
  }

  #onEnd(exit: ProgramExit | undefined): void {
    if (this.#betweenTurns !== undefined) this.#settle({ kind: 'finished', finish: this.#betweenTurns });
    const complaint = this.#options.conversation.lastComplaint();
    const { noise, hasMessages = true } = this.#lines ?? {};
    this.#settle({
      kind: 'ended',
      end: {
        exit,
        errorOutput: this.#errorOutput.toString(),
        complaint,
        noise,
        isNotUnderstood: noise !== undefined && !hasMessages,
      },
    });
  }

  /** What comes after the end counts for nothing, but for what a program still tells while it is being stopped. */
  #takeAll(facts: readonly CliFact[]): void {
    if (this.#outcome?.kind === 'finished' && facts.some(({ kind }) => kind === 'step_begun')) this.#goesOnUnasked();
    for (const fact of facts) if (this.#outcome === undefined || this.#outcome.kind === 'stopped') this.#take(fact);
  }

  #take(fact: CliFact): void {
    const { said, tools } = this.#options;
    this.#betweenTurns = undefined;
    switch (fact.kind) {
      case 'session':
        this.#isInSession = true;
        // One that the log cannot hold is not gone on with.
        this.#sessionId = isBackendSessionId(fact.sessionId) ? fact.sessionId : undefined;
        return;
      case 'session_gone':
        return this.#settle(fact);
      case 'step_begun':
        return;
      case 'said':
        said.add(fact);
        if (said.characters > MAX_SAID_CHARACTERS)
          this.#cutOff('format', `it has said more than ${MAX_SAID_CHARACTERS} characters`);
        return;
      case 'tool_requested':
        return this.#request(fact);
      case 'tool_started':
        return tools.started(fact.callId);
      case 'tool_refused':
        return tools.denied(fact.callId);
      case 'tool_ended':
        return tools.ended(
          this.#outcome === undefined || fact.outcome !== 'failed' ? fact : { ...fact, outcome: 'cancelled' },
        );
      case 'asked':
        this.#ask(fact).catch((error: unknown) =>
          this.#cutOff('unknown', `a question of it could not be answered: ${messageOf(error)}`),
        );
        return;
      case 'ask_withdrawn':
        return this.#withdraw(fact.askId);
      case 'reply':
        return this.#write(fact.text);
      case 'finished':
        return this.#finish(fact.finish);
      default:
        assertNever(fact, 'a fact of a program');
    }
  }

  #request(call: Pick<RunPermissionRequest, 'callId' | 'name' | 'input'>): void {
    const { tools } = this.#options;
    tools.requested(call);
    if (tools.count > MAX_TOOL_CALLS) this.#cutOff('format', `it has used more than ${MAX_TOOL_CALLS} tools`);
  }

  #cutOff(failure: RunFailureKind, message: string): void {
    this.#settle({ kind: 'cut_off', failure, message });
  }

  #finish(finish: CliFinish): void {
    const { said } = this.#options;
    if (finish.failure === undefined && !said.hasText) said.add({ what: 'text', block: 0, text: finish.text ?? '' });
    this.#usage = finish.usage;
    this.#betweenTurns = finish;
    if (finish.goesOn === 'no') this.#settle({ kind: 'finished', finish });
    if (finish.goesOn === 'perhaps') void this.#seeWhetherItGoesOn(finish);
  }

  /** Its input stays open meanwhile: another turn may ask for permissions. */
  async #seeWhetherItGoesOn(finish: CliFinish): Promise<void> {
    if (this.#process !== undefined) await within(this.#process.exited, NEXT_TURN_MS);
    if (this.#betweenTurns === finish) this.#settle({ kind: 'finished', finish });
  }

  /** The program waits for us meanwhile: that is no silence of its own. */
  async #ask({ askId, request }: Extract<CliFact, { kind: 'asked' }>): Promise<void> {
    const { tools } = this.#options;
    if (this.#asks.has(askId)) return;
    this.#questionCount += 1;
    if (this.#questionCount > MAX_QUESTIONS)
      return this.#cutOff('format', `it has asked for permission more than ${MAX_QUESTIONS} times`);
    const withdrawal = new AbortController();
    this.#asks.set(askId, withdrawal);
    this.#request(request);
    this.#idle?.pause();
    const answer = await this.#answerTo(request, withdrawal.signal);
    // Who has withdrawn the question waits for no answer, and may have asked another by the same id since.
    if (this.#asks.get(askId) !== withdrawal) return;
    this.#asks.delete(askId);
    this.#idle?.resume();
    if (this.#outcome !== undefined) return;
    const { decision, text } = this.#replyTo(askId, answer);
    // Told before the program hears of it: what has not been told must not run.
    if (decision === 'allow') tools.started(request.callId);
    else tools.denied(request.callId);
    this.#write(text);
  }

  /** What cannot be written down is denied. */
  #replyTo(
    askId: string,
    answer: RunPermissionAnswer,
  ): { readonly decision: RunPermissionAnswer['decision']; readonly text: string } {
    const { conversation } = this.#options;
    try {
      return { decision: answer.decision, text: conversation.answer?.(askId, answer) ?? '' };
    } catch (error) {
      const denial = { decision: 'deny', message: `It could not be answered: ${messageOf(error)}` } as const;
      return { decision: 'deny', text: conversation.answer?.(askId, denial) ?? '' };
    }
  }

  async #answerTo(request: RunPermissionRequest, signal: AbortSignal): Promise<RunPermissionAnswer> {
    const { requestPermission, redaction } = this.#options;
    if (requestPermission === undefined || this.#outcome !== undefined)
      return { decision: 'deny', message: NOBODY_PERMITS };
    try {
      return await requestPermission(shownRequest({ ...request, signal }, redaction));
    } catch (error) {
      return { decision: 'deny', message: `It could not be permitted: ${messageOf(error)}` };
    }
  }

  #withdraw(askId: string): void {
    const withdrawal = this.#asks.get(askId);
    if (withdrawal === undefined) return;
    this.#asks.delete(askId);
    this.#idle?.resume();
    withdrawal.abort('the answer is not waited for any more');
  }

  #write(text: string): void {
    const stdin = this.#process?.stdin;
    if (stdin?.writable !== true || text === '') return;
    stdin.write(text);
    if (stdin.writableLength > MAX_UNREAD_BYTES)
      this.#cutOff('format', `it has not read ${stdin.writableLength} bytes that were written to it`);
  }

  async #windDown(process: TrackedProgram, { kind }: ProgramOutcome): Promise<void> {
    this.#idle?.end();
    for (const askId of this.#asks.keys()) this.#withdraw(askId);
    if (kind === 'stopped') this.#write(this.#options.conversation.interruption?.() ?? '');
    if (process.stdin.writable) process.stdin.end();
    if (kind === 'finished') await within(Promise.race([process.exited, this.#unasked]), LINGER_AFTER_ANSWER_MS);
    // Only one that understands that it is to stop is given the time.
    if (kind === 'stopped' && this.#options.conversation.interruption !== undefined)
      await within(process.exited, LINGER_AFTER_STOP_MS);
    await this.#endTree(process);
  }

  async #endTree(process: TrackedProgram): Promise<void> {
    try {
      await process.end({ graceMs: this.#options.killGraceMs });
    } catch {
      await process
        .end({ graceMs: 0 })
        .catch((error: unknown) => this.#options.onNews(`its processes could not all be ended: ${messageOf(error)}`));
    }
  }
}

/** @throws SettingsRefused when the working folder cannot be entered; or as `startProgram` */
async function startRun(options: StartProgram): Promise<TrackedProgram> {
  const { cwd } = options.command;
  const folder = await stat(cwd).catch((error: unknown) => {
    throw new SettingsRefused(`the working folder ${cwd} cannot be entered: ${messageOf(error)}`, { cause: error });
  });
  if (!folder.isDirectory()) throw new SettingsRefused(`the working folder ${cwd} is no folder`);
  return startProgram(options);
}
