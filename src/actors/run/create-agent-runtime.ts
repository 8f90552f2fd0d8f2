/**
 * A backend out of one function that says what the model says. Kept for it: which runs are active, their stops, their
 * events from start to end, what they have said so far, and failures as results. What a stop has to end outside, such
 * as a process, is the function's own.
 */
import { messageOf } from '../../machines/errors.ts';
import { checkBackendOptions, checkDirective } from '../../machines/run/backend-options.ts';
import { classifyRunFailure } from '../../machines/run/classify-failure.ts';
import type { AgentRunEventBody, OpaquePart, RunPayload, RunUsage } from '../../machines/run/run-output.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { DirectiveInput } from '../../machines/wake/directive.ts';
import type { Clock } from '../clock/clock.ts';
import { createSystemClock } from '../clock/system-clock.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { ActiveRuns } from './active-runs.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from './agent-runtime.ts';
import { RunEvents } from './run-events.ts';

/** What the function of a backend says, as it comes. Pieces of text that follow one another are one payload. */
export interface RunVoice {
  say(text: string): void;
  think(text: string, opaque?: OpaquePart): void;
  /** For steps: asks for a tool. `callId` is unique in the run. */
  call(call: { readonly callId: string; readonly name: string; readonly input: unknown }): void;
  /** Gives a directive of the backend's own as data. @throws RuntimeError DIRECTIVE_INVALID */
  direct(directive: DirectiveInput): void;
  /** Gives a directive that a model gave as data: one that is not valid means sleep, and is recorded. */
  relay(directive: unknown): void;
  /** Aborts when the run is to stop. The function then settles soon; what it has said is kept. */
  readonly signal: AbortSignal;
}

interface AgentRuntimeOptions {
  readonly id: string;
  /** Default: that of the system. */
  readonly clock?: Clock | undefined;
  readonly onListenerError?: OnListenerError | undefined;
  /**
   * One model step. What it returns is added to what it has said; a failure is returned as `meta.error`, and what it
   * throws is one too.
   */
  readonly answer: (params: AgentRunParams, voice: RunVoice) => Promise<RunEnding | void>;
}

export interface RunEnding {
  readonly usage?: RunUsage | undefined;
  readonly meta?: NonNullable<AgentRunResult['meta']> | undefined;
}

/** @throws RuntimeError AGENT_RUNTIME_INVALID */
export function createAgentRuntime(options: AgentRuntimeOptions): AgentRuntime {
  checkBackendOptions(options);
  const { id, clock = createSystemClock(), onListenerError, answer } = options;
  const active = new ActiveRuns();
  return {
    id,
    run: (params) => {
      const events = new RunEvents({ runId: params.runId, clock, onEvent: params.onEvent, onListenerError });
      return active.run(params, events, ({ signal }) => answered({ params, events, clock, signal, answer }));
    },
    async abort(runId) {
      active.stop(runId);
    },
    isRunActive: (runId) => active.has(runId),
  };
}

interface Answering extends Pick<AgentRuntimeOptions, 'answer'> {
  readonly params: AgentRunParams;
  readonly events: RunEvents;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

async function answered({ params, events, clock, signal, answer }: Answering): Promise<AgentRunResult> {
  const said: RunPayload[] = [];
  const ending = signal.aborted
    ? undefined
    : await settle(() => answer(params, voiceInto({ said, events, signal })), params, clock);
  const { usage, meta } = ending ?? {};
  // What is said from now on comes too late.
  const payloads = [...said];
  if (signal.aborted)
    return failed(
      events,
      payloads,
      { ...meta, error: { kind: 'aborted', message: messageOf(signal.reason) }, modelSteps: 0 },
      usage,
    );
  if (meta?.error !== undefined) return failed(events, payloads, meta, usage);
  events.emit({ stream: 'lifecycle', data: { phase: 'end', ...(usage === undefined ? {} : { usage }) } });
  return { payloads, ...(usage === undefined ? {} : { usage }), ...(meta === undefined ? {} : { meta }) };
}

async function settle(
  answer: () => Promise<RunEnding | void>,
  { credential }: AgentRunParams,
  clock: Clock,
): Promise<RunEnding | undefined> {
  try {
    return (await answer()) ?? undefined;
  } catch (thrown) {
    const { message, ...failure } = classifyRunFailure(thrown, { now: clock.now() });
    const redaction = new SecretRedaction(new Map([['secret', credential?.secret ?? '']]));
    return { meta: { error: { ...failure, message: redaction.text(message) } } };
  }
}

function failed(
  events: RunEvents,
  payloads: readonly RunPayload[],
  meta: NonNullable<AgentRunResult['meta']> & { readonly error?: RunFailure | undefined },
  usage?: RunUsage,
): AgentRunResult {
  if (meta.error !== undefined) events.fail(meta.error);
  return { payloads, ...(usage === undefined ? {} : { usage }), meta };
}

function voiceInto({
  said,
  events,
  signal,
}: {
  readonly said: RunPayload[];
  readonly events: RunEvents;
  readonly signal: AbortSignal;
}): RunVoice {
  const speak = (kind: 'text' | 'reasoning', text: string, opaque?: OpaquePart): void => {
    if (text === '' && opaque === undefined) return;
    const last = said.at(-1);
    const joined = last?.type === kind ? `${last.text}${text}` : text;
    if (last?.type === kind) said.pop();
    const signature = opaque ?? (last?.type === 'reasoning' ? last.opaque : undefined);
    said.push(
      kind === 'text'
        ? { type: kind, text: joined }
        : { type: kind, text: joined, ...(signature === undefined ? {} : { opaque: signature }) },
    );
    const body: AgentRunEventBody = { stream: 'assistant', data: { kind, text } };
    events.emit(body);
  };
  return {
    signal,
    say: (text) => speak('text', text),
    think: (text, opaque) => speak('reasoning', text, opaque),
    call(call) {
      said.push({ type: 'tool_call', ...call });
      events.emit({ stream: 'tool', data: { phase: 'requested', ...call } });
    },
    direct(directive) {
      checkDirective(directive);
      said.push({ type: 'directive', directive });
    },
    relay: (directive) => void said.push({ type: 'directive', directive }),
  };
}
