/** An environment in a few words. That nothing is shut in is always said. */
import type { SessionEventData } from '../../machines/session/session-event.ts';

type Entered = Pick<SessionEventData<'environment.entered'>, 'environmentId' | 'sandbox' | 'network'>;

export function environmentText({ environmentId, sandbox, network }: Entered): string {
  return sandbox === 'off' ? `${environmentId} (no sandbox)` : `${environmentId} (${sandbox}, ${network === 'open' ? 'with' : 'without'} network)`;
}
