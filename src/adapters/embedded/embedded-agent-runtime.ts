/**
 * The embedded backend: asks a model over HTTP, one step at a time, through the language models of the AI SDK.
 *
 * It keeps nothing between runs and retries nothing: what failed is told with its kind, and the caller decides. The
 * packages of the SDK are loaded with the first run that needs them.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import { ActiveRuns } from '../../actors/run/active-runs.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../actors/run/agent-runtime.ts';
import { RunEvents } from '../../actors/run/run-events.ts';
import type { OnListenerError } from '../../actors/streams/listener-errors.ts';
import { messageOf } from '../../machines/errors.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import { Answer } from './answer.ts';
import { usageIn } from './answer-end.ts';
import { providerAccess } from './model-access.ts';
import type { ProviderAccess } from './model-access.ts';
import { StepFailure, failureOf } from './step-failure.ts';
import { STEP_ENDED, takeStep } from './take-step.ts';
import { workspaceFiles } from './workspace-files.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

const EMBEDDED_RUNTIME_ID = 'embedded';

/**
 * What is shorter is a stand-in for servers that want no key, such as "ollama" or "not-needed": what the model says may
 * hold it as a word.
 */
const MIN_KEY_CHARACTERS = 12;

interface EmbeddedAgentRuntimeOptions {
  readonly clock: Clock;
  /** Default: `embedded`. */
  readonly id?: string | undefined;
  /** Where keys are searched for that no auth profile holds, read anew for each run. Default: that of this process. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Default: the file system. */
  readonly files?: WorkspaceFiles | undefined;
  /** Default: that of Node. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly onListenerError?: OnListenerError | undefined;
}

export function createEmbeddedAgentRuntime(options: EmbeddedAgentRuntimeOptions): AgentRuntime {
  const { clock, id = EMBEDDED_RUNTIME_ID, onListenerError } = options;
  const active = new ActiveRuns();
  return {
    id,
    runs: 'step',
    run: (params) => {
      const events = new RunEvents({ runId: params.runId, clock, onEvent: params.onEvent, onListenerError });
      return active.run(params, events, (controller) => runUntil(controller, params, events, options));
    },
    async abort(runId) {
      active.stop(runId);
    },
    isRunActive: (runId) => active.has(runId),
  };
}

/** Runs a step that ends when the controller says so. */
async function runUntil(
  controller: AbortController,
  params: AgentRunParams,
  events: RunEvents,
  options: EmbeddedAgentRuntimeOptions,
): Promise<AgentRunResult> {
  const { clock, environment = process.env, files = workspaceFiles, fetch = globalThis.fetch } = options;
  const access = accessOrFailure(params, environment);
  if (access instanceof StepFailure) return failed(events, access.failure);
  const redaction = redactionOf(access.key);
  const answer = new Answer({
    events,
    redaction: (access.key ?? '').length < MIN_KEY_CHARACTERS ? redactionOf() : redaction,
    provider: params.provider,
    model: params.model,
  });
  try {
    await takeStep({ params, access, answer, clock, files, fetch, controller });
    return answered(events, answer);
  } catch (thrown) {
    return failed(
      events,
      failureOf(stoppedBy(controller.signal) ?? thrown, {
        redact: (text) => redaction.text(text),
        now: clock.now(),
        provider: params.provider,
        baseUrl: access.baseUrl,
        keyVariable: access.keyVariable,
      }),
      answer,
    );
  }
}

function redactionOf(key = ''): SecretRedaction {
  return new SecretRedaction(new Map([['key', key]]), { mark: () => '[redacted]' });
}

/** What stopped it, apart from the step itself: the first to abort is the one that counts. */
function stoppedBy({ aborted, reason }: AbortSignal): StepFailure | undefined {
  if (!aborted || reason === STEP_ENDED || reason instanceof StepFailure) return undefined;
  return new StepFailure({ kind: 'aborted', message: messageOf(reason) });
}

function accessOrFailure(params: AgentRunParams, environment: NodeJS.ProcessEnv): ProviderAccess | StepFailure {
  try {
    return providerAccess(params, environment);
  } catch (thrown) {
    if (thrown instanceof StepFailure) return thrown;
    throw thrown;
  }
}

function answered(events: RunEvents, answer: Answer): AgentRunResult {
  const used = usageOf(answer);
  events.emit({ stream: 'lifecycle', data: { phase: 'end', ...used } });
  return { payloads: answer.payloads({ isPartial: false }), ...used, meta: { modelSteps: 1 } };
}

/** What was said until then is kept, and what was paid for is told. */
function failed(events: RunEvents, failure: RunFailure, answer?: Answer): AgentRunResult {
  events.fail(failure);
  return {
    payloads: answer?.payloads({ isPartial: true }) ?? [],
    ...(answer === undefined ? {} : usageOf(answer)),
    meta: { error: failure },
  };
}

function usageOf({ finish }: Answer): { readonly usage?: RunUsage } {
  const usage = finish === undefined ? undefined : usageIn(finish);
  return usage === undefined ? {} : { usage };
}
