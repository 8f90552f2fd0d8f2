/** Where the things of a session lie, for people who want to look at them. */
import { join } from 'node:path';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { WORKSPACE_FOLDER } from '../files/layout.ts';
import type { HomeLayout } from '../files/layout.ts';

export interface SessionPlaces {
  /** The append-only log. */
  readonly log: string;
  /** The folder the agent works in. */
  readonly workspace: string;
}

export function placesOf(layout: HomeLayout, identity: SessionIdentity): SessionPlaces {
  return { log: layout.log(identity), workspace: join(layout.session(identity), WORKSPACE_FOLDER) };
}
