/** Where the things of a session lie, for people who want to check them. */
import type { SessionPlace } from '../actors/session/session-directories.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';

export interface SessionPlaces {
  /** The append-only log. */
  readonly log: string;
  /** The folder the agent works in. */
  readonly workspace: string;
}

export function placesOf(layout: HomeLayout, session: SessionPlace): SessionPlaces {
  return { log: layout.log(session), workspace: session.workspace ?? layout.ownWorkspace(session) };
}
