/** One model step over HTTP: asks, reads the stream to its end, and throws when that was no answer. */
import type { Clock } from '../../actors/clock/clock.ts';
import type { AgentRunParams } from '../../actors/run/agent-runtime.ts';
import { IdleWatch } from '../../actors/run/idle-watch.ts';
import { untilAborted, within } from '../system/waiting.ts';
import { failureIn } from './answer-end.ts';
import type { Answer } from './answer.ts';
import type { Heard } from './event-lines.ts';
import type { ModelStream, ModelStreamPart } from './language-model.ts';
import { streamOf } from './language-model.ts';
import type { HttpInterface } from './load-models.ts';
import type { ProviderAccess } from './model-access.ts';
import { reachedModel } from './model-access.ts';
import { modelCall } from './model-call.ts';
import { StepFailure, streamedFailure } from './step-failure.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

// Events of a stream that the installed package does not know: providers add kinds of events, and say that clients
// should pass over them.

const ANTHROPIC_EVENTS: readonly string[] = [
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'ping',
  'error',
];

/**
 * Whether an error of the SDK only says that it does not know the kind of an event. One that it should know and cannot
 * read is not foreign.
 */
function isForeignEvent(error: unknown, api: HttpInterface): boolean {
  if (!(error instanceof Error) || error.name !== 'AI_TypeValidationError') return false;
  const { value } = error as Error & { readonly value?: unknown };
  if (typeof value !== 'object' || value === null) return false;
  if (api === 'anthropic')
    return 'type' in value && typeof value.type === 'string' && !ANTHROPIC_EVENTS.includes(value.type);
  return api === 'openai-chat' && !('choices' in value) && !('error' in value);
}

/** As long as the HTTP client of Node waits for a byte. */
const DEFAULT_IDLE_TIMEOUT_MS = 300_000;

/** For how many times that a provider may say nothing but that it lives. */
const LIMITS_OF_PINGS = 10;

/** How long a connection may stay open after the answer was complete, before it is cut. */
const DRAIN_LIMIT_MS = 1_000;

/** Why the step itself aborts, when all is said: whatever is still open has no reader. */
export const STEP_ENDED = Symbol('the step has ended');

export interface StepOptions {
  readonly params: AgentRunParams;
  readonly access: ProviderAccess;
  readonly answer: Answer;
  readonly clock: Clock;
  readonly files: WorkspaceFiles;
  readonly fetch: typeof globalThis.fetch;
  /**
   * Ends the step, and everything that it holds. The step itself aborts it too: with a StepFailure when the provider
   * falls silent.
   */
  readonly controller: AbortController;
}

/** @throws StepFailure, or whatever the SDK throws */
export async function takeStep(options: StepOptions): Promise<void> {
  const { params, access, answer, clock, controller } = options;
  const limitMs = access.settings.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS;
  const silence = new StepFailure({
    kind: 'timeout',
    message: `the provider "${params.provider}" said nothing for ${limitMs} ms`,
  });
  const onIdle = (): void => {
    // A connection that only stays open after the answer is not waited for much longer anyway.
    if (answer.finish === undefined) controller.abort(silence);
  };
  const watch = new IdleWatch({ clock, limitMs, onIdle });
  try {
    await untilAborted(readAnswer(options, listenerOf(watch, clock, limitMs)), controller.signal);
  } finally {
    watch.end();
    answer.close();
    controller.abort(STEP_ENDED);
  }
  const failure = failureIn(answer);
  if (failure !== undefined) throw failure;
}

/** Comments come from proxies in between; a ping comes from the provider, and is believed for a while. */
function listenerOf(watch: IdleWatch, clock: Clock, limitMs: number): (heard: Heard) => void {
  let lastSaidMs = clock.steadyNow();
  return (heard) => {
    if (heard === 'nothing') return;
    const nowMs = clock.steadyNow();
    if (heard === 'said') lastSaidMs = nowMs;
    if (nowMs - lastSaidMs < limitMs * LIMITS_OF_PINGS) watch.touch();
  };
}

async function readAnswer(
  { params, access, answer, clock, files, fetch, controller }: StepOptions,
  onHeard: (heard: Heard) => void,
): Promise<void> {
  const { api, settings } = access;
  const { signal } = controller;
  const call = await modelCall({ params, api, settings, files });
  const model = await reachedModel({ ...access, model: params.model, fetch, onHeard });
  signal.throwIfAborted();
  const { stream, response } = await streamOf(model, { ...call, abortSignal: signal });
  await readParts(stream, { answer, api, headers: response?.headers, clock, signal });
}

interface Reading {
  readonly answer: Answer;
  readonly api: HttpInterface;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

async function readParts(
  stream: ModelStream['stream'],
  { answer, api, headers, clock, signal }: Reading,
): Promise<void> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value: part } = await reader.read();
    if (done || signal.aborted) return;
    if (part.type === 'error' && !isForeignEvent(part.error, api))
      throw streamedFailure({ error: part.error, api, headers });
    answer.add(part);
    if (part.type === 'finish') return drained(reader, clock);
  }
}

/** Lets the connection come to its end, so that it can serve the next step. What comes now changes nothing. */
async function drained(reader: ReadableStreamDefaultReader<ModelStreamPart>, clock: Clock): Promise<void> {
  const rest = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  await within(
    rest().catch(() => undefined),
    DRAIN_LIMIT_MS,
    { clock },
  );
}
