/** The newest wakes, model steps and tool calls of a session, with how long each took. */
import type { SessionEvent } from '../session/session-event.ts';
import { oneLine, tableOf, tableRow, textArtifact } from './artifact.ts';
import type { Artifact } from './artifact.ts';
import { wordsOf } from './event-feed.ts';
import { shownInput } from './shown-input.ts';

export interface Trace {
  readonly kind: 'wake' | 'model_step' | 'compaction' | 'tool_call';
  readonly id: string;
  readonly name: string;
  /** The event by which it began. */
  readonly seq: number;
  /** ISO-8601. */
  readonly startedAt: string;
  readonly durationMs?: number | undefined;
  /** Absent while it runs. */
  readonly outcome?: string | undefined;
  readonly detail?: string | undefined;
}

export const MAX_TRACES = 100;

/** @returns the same list when the event is about none of them */
export function withTrace(traces: readonly Trace[], event: SessionEvent): readonly Trace[] {
  const trace = beginningIn(event);
  if (trace !== undefined) return begun(traces, trace);
  // What it waited before, for a person to allow it, is not its own time.
  if (event.type === 'agent.tool_started')
    return changed(traces, event.data.callId, (asked) => ({ ...asked, startedAt: event.at }));
  if (event.type === 'wake.ended') return ended(traces, event.data.wakeId, event, { outcome: event.data.outcome });
  if (event.type === 'agent.tool_result')
    return ended(traces, event.data.callId, event, { outcome: event.data.outcome });
  if (event.type !== 'span.completed') return traces;
  const { spanId, outcome, usage } = event.data;
  return ended(traces, spanId, event, { outcome, ...(usage === undefined ? {} : { detail: oneLine(wordsOf(usage)) }) });
}

function beginningIn(event: SessionEvent): Trace | undefined {
  const { seq, at: startedAt } = event;
  if (event.type === 'wake.started') {
    const { wakeId, epoch, trigger } = event.data;
    return { kind: 'wake', id: wakeId, name: `wake ${epoch}`, seq, startedAt, detail: trigger };
  }
  if (event.type === 'span.started') {
    const { kind, spanId, provider, model } = event.data;
    return { kind, id: spanId, name: `${provider}/${model}`, seq, startedAt };
  }
  if (event.type !== 'agent.tool_use') return undefined;
  const { callId, name, input } = event.data;
  return { kind: 'tool_call', id: callId, name, seq, startedAt, detail: oneLine(wordsOf(shownInput(name, input))) };
}

function begun(traces: readonly Trace[], trace: Trace): readonly Trace[] {
  return [...traces, trace].slice(-MAX_TRACES);
}

function ended(
  traces: readonly Trace[],
  id: string,
  { at }: SessionEvent,
  end: Pick<Trace, 'outcome' | 'detail'>,
): readonly Trace[] {
  return changed(traces, id, (trace) => ({
    ...trace,
    ...end,
    durationMs: Math.max(0, Date.parse(at) - Date.parse(trace.startedAt)),
  }));
}

function changed(traces: readonly Trace[], id: string, change: (trace: Trace) => Trace): readonly Trace[] {
  const index = traces.findLastIndex((trace) => trace.id === id);
  const trace = traces[index];
  return trace === undefined ? traces : traces.with(index, change(trace));
}

interface ShownTrace {
  readonly json: string;
  readonly row: string;
}

/** Each step lays all of them out, and few have changed. */
const shownTraces = new WeakMap<Trace, ShownTrace>();

function shownTrace(trace: Trace): ShownTrace {
  const known = shownTraces.get(trace);
  if (known !== undefined) return known;
  const { seq, kind, name, outcome, durationMs, detail } = trace;
  const shown = {
    json: `${JSON.stringify(trace)}\n`,
    row: tableRow([
      String(seq),
      kind.replace('_', ' '),
      name,
      outcome ?? 'running',
      durationMs === undefined ? '' : String(durationMs),
      detail ?? '',
    ]),
  };
  shownTraces.set(trace, shown);
  return shown;
}

export function traceArtifacts(traces: readonly Trace[]): readonly Artifact[] {
  const shown = traces.map(shownTrace);
  return [
    { name: 'traces.jsonl', text: shown.map(({ json }) => json).join('') },
    textArtifact(
      'traces',
      'Traces',
      `The newest ${traces.length}, oldest first.`,
      tableOf(
        ['event', 'what', 'name', 'outcome', 'milliseconds', 'detail'],
        shown.map(({ row }) => row),
      ),
    ),
  ];
}
