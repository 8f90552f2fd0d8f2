/** How to open again what a candidate points to: calls of tools, the most telling first. */
import type { RetrievalDocument } from './retrieval-document.ts';

export interface PlannedCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Events that are read before the one that was found, and in all. */
const EVENTS_BEFORE = 3;
const EVENTS_READ = 12;

const MEMORY_PATH = '/workspace/agent/MEMORY.md';
const LEARNINGS_PATH = '/memory/learnings/learnings.md';

export function expansionPlan({ kind, sessionId, seqs, callId, path }: RetrievalDocument): readonly PlannedCall[] {
  const calls: PlannedCall[] = [];
  const [seq] = seqs;
  if (sessionId !== undefined && seq !== undefined) {
    if (callId !== undefined) calls.push({ tool: 'session_get_trace', input: { sessionId, callId, nearSeq: seq } });
    calls.push({
      tool: 'session_get_events',
      input: { sessionId, from: Math.max(1, seq - EVENTS_BEFORE), limit: EVENTS_READ },
    });
    if (kind === 'checkpoint') calls.push({ tool: 'session_get_snapshot', input: { sessionId } });
  }
  if (kind === 'memory') calls.push({ tool: 'read', input: { path: path ?? MEMORY_PATH } });
  if (kind === 'learning') calls.push({ tool: 'read', input: { path: path ?? LEARNINGS_PATH } });
  return calls;
}
