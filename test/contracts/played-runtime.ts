/**
 * A backend that plays what the name of its model says, as steps or as turns with tools and sessions of its own: all
 * that the contract of backends checks.
 */
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import type {
  AgentRunParams,
  AgentRunResult,
  AgentRuntime,
  RunPermissionAnswer,
} from '../../src/actors/run/agent-runtime.ts';
import { RunEvents } from '../../src/actors/run/run-events.ts';
import type { AgentRunEventBody, BackendToolOutcome, RunPayload } from '../../src/machines/run/run-output.ts';
import type { RunFailureKind } from '../../src/machines/run/run-failure.ts';
import type {
  AgentRuntimeContractOptions,
  AgentRuntimeUnderTest,
  ContractToolUse,
  RunSetting,
} from '../../src/testing/agent-runtime-contract-subject.ts';

type Beat =
  | { readonly do: 'say' | 'think'; readonly text: string }
  | { readonly do: 'tell'; readonly text: string }
  | { readonly do: 'hang' }
  | { readonly do: 'listen' }
  | { readonly do: 'fail'; readonly kind: RunFailureKind }
  | { readonly do: 'ask'; readonly uses: readonly ContractToolUse[] }
  | { readonly do: 'use'; readonly use: ContractToolUse; readonly isAsked: boolean; readonly hangs: boolean };

interface Active {
  readonly controller: AbortController;
  readonly queued: string[];
  wakeUp: () => void;
}

export class PlayedRuntime implements AgentRuntime {
  readonly id = 'played';
  readonly runs: 'step' | 'turn';
  readonly sessions = new Map<string, unknown>();
  heard = '';
  readonly #active = new Map<string, Active>();
  #made = 0;

  constructor(runs: 'step' | 'turn') {
    this.runs = runs;
  }

  async run(params: AgentRunParams): Promise<AgentRunResult> {
    const { runId, provider, model, onEvent, abortSignal } = params;
    const events = new RunEvents({ runId, clock: createSystemClock(), onEvent, onListenerError: () => undefined });
    const isTaken = this.#active.has(runId);
    const active: Active = { controller: new AbortController(), queued: [], wakeUp: () => undefined };
    if (!isTaken) this.#active.set(runId, active);
    events.emit({ stream: 'lifecycle', data: { phase: 'start', provider, model } });
    const play = new Play(params, events, active);
    if (isTaken) return play.fail('coordination', `the run ${runId} is active`);
    abortSignal?.addEventListener('abort', () => active.controller.abort());
    if (abortSignal?.aborted === true) active.controller.abort();
    await new Promise((resolve) => setImmediate(resolve));
    const session = this.#session(params);
    try {
      const result = await play.play();
      return this.runs === 'turn' ? { ...result, meta: { ...result.meta, ...session } } : result;
    } finally {
      this.#active.delete(runId);
    }
  }

  abort(runId: string): Promise<void> {
    this.#active.get(runId)?.controller.abort();
    return Promise.resolve();
  }

  isRunActive(runId: string): boolean {
    return this.#active.has(runId);
  }

  queueMessage(runId: string, message: string): Promise<boolean> {
    const active = this.#active.get(runId);
    active?.queued.push(message);
    active?.wakeUp();
    return Promise.resolve(active !== undefined);
  }

  #session({ instructions, messages, prompt, resume }: AgentRunParams): {
    readonly sessionId: string;
    readonly reseeded?: string;
  } {
    const isKept = resume !== undefined && this.sessions.has(resume.sessionId);
    this.heard = JSON.stringify([instructions, isKept ? resume.newMessages : (messages ?? prompt)]);
    if (isKept) return { sessionId: resume.sessionId };
    this.#made += 1;
    const sessionId = `session-${this.#made}`;
    this.sessions.set(sessionId, true);
    return resume === undefined ? { sessionId } : { sessionId, reseeded: `The session ${resume.sessionId} is gone.` };
  }
}

/** One run. */
class Play {
  readonly #params: AgentRunParams;
  readonly #events: RunEvents;
  readonly #active: Active;
  readonly #payloads: RunPayload[] = [];
  #calls = 0;

  constructor(params: AgentRunParams, events: RunEvents, active: Active) {
    this.#params = params;
    this.#events = events;
    this.#active = active;
  }

