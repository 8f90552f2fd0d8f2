/**
 * The spans of the open wake of one session: the step that runs, its attempts, and the tools. They all end with the
 * wake.
 */
import type { SessionEvent, SessionEventData, SessionEventOf } from '../session/session-event.ts';
import { stepEnd, toolStatus, wakeEnd } from './span-endings.ts';
import type { WakeTotals } from './span-endings.ts';
import type { SpanContents } from './span-contents.ts';
import type { SpanAttributes, SpanEnd, SpanKind, SpanOperation, SpanStatus } from './span-operation.ts';
import { attemptAttributes, providerName, stepAttributes, toolAttributes, wakeAttributes } from './span-words.ts';

/** Tool calls of one wake of which something is remembered; a model asks for 64 at once at most. */
const MAX_CALLS = 1_000;

const UNSET: SpanStatus = { code: 'unset' };

interface OpenStep {
  readonly spanId: string;
  readonly at: string;
  readonly provider: string;
  readonly model: string;
  readonly texts: string[];
  attempt: { readonly number: number; readonly key: string } | undefined;
  attempts: number;
  waitedMs: number;
}

interface Call {
  readonly name: string;
  readonly usedAt: string;
  /** What is told of what it was given. */
  readonly given: SpanAttributes;
  readonly isBackends: boolean;
  readonly startedAt?: string | undefined;
  readonly attempt?: number | undefined;
  /** Of the span, while it is open. */
  readonly key?: string | undefined;
}

interface SpanSession {
  readonly sessionId: string;
  readonly agentId: string | undefined;
  readonly contents: SpanContents;
}

export class SessionSpans {
  readonly #session: SpanSession;
  /** Nothing when the wake began before tracing began. */
  readonly wakeId: string | undefined;
  readonly #calls = new Map<string, Call>();
  readonly #totals: WakeTotals = { inputTokens: 0, outputTokens: 0, cost: 0, provider: undefined };
  #step: OpenStep | undefined;

  constructor(session: SpanSession, wakeId: string | undefined) {
    this.#session = session;
    this.wakeId = wakeId;
  }

  begin({ data, at }: SessionEventOf<'wake.started'>): SpanOperation[] {
    const { sessionId, agentId } = this.#session;
    return [
      start('wake', {
        key: this.#key('wake', data.wakeId),
        name: named('invoke_agent', agentId),
        attributes: wakeAttributes(sessionId, agentId, data),
        at,
      }),
    ];
  }

