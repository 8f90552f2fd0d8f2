/** What was found of an earlier run that was killed, in one line for people. */
import type { ReconciledProcessTree } from '../../actors/task/process-tree.ts';

/** Undefined when there is nothing to say: the work was gone already, or belongs to somebody who lives. */
export function reconciledText({ action, reason, taskId, pid, survivors }: ReconciledProcessTree): string | undefined {
  const what = `what ${taskId ?? 'a task'} of an earlier run left running${pid === undefined ? '' : ` (pid ${pid})`}`;
  if (action === 'killed') return `ended ${what}`;
  if (action === 'left' && reason === 'not_ended') return `could not end ${what}; still there: ${survivors.map((survivor) => survivor.pid).join(', ')}`;
  if (action === 'left' && reason === 'unreadable') return 'set a record of an earlier run aside that could not be read';
  return undefined;
}
