/** Tells what a worker lacks, so that it leaves sessions to others: where nothing else does, none would know. */
import type { SessionWorker } from '../actors/session/session-worker.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import { RuntimeError } from '../machines/errors.ts';
import { WAKE_ELSEWHERE } from '../machines/workspace-copy/copy-state.ts';

/** Each lack once: its sessions come again and again. */
export function tellLacks(worker: Pick<SessionWorker, 'events$'>, report: OnListenerError = toConsole): void {
  const told = new Set<unknown>();
  worker.events$.subscribe((event) => {
    if (event.type !== 'contended' || event.reason?.code !== WAKE_ELSEWHERE) return;
    const { message, hint, details } = event.reason;
    const lacks = details?.['lacks'];
    if (told.has(lacks)) return;
    told.add(lacks);
    report(new RuntimeError(WAKE_ELSEWHERE, message, { category: 'conflict', hint, details }), 'listener');
  });
}

function toConsole(error: unknown): void {
  const { message, hint = '' } = error as RuntimeError;
  console.warn(`[wakechart] ${message}. ${hint}`);
}
