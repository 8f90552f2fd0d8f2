/**
 * The work of one job, done by a session: it is made, told what to do, and woken until it rests for good. What it asks
 * is asked of the runner of the job; what is answered elsewhere counts as well, since the session's log decides.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { delegatedCalls } from '../../machines/session/session-activations.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { sessionTerminated, verdictOf } from '../../machines/subagent/session-verdict.ts';
import type { SessionVerdict } from '../../machines/subagent/session-verdict.ts';
import { continuesSession } from '../../machines/subagent/subagent-request.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import { askedRequests } from '../session/asked-requests.ts';
import type { AskedRequest } from '../session/asked-requests.ts';
import type { Sessions } from '../session/sessions.ts';
import { lastMessageOf } from '../session/subflow-session.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { WakeOptions } from '../wake/wake-ports.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import { waitFor } from '../clock/waiting.ts';
import { ensureJobSession } from './job-session.ts';
import type { JobSessionPorts } from './job-session.ts';
import { SessionRelay } from './session-relay.ts';
import type { SubagentJobResult, SubagentJobStart } from './subagent-runner.ts';

export interface SessionWorkPorts extends JobSessionPorts {
  readonly sessions: Sessions;
  readonly trigger: (sessionId: string, options: WakeOptions) => Promise<WakeOutcome>;
  /** Ends what tools keep running for a session beyond a call. */
  readonly closeSession?: ((sessionId: string) => Promise<void>) | undefined;
  readonly onListenerError: OnListenerError;
}

export class SessionWork {
  readonly #start: SubagentJobStart;
  readonly #sessionId: string;
  readonly #ports: SessionWorkPorts;
  readonly #relay: SessionRelay;
  /** Stops the wake, and whatever is waited for. */
  readonly #stop = new AbortController();
  /** By request: what was asked and has no answer. */
  #asked = new Map<string, AskedRequest>();
  /** Messages that are on their way into the log. */
  readonly #sending = new Set<Promise<unknown>>();
  #isOver = false;

  constructor(start: SubagentJobStart, sessionId: string, ports: SessionWorkPorts) {
    this.#start = start;
    this.#sessionId = sessionId;
    this.#ports = ports;
    this.#relay = new SessionRelay(start.jobId, start.emit);
  }

