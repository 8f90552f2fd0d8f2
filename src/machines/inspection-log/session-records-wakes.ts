/** The wakes of a stored session as actors of their chart, as far as their events show which way they went; how they ended always. */
import { describeChart } from '../inspection/describe-chart.ts';
import { meaningOf } from '../inspection/log-sightings-walk.ts';
import type { EventMeanings } from '../inspection/log-sightings-walk.ts';
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { wakeEvents } from '../wake/wake-events.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import type { ClaimAnswer, CommitAnswer, FoldAnswer, StepAnswer, WakeInput } from '../wake/wake-machine.ts';
import { ToldLife, lazilyExplored } from './session-record-writer.ts';
import type { SessionRecordWriter } from './session-record-writer.ts';

export class WakeRecords {
  readonly #writer: SessionRecordWriter;
  readonly #session: string;
  readonly #machine = lazilyExplored(wakeMachine);
  readonly #callsOfBackends = new Set<string>();
  #life: ToldLife | undefined;
  /** Whether a model step is under way: what happens meanwhile is part of it. */
  #isInStep = false;
  #hasAskedForTools = false;

  readonly #means: EventMeanings = {
    'wake.ended': (data) => this.#end(data),
    'span.started': ({ kind }) => this.#beginStep(kind),
    'span.completed': () => {
      this.#isInStep = false;
    },
    'agent.tool_use': ({ by, callId }) => {
      if (by === undefined) this.#hasAskedForTools = true;
      else this.#callsOfBackends.add(callId);
    },
    // A call that nobody knows the end of, or that was taken back, may have been closed with the beginning of the wake.
    'agent.tool_result': ({ outcome, callId }) => (outcome === 'unknown' || outcome === 'cancelled' ? undefined : this.#callTools(callId)),
    'agent.tool_started': ({ callId }) => this.#callTools(callId),
    'agent.subflow_started': ({ callId }) => this.#callTools(callId),
    'agent.question_asked': ({ callId }) => this.#callTools(callId),
    'permission.requested': ({ callId }) => this.#callTools(callId),
    'agent.custom_tool_use': ({ callId }) => (callId === undefined ? undefined : this.#callTools(callId)),
  };

  constructor(writer: SessionRecordWriter, session: string) {
    this.#writer = writer;
    this.#session = session;
  }

  /** The key of the wake that runs, as far as the log tells. */
  get open(): string | undefined {
    return this.#life?.key;
  }

  see(event: SessionEvent): void {
    if (event.type === 'wake.started') this.#begin(event.sessionId, event.data);
    else meaningOf(this.#means, event)?.(event.data);
  }

  #begin(sessionId: string, { wakeId, trigger }: SessionEventData<'wake.started'>): void {
    // Another one begins only when the one before is over, though the log does not say how.
    this.#life?.end('stopped');
    const input = { sessionId, wakeId } satisfies WakeInput;
    const chart = (): ReturnType<typeof describeChart> => describeChart(wakeMachine, { events: wakeEvents });
    this.#life = new ToldLife(this.#writer, { chart, machine: this.#machine(), input, parent: this.#session, id: wakeId, facts: { label: trigger, wakeId } });
    this.#isInStep = false;
    this.#hasAskedForTools = false;
    this.#callsOfBackends.clear();
    this.#life.done('claim', 'claimed' satisfies ClaimAnswer);
  }

  #beginStep(kind: SessionEventData<'span.started'>['kind']): void {
    this.#backToFolding();
    const life = this.#life;
    if (life?.state === 'folding') life.done('fold', 'step' satisfies FoldAnswer);
    // A summary is written on the way to the step.
    if (kind === 'compaction' || life?.state !== 'assembling') return;
    life.done('assemble');
    this.#isInStep = true;
    this.#hasAskedForTools = false;
  }

  #callTools(callId: string): void {
    const life = this.#life;
    if (life === undefined || this.#isInStep || this.#callsOfBackends.has(callId)) return;
    if (life.state === 'folding') life.done('fold', 'call_tools' satisfies FoldAnswer);
    if (life.state === 'running.stepping') life.done('step', 'call_tools' satisfies StepAnswer);
  }

  /** Nothing says that a part is over but what comes after it. */
  #backToFolding(): void {
    const life = this.#life;
    if (life?.state === 'running.calling') life.done('callTools');
    if (life?.state === 'running.stepping') life.done('step', 'fold' satisfies StepAnswer);
  }

  #end({ wakeId: _wakeId, outcome, summary }: SessionEventData<'wake.ended'>): void {
    const life = this.#life;
    this.#life = undefined;
    if (life === undefined) return;
    const output = { outcome, summary };
    // Another wake wrote the end of one that was lost: where it was then, nobody knows.
    if (outcome === 'lost') return life.end('stopped', { output });
    if (this.#isEndTold(life, outcome)) {
      if (life.state === 'running.calling') life.done('callTools');
      if (life.state === 'running.stepping') life.done('step', 'fold' satisfies StepAnswer);
      life.done('fold', 'end' satisfies FoldAnswer);
      life.done('commit', 'committed' satisfies CommitAnswer);
      life.done('release');
    }
    life.end('done', { value: 'ended', output });
  }

  /** One that failed may have got to its end from anywhere, and so may one that asked for tools which nothing tells of. */
  #isEndTold(life: ToldLife, outcome: SessionEventData<'wake.ended'>['outcome']): boolean {
    return outcome !== 'failed' && !this.#isInStep && !(life.state === 'running.stepping' && this.#hasAskedForTools);
  }
}