  /** What an event of the wake does, besides its beginning and its end. */
  take(event: SessionEvent): SpanOperation[] {
    if (event.type === 'span.started') return this.#stepStarted(event);
    if (event.type === 'run.attempt_failed') return this.#attemptFailed(event);
    if (event.type === 'run.candidate_selected') return this.#candidateSelected(event);
    if (event.type === 'span.completed') return this.#stepEnded(event);
    if (event.type === 'agent.tool_started') return this.#toolStarted(event);
    if (event.type === 'agent.tool_requeued')
      return this.#toolEnded(event.data.callId, event.at, { 'error.type': 'lost' }, { code: 'error' });
    if (event.type === 'agent.tool_result') return this.#toolResult(event);
    if (event.type === 'run.waiting' && this.#step !== undefined) this.#step.waitedMs += event.data.waitMs;
    else if (event.type === 'agent.message') this.#session.contents.hold(this.#step?.texts ?? [], event.data.text);
    else if (event.type === 'agent.tool_use') this.#used(event);
    return [];
  }

  /** Ends the wake and whatever is open in it. */
  end(
    { at, data }: { readonly at: string; readonly data?: SessionEventData<'wake.ended'> | undefined },
    errorType?: string,
  ): SpanOperation[] {
    const open = [
      ...this.#closeStep(at),
      ...[...this.#calls].flatMap(([callId, { key }]) =>
        key === undefined ? [] : this.#toolEnded(callId, at, { 'wakechart.tool.outcome': 'unfinished' }, UNSET),
      ),
    ];
    this.#calls.clear();
    if (this.wakeId === undefined) return open;
    return [
      ...open,
      {
        do: 'end',
        key: this.#key('wake', this.wakeId),
        at,
        ...wakeEnd(data, { totals: this.#totals, errorType, contents: this.#session.contents }),
      },
    ];
  }

  #stepStarted({ data, at }: SessionEventOf<'span.started'>): SpanOperation[] {
    const closing = this.#closeStep(at);
    const { spanId, provider, model } = data;
    this.#step = { spanId, at, provider, model, texts: [], attempt: undefined, attempts: 1, waitedMs: 0 };
    const attributes = stepAttributes(this.#session.sessionId, data);
    return [
      ...closing,
      start('step', {
        key: this.#key('step', spanId),
        parentKey: this.#wakeKey(),
        name: named('chat', model),
        attributes,
        at,
      }),
    ];
  }

  /** The first attempt has begun with the step; that it was one of several is known only now. */
  #attemptFailed({ data, at }: SessionEventOf<'run.attempt_failed'>): SpanOperation[] {
    const step = this.#stepOf(data.spanId);
    if (step === undefined) return [];
    const begun =
      step.attempt === undefined
        ? this.#beginAttempt(step, {
            number: data.attempt,
            provider: data.candidate.provider,
            model: data.candidate.model,
            at: step.at,
          })
        : [];
    const attributes = { 'error.type': data.error.kind, 'wakechart.attempt.next': data.next };
    return [
      ...begun,
      ...this.#endAttempt(step, at, attributes, {
        code: 'error',
        message: this.#session.contents.message(data.error.message),
      }),
    ];
  }

  #candidateSelected({ data, at }: SessionEventOf<'run.candidate_selected'>): SpanOperation[] {
    const step = this.#stepOf(data.spanId);
    if (step === undefined) return [];
    const { provider, model } = data.candidate;
    this.#step = { ...step, provider, model, attempts: Math.max(step.attempts, data.attempt) };
    return [
      ...this.#endAttempt(step, at, {}, UNSET),
      ...this.#beginAttempt(this.#step, { number: data.attempt, provider, model, at }),
    ];
  }

  #beginAttempt(
    step: OpenStep,
    {
      number,
      provider,
      model,
      at,
    }: { readonly number: number; readonly provider: string; readonly model: string; readonly at: string },
  ): SpanOperation[] {
    const key = this.#key('attempt', `${step.spanId} ${number}`);
    step.attempt = { number, key };
    return [
      start('attempt', {
        key,
        parentKey: this.#key('step', step.spanId),
        name: `attempt ${model}`,
        attributes: attemptAttributes({ attempt: number, provider, model }),
        at,
      }),
    ];
  }

  #endAttempt(step: OpenStep, at: string, attributes: SpanAttributes, status: SpanStatus): SpanEnd[] {
    const { attempt } = step;
    step.attempt = undefined;
    return attempt === undefined ? [] : [{ do: 'end', key: attempt.key, attributes, status, at }];
  }

  #stepEnded({ data, at }: SessionEventOf<'span.completed'>): SpanOperation[] {
    const step = this.#stepOf(data.spanId);
    if (step === undefined) return [];
    const { inputTokens = 0, outputTokens = 0, cost = 0 } = data.usage ?? {};
    this.#totals.inputTokens += inputTokens;
    this.#totals.outputTokens += outputTokens;
    this.#totals.cost += cost;
    this.#totals.provider = providerName(step.provider);
    const ending = stepEnd(data, step, this.#session.contents);
    const attemptStatus: SpanStatus = ending.status.code === 'error' ? { code: 'error' } : UNSET;
    this.#step = undefined;
    return [
      ...this.#endAttempt(step, at, data.error === undefined ? {} : { 'error.type': data.error.kind }, attemptStatus),
      { do: 'end', key: this.#key('step', step.spanId), at, ...ending },
    ];
  }

  /** A step without an end. */
  #closeStep(at: string): SpanOperation[] {
    const step = this.#step;
    this.#step = undefined;
    if (step === undefined) return [];
    const lost = {
      attributes: { 'error.type': 'lost', 'wakechart.step.outcome': 'lost' },
      status: { code: 'error' } as const,
    };
    return [
      ...this.#endAttempt(step, at, { 'error.type': 'lost' }, { code: 'error' }),
      { do: 'end', key: this.#key('step', step.spanId), at, ...lost },
    ];
  }

  #used({ data: { callId, name, input, by }, at }: SessionEventOf<'agent.tool_use'>): void {
    if (this.#calls.get(callId)?.key !== undefined) return;
    const [oldest] = this.#calls.keys();
    // Of a call that is forgotten, its result tells what is told.
    if (this.#calls.size >= MAX_CALLS && oldest !== undefined && this.#calls.get(oldest)?.key === undefined)
      this.#calls.delete(oldest);
    if (this.#calls.size < MAX_CALLS)
      this.#calls.set(callId, {
        name,
        usedAt: at,
        given: this.#session.contents.attribute('gen_ai.tool.call.arguments', input),
        isBackends: by === 'backend',
      });
  }

  #toolStarted({ data: { callId, attempt }, at }: SessionEventOf<'agent.tool_started'>): SpanOperation[] {
    const call = this.#calls.get(callId);
    if (call?.key !== undefined) return [];
    if (call !== undefined && call.name !== '') return this.#beginTool(callId, { ...call, startedAt: at, attempt });
    // Asked for in another wake: its name comes with its result.
    if (this.#calls.size < MAX_CALLS)
      this.#calls.set(callId, { name: '', usedAt: at, given: {}, isBackends: false, startedAt: at, attempt });
    return [];
  }

  #beginTool(callId: string, call: Call): SpanOperation[] {
    const { name, startedAt = call.usedAt, attempt, isBackends } = call;
    const key = this.#key('tool', callId);
    this.#calls.set(callId, { ...call, key });
    const parentKey = isBackends && this.#step !== undefined ? this.#key('step', this.#step.spanId) : this.#wakeKey();
    const attributes = {
      ...toolAttributes(this.#session.sessionId, { callId, name, attempt, ranBy: isBackends ? 'backend' : undefined }),
      ...call.given,
    };
    return [start('tool', { key, parentKey, name: named('execute_tool', name), attributes, at: startedAt })];
  }

  #toolResult({ data: { callId, name, outcome, output }, at }: SessionEventOf<'agent.tool_result'>): SpanOperation[] {
    const call = this.#calls.get(callId);
    // What never began has taken no time, unless it is a backend that does not say when it began.
    const usedAt = call?.isBackends === true ? call.usedAt : at;
    const begins =
      call?.key === undefined ? this.#beginTool(callId, { given: {}, isBackends: false, ...call, name, usedAt }) : [];
    const attributes = {
      'wakechart.tool.outcome': outcome,
      ...this.#session.contents.attribute('gen_ai.tool.call.result', output),
    };
    const { errorType, status } = toolStatus(outcome);
    const ends = this.#toolEnded(
      callId,
      at,
      { ...attributes, ...(errorType === undefined ? {} : { 'error.type': errorType }) },
      status,
    );
    this.#calls.delete(callId);
    return [...begins, ...ends];
  }

  #toolEnded(callId: string, at: string, attributes: SpanAttributes, status: SpanStatus): SpanOperation[] {
    const call = this.#calls.get(callId);
    if (call?.key === undefined) return [];
    const { key, startedAt: _over, ...rest } = call;
    this.#calls.set(callId, rest);
    return [{ do: 'end', key, attributes, status, at }];
  }

  #stepOf(spanId: string): OpenStep | undefined {
    return this.#step?.spanId === spanId ? this.#step : undefined;
  }

  #wakeKey(): string | undefined {
    return this.wakeId === undefined ? undefined : this.#key('wake', this.wakeId);
  }

  #key(kind: SpanKind, id: string): string {
    return `${kind} ${this.#session.sessionId} ${id}`;
  }
}

function start(
  kind: SpanKind,
  rest: {
    readonly key: string;
    readonly parentKey?: string | undefined;
    readonly name: string;
    readonly attributes: SpanAttributes;
    readonly at: string;
  },
): SpanOperation {
  return { do: 'start', kind, ...rest };
}

function named(operation: string, of: string | undefined): string {
  return of === undefined ? operation : `${operation} ${of}`;
}
