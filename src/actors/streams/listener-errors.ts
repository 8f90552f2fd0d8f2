/**
 * Listeners are strangers: whatever they throw is caught, reported once here, and never reaches the runtime or the
 * other listeners.
 */
import { RuntimeError } from '../../machines/errors.ts';

/** Which kind of stranger threw. */
type ListenerSource = 'listener' | 'event_sink' | 'stream' | 'inspector' | 'clock';

/** Called for each error a listener throws. If it throws too, that is ignored. */
export type OnListenerError = (error: unknown, source: ListenerSource) => void;

export const reportToConsole: OnListenerError = (error, source) => {
  // What went wrong in the runtime's own work is told here too, and nothing that was passed in is at fault.
  const what = RuntimeError.is(error)
    ? 'the runtime goes on after an error'
    : `a function passed in as ${source.replace('_', ' ')} threw; the runtime goes on without its answer`;
  console.error(`[wakechart] ${what}:`, error);
};

/** The same reporter, made safe to call anywhere. */
export function safely(report: OnListenerError): OnListenerError {
  return (error, source) => {
    try {
      report(error, source);
    } catch {
      // There is no listener left to tell.
    }
  };
}