  async play(): Promise<AgentRunResult> {
    for (const beat of JSON.parse(this.#params.model) as Beat[]) {
      if (this.#signal.aborted) break;
      if (beat.do === 'fail') return this.fail(beat.kind, 'It failed.');
      if (beat.do === 'tell') return this.fail('auth', `the key ${this.#redacted(atob(beat.text))} was refused`);
      await this.#beat(beat);
    }
    if (this.#signal.aborted) return this.fail('aborted', 'It was stopped.');
    const usage = { inputTokens: 1 };
    this.#events.emit({ stream: 'lifecycle', data: { phase: 'end', usage } });
    return { payloads: this.#payloads, usage };
  }

  fail(kind: RunFailureKind, message: string): AgentRunResult {
    const error = { kind, message };
    if (kind === 'aborted') this.#events.emit({ stream: 'lifecycle', data: { phase: 'aborted', reason: message } });
    else this.#events.emit({ stream: 'lifecycle', data: { phase: 'error', error } });
    return { payloads: this.#payloads, meta: { error } };
  }

  #redacted(text: string): string {
    return text === this.#params.credential?.secret ? '[secret]' : text;
  }

  get #signal(): AbortSignal {
    return this.#active.controller.signal;
  }

  async #beat(beat: Exclude<Beat, { do: 'fail' } | { do: 'tell' }>): Promise<void> {
    if (beat.do === 'hang') await this.#stopped();
    else if (beat.do === 'listen') this.#speak('text', ` Heard: ${await this.#message()}`);
    else if (beat.do === 'ask') for (const use of beat.uses) this.#ask(use);
    else if (beat.do === 'use') await this.#use(beat);
    else this.#speak(beat.do === 'say' ? 'text' : 'reasoning', beat.text);
  }

  #speak(kind: 'text' | 'reasoning', text: string): void {
    this.#payloads.push({ type: kind, text });
    const half = Math.floor(text.length / 2);
    for (const piece of [text.slice(0, half), text.slice(half)])
      this.#events.emit({ stream: 'assistant', data: { kind, text: piece } });
  }

  #ask(use: ContractToolUse): void {
    const call = { callId: this.#newId(), ...use };
    this.#payloads.push({ type: 'tool_call', ...call });
    this.#events.emit({ stream: 'tool', data: { phase: 'requested', ...call } });
  }

  async #use({ use, isAsked, hangs }: Extract<Beat, { do: 'use' }>): Promise<void> {
    const callId = this.#newId();
    const tell = (data: Extract<AgentRunEventBody, { stream: 'tool' }>['data']): void =>
      this.#events.emit({ stream: 'tool', data } as AgentRunEventBody);
    const end = (outcome: BackendToolOutcome): void => tell({ phase: 'ended', callId, outcome, output: null });
    tell({ phase: 'requested', callId, ...use });
    const answer: RunPermissionAnswer | undefined = isAsked
      ? await this.#params.requestPermission?.({ callId, ...use }).catch(() => undefined)
      : { decision: 'allow' };
    if (this.#signal.aborted) return end('cancelled');
    if (answer?.decision !== 'allow') return end('denied');
    tell({ phase: 'started', callId });
    if (hangs) await this.#stopped();
    end(hangs ? 'cancelled' : 'completed');
  }

  #newId(): string {
    this.#calls += 1;
    return `call_${this.#calls}`;
  }

  #stopped(): Promise<void> {
    return new Promise((resolve) => this.#signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  #message(): Promise<string> {
    return new Promise((resolve) => {
      this.#active.wakeUp = () => resolve(this.#active.queued.join());
      this.#signal.addEventListener('abort', () => resolve(''), { once: true });
    });
  }
}

const playing = (...beats: Beat[]): Promise<Partial<RunSetting>> => Promise.resolve({ model: JSON.stringify(beats) });
const using = (uses: readonly ContractToolUse[], isAsked: boolean): Beat[] =>
  uses.map((use) => ({ do: 'use', use, isAsked, hangs: false }));

export const PLAYED_OPTIONS = {
  step: { runs: 'step', failures: ['rate_limit', 'auth'], cannot: {} },
  turn: { runs: 'turn', failures: ['overloaded'], cannot: {} },
} as const satisfies Record<string, AgentRuntimeContractOptions>;

/** What is not as it should be, given the sound backend. */
export type Flaw = (sound: PlayedRuntime) => Partial<AgentRuntime>;

export async function openPlayed(
  runs: 'step' | 'turn',
  flaw: Flaw = () => ({}),
  left: readonly string[] = [],
): Promise<AgentRuntimeUnderTest> {
  const sound = new PlayedRuntime(runs);
  const { id } = sound;
  const runtime: AgentRuntime = {
    id,
    runs,
    run: (params) => sound.run(params),
    abort: (runId) => sound.abort(runId),
    isRunActive: (runId) => sound.isRunActive(runId),
    queueMessage: (runId, message) => sound.queueMessage(runId, message),
    ...flaw(sound),
  };
  return {
    runtime,
    setting: {
      sessionId: 's',
      provider: 'played',
      model: '[]',
      config: {},
      workspaceDir: '/',
      agentDir: '/',
      modelStepsTaken: 0,
    },
    situations: {
      answers: (text) => playing({ do: 'say', text }),
      reasons: (reasoning, text) => playing({ do: 'think', text: reasoning }, { do: 'say', text }),
      fails: (kind) => playing({ do: 'fail', kind }),
      tells: (secret) => playing({ do: 'tell', text: btoa(secret) }),
      hangs: () => playing({ do: 'hang' }),
      hangsAfter: (text) => playing({ do: 'say', text }, { do: 'hang' }),
      awaitsMessage: (text) => playing({ do: 'say', text }, { do: 'listen' }),
      asksForTools: (text, uses) => playing({ do: 'say', text }, { do: 'ask', uses }),
      usesTools: (uses, text) => playing(...using(uses, false), { do: 'say', text }),
      usesToolsIfAllowed: (uses, text) => playing(...using(uses, true), { do: 'say', text }),
      hangsInTool: (use) => playing({ do: 'use', use, isAsked: false, hangs: true }),
      losesSession: (sessionId) => Promise.resolve(void sound.sessions.delete(sessionId)),
      heard: () => Promise.resolve(sound.heard),
    },
    leftBehind: () => Promise.resolve(left),
    close: () => Promise.resolve(),
  };
}