  /** To its end. @throws RuntimeError why it failed; with code SUBAGENT_STOPPED after `stop` */
  async run(): Promise<SubagentJobResult> {
    const { jobId, request } = this.#start;
    const sessionId = this.#sessionId;
    const { head } = await this.#unlessStopped(() => ensureJobSession({ jobId, sessionId, request }, this.#ports));
    const events = this.#ports.sessions.events(sessionId, { from: head, follow: true });
    const followed = this.#follow(events);
    try {
      const summary = await this.#wakeUntilDone();
      const { used } = await this.#ports.sessions.get(sessionId);
      const output = (await lastMessageOf(sessionId, this.#ports, head - 1)) ?? summary;
      return { jobId, output, metadata: { sessionId, summary, usage: used } };
    } catch (error) {
      if (this.#stop.signal.aborted) await this.#terminate();
      throw error;
    } finally {
      this.#isOver = true;
      events.end();
      await followed;
      await this.#ports
        .closeSession?.(sessionId)
        .catch((error: unknown) => this.#ports.onListenerError(error, 'listener'));
    }
  }

  /** Idempotent; the first reason stays. */
  stop(reason: string): void {
    this.#stop.abort(reason);
  }

  /**
   * Answers the question that the agent has asked, else is a message that it reads with its next step. @throws
   * RuntimeError SUBAGENT_ENDED
   */
  async send(prompt: string): Promise<void> {
    this.#assertOpen();
    const question = [...this.#asked.values()].find(({ kind }) => kind === 'answer');
    const { sessions } = this.#ports;
    await this.#sent(
      question === undefined
        ? sessions.send(this.#sessionId, { type: 'user.message', text: prompt }, { delivery: 'steer' })
        : sessions.send(question.sessionId, { type: 'user.answer', requestId: question.requestId, response: prompt }),
    );
  }

  /** @throws RuntimeError SUBAGENT_ENDED, REQUEST_NOT_PENDING, REQUEST_KIND_MISMATCH */
  async answer(requestId: string, allowed: boolean): Promise<void> {
    this.#assertOpen();
    const asked = this.#asked.get(requestId);
    if (asked === undefined)
      throw new RuntimeError(
        'REQUEST_NOT_PENDING',
        `job ${this.#start.jobId} waits for no answer to request ${requestId}`,
        { category: 'conflict', hint: 'It may have been answered already.' },
      );
    if (asked.kind !== 'permission') {
      throw new RuntimeError(
        'REQUEST_KIND_MISMATCH',
        `request ${requestId} is no request for permission but ${asked.kind === 'answer' ? 'a question' : 'a custom tool'}`,
        {
          category: 'validation',
          hint:
            asked.kind === 'answer'
              ? 'Send the answer as a prompt.'
              : `Send the result to its session: wakechart session custom-tool-result --session ${asked.sessionId} --request ${requestId}`,
        },
      );
    }
    await this.#sent(
      this.#ports.sessions.send(asked.sessionId, {
        type: 'user.tool_confirmation',
        requestId,
        toolName: asked.data.toolName,
        allowed,
      }),
    );
  }

  async #wakeUntilDone(): Promise<string> {
    for (;;) {
      const outcome = await this.#unlessStopped(() => this.#wake());
      const verdict = await this.#verdict(outcome);
      switch (verdict.kind) {
        case 'done':
          return verdict.summary;
        case 'failed':
          throw verdict.error;
        case 'waits':
          await this.#answers();
          break;
        case 'sleeps':
          await this.#sleep(verdict.untilMs);
          break;
        case 'goes_on':
      }
    }
  }

  async #wake(): Promise<WakeOutcome> {
    try {
      return await this.#ports.trigger(this.#sessionId, this.#wakeOptions());
    } catch (error) {
      if (!RuntimeError.is(error) || error.code !== 'SESSION_TERMINATED') throw error;
      throw sessionTerminated(await this.#ports.sessions.get(this.#sessionId));
    }
  }

  #wakeOptions(): WakeOptions {
    return { signal: this.#stop.signal, isHere: true, onRunEvent: this.#relay.run, onToolProgress: this.#relay.alive };
  }

  /** From then on nothing is accepted, if it is done: what came before is in the log. */
  async #verdict(outcome: WakeOutcome): Promise<SessionVerdict> {
    for (;;) {
      await Promise.allSettled(this.#sending);
      const state = await this.#unlessStopped(() => this.#ports.sessions.get(this.#sessionId));
      if (this.#sending.size > 0) continue;
      const verdict = verdictOf(state, outcome, this.#ports.clock.now());
      if (verdict.kind === 'done' || verdict.kind === 'failed') this.#isOver = true;
      return verdict;
    }
  }

  /** Asks what is to be asked, and resolves when something has changed in a log that matters. */
  async #answers(): Promise<void> {
    const state = await this.#ports.sessions.get(this.#sessionId);
    const changed = this.#changeOf(await this.#familyOf(state));
    try {
      await this.#ask();
      await this.#untilStopped(changed.promise);
    } finally {
      changed.end();
    }
  }

  async #ask(): Promise<void> {
    const { jobId: taskId, emit } = this.#start;
    const asked = new Map(
      (await askedRequests(this.#ports.sessions, this.#sessionId)).map((request) => [request.requestId, request]),
    );
    for (const requestId of this.#asked.keys())
      if (!asked.has(requestId)) emit({ type: 'background_task_permission_resolved', taskId, requestId });
    const fresh = [...asked.values()].filter(({ requestId }) => !this.#asked.has(requestId));
    this.#asked = asked;
    for (const request of fresh)
      emit({ type: 'background_task_permission_request', taskId, requestId: request.requestId, ...wordsOf(request) });
  }

  async #sleep(untilMs: number): Promise<void> {
    const { clock } = this.#ports;
    const { jobId: taskId, emit } = this.#start;
    const state = await this.#ports.sessions.get(this.#sessionId);
    const changed = this.#changeOf([state]);
    emit({ type: 'background_task_sleeping', taskId, nextFireAt: isoTimeOf(untilMs) });
    try {
      await this.#untilStopped(changed.promise, Math.max(0, untilMs - clock.now()));
    } finally {
      changed.end();
      emit({ type: 'background_task_waking', taskId });
    }
  }

  /** The session and the children that it waits for, however deep. */
  async #familyOf(state: SessionState): Promise<readonly SessionState[]> {
    const family = [state];
    for (const { request } of delegatedCalls(state)) {
      const child =
        request?.kind === 'subflow'
          ? await this.#ports.sessions.get(request.childSessionId).catch(() => undefined)
          : undefined;
      if (child !== undefined) family.push(...(await this.#familyOf(child)));
    }
    return family;
  }

  /** Resolves once one of the logs is longer than it is known to be. */
  #changeOf(states: readonly SessionState[]): { readonly promise: Promise<void>; end(): void } {
    const { store } = this.#ports;
    const unwatch: (() => void)[] = [];
    const promise = new Promise<void>((resolve, reject) => {
      for (const { sessionId, head } of states) {
        const check = (): void => void store.head(sessionId).then((now) => now > head && resolve(), reject);
        unwatch.push(store.watch(sessionId, check));
        check();
      }
    });
    promise.catch(() => undefined);
    return { promise, end: () => unwatch.forEach((each) => each()) };
  }

  async #follow(events: AsyncIterable<Parameters<SessionRelay['log']>[0]>): Promise<void> {
    try {
      for await (const event of events) this.#relay.log(event);
    } catch (error) {
      this.#ports.onListenerError(error, 'listener');
    }
  }

  /** No process that finds the session of stopped work goes on with it. */
  async #terminate(): Promise<void> {
    try {
      if (continuesSession(this.#start.request)) return await this.#interrupt();
      await this.#ports.sessions.terminate(this.#sessionId, {
        reason: beginningOf(messageOf(this.#stop.signal.reason), MAX_REASON_CHARACTERS),
      });
    } catch (error) {
      if (!RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND') this.#ports.onListenerError(error, 'listener');
    }
  }

  /** What was there before the job is not the job's to end: only what it began is cut short. */
  async #interrupt(): Promise<void> {
    await this.#ports.sessions.interrupt(this.#sessionId, {
      reason: beginningOf(messageOf(this.#stop.signal.reason), MAX_REASON_CHARACTERS),
    });
  }

  /** Work that comes to its end by itself, soon after it was told to stop: until then something of it runs. */
  async #unlessStopped<Value>(work: () => Promise<Value>): Promise<Value> {
    const { signal } = this.#stop;
    if (signal.aborted) throw this.#stopped();
    const value = await work();
    if (signal.aborted) throw this.#stopped();
    return value;
  }

  /** Waits for something that may never come. */
  async #untilStopped(awaited: Promise<void>, timeoutMs = Infinity): Promise<void> {
    const { signal } = this.#stop;
    if ((await waitFor(awaited, { clock: this.#ports.clock, timeoutMs, signal })) === 'over') await awaited;
    if (signal.aborted) throw this.#stopped();
  }

  #stopped(): RuntimeError {
    return new RuntimeError(
      'SUBAGENT_STOPPED',
      `job ${this.#start.jobId} was stopped: ${messageOf(this.#stop.signal.reason)}`,
      { category: 'runner' },
    );
  }

  async #sent(sending: Promise<unknown>): Promise<void> {
    const settled = sending.finally(() => this.#sending.delete(settled));
    this.#sending.add(settled);
    await settled;
  }

  #assertOpen(): void {
    if (!this.#isOver) return;
    throw new RuntimeError('SUBAGENT_ENDED', `job ${this.#start.jobId} has ended and takes nothing more`, {
      category: 'runner',
      hint: `Its session can still be sent to: wakechart session send --session ${this.#sessionId} --message TEXT`,
    });
  }
}

const MAX_REASON_CHARACTERS = 1_000;

function wordsOf(request: AskedRequest): { readonly toolName: string; readonly toolArgs: unknown } {
  switch (request.kind) {
    case 'permission':
      return { toolName: request.data.toolName, toolArgs: request.data.input };
    case 'answer':
      return { toolName: 'ask_human', toolArgs: { question: request.data.question, choices: request.data.choices } };
    case 'custom_tool':
      return { toolName: request.data.name, toolArgs: request.data.input };
  }
}
