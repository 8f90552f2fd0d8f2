/** The inspector's server: what it is given and what it gives. Nothing of it is loaded before it is asked for. */
import type { InspectorOptions } from './inspector-options.ts';
import type { InspectorServer } from './inspector-server.ts';

/**
 * Starts listening.
 * @throws RuntimeError INSPECTOR_OPTIONS_INVALID, INSPECTOR_PORT_TAKEN, INSPECTOR_CANNOT_LISTEN
 */
export async function startInspector(options: InspectorOptions): Promise<InspectorServer> {
  return (await import('./inspector-server.ts')).listen(options);
}
