/** What is to be seen of the work of a session besides its log, for a command that tells it: as an inspector shows it. */
import { hostname } from 'node:os';
import { InspectedText } from '../actors/inspection/inspected-text.ts';
import { SessionOverviews } from '../actors/inspection/session-overview.ts';
import type { SessionOverviewsOptions } from '../actors/inspection/session-overview.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { createProcessTree } from '../adapters/process-tree/process-tree.ts';
import type { SessionState } from '../machines/session/session-state.ts';
import type { SessionWork } from '../machines/session/why-work.ts';
import { nodeFolderChanges } from './subagents.ts';

interface SessionWorkOptions extends Pick<SessionOverviewsOptions, 'sessions' | 'onProblem'> {
  readonly layout: HomeLayout;
  readonly clock: Parameters<typeof createProcessTree>[0]['clock'];
}

export function sessionWork({
  layout,
  clock,
  ...options
}: SessionWorkOptions): (state: SessionState) => Promise<SessionWork> {
  const overviews = new SessionOverviews({
    ...options,
    ...nodeFolderChanges(layout, 'elsewhere'),
    clock,
    text: new InspectedText(undefined),
    owner: `${hostname()}:${process.pid}`,
    processTree: createProcessTree({ clock }),
  });
  return (state) => overviews.workOf(state);
}
