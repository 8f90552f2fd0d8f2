/**
 * Listeners are strangers: whatever they throw is caught, reported once here, and never reaches the runtime or the
 * other listeners.
 */

/** Which kind of stranger threw. */
type ListenerSource = 'listener' | 'event_sink' | 'stream' | 'inspector' | 'clock';

/** Called for each error a listener throws. If it throws too, that is ignored. */
export type OnListenerError = (error: unknown, source: ListenerSource) => void;

export const reportToConsole: OnListenerError = (error, source) => {
  console.error(
    `[wakechart] a function passed in as ${source.replace('_', ' ')} threw; the runtime goes on without its answer:`,
    error,
  );
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
