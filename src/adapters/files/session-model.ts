/**
 * The model that a session was made with, as its view says: enough for a caller that starts something for it before its
 * log is opened.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { VIEW_FILE } from './layout.ts';
import type { HomeLayout } from './layout.ts';

const view = z.object({ state: z.object({ narrowing: z.object({ model: z.string() }) }) });

/**
 * Undefined where no model was asked for, and for a session that is not there, or whose view cannot be read: it can be
 * made again.
 */
export async function modelOfSession(layout: HomeLayout, session: SessionIdentity): Promise<string | undefined> {
  try {
    return view.safeParse(JSON.parse(await readFile(join(layout.session(session), VIEW_FILE), 'utf8'))).data?.state
      .narrowing.model;
  } catch {
    return undefined;
  }
}
