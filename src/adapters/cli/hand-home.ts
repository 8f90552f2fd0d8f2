/** Where the folder of a session is at home, as commands say it. */
import type { HandStandings } from '../../actors/hand/hand-copies.ts';
import { printable } from './text.ts';

/** The machine that has the folder of a session. */
export interface HandHome {
  readonly host: string;
  /** Why no other machine wakes it. Absent: any does. */
  readonly bound?: string | undefined;
  /** The wake that the newest copy of the folder was made by, if there is one. */
  readonly copyOfWake?: number | undefined;
}

/** Undefined where no other machine shares the store, nobody has woken it yet, or somebody has let it go. */
export async function homeOf(sessionId: string, hands: Pick<HandStandings, 'latest'> | undefined): Promise<HandHome | undefined> {
  const { host, bound, copy } = (await hands?.latest(sessionId)) ?? {};
  return host === undefined ? undefined : { host: host.name, ...(bound === undefined ? {} : { bound }), ...(copy === undefined ? {} : { copyOfWake: copy.epoch }) };
}

export function homeText({ host, bound, copyOfWake }: HandHome): string {
  if (bound !== undefined) return printable(`Its folder is on ${host}, and no other machine wakes it: ${bound}.`);
  return printable(`Its folder is on ${host}${copyOfWake === undefined ? ', and there is no copy of it yet' : `; the newest copy is that of wake ${copyOfWake}`}.`);
}
