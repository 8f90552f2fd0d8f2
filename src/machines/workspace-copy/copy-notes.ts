/** What a session is told when its workspace has come to another machine. */
import type { SessionEventData } from '../session/session-event.ts';

/** For the model that goes on with it, in words. */
export function restoredText({
  from,
  host,
  copyEpoch,
  mayHaveLost,
  setAside,
}: SessionEventData<'workspace.restored'>): string {
  return [
    `This session goes on on another machine (${host}${from === undefined ? '' : `, before it was on ${from}`}).`,
    copyEpoch === undefined
      ? 'No copy of its folder had been made.'
      : `Its folder was laid out again from the copy made at the end of wake ${copyEpoch}.`,
    ...(mayHaveLost
      ? [
          `What was changed in it since is not here${from === undefined ? '' : ` and stays on ${from}`}: check before you rely on it.`,
        ]
      : []),
    ...(setAside === undefined
      ? []
      : ['What lay here before and was in no copy was put aside for the owner of this machine.']),
    'Processes and shells that were started there do not run here, and absolute paths may be others.',
  ].join(' ');
}
