/** What may be sent to the chart of a worktree, and who sends it. */
import { chartEvents } from '../inspection/chart-events.ts';

/** A subagent job, or the wake whose subflow works in it. */
const who = 'its maker';
const reconciling = 'a later process that finds its record';

export const worktreeEvents = chartEvents({
  commands: {
    CREATE: { says: 'A worktree is to be made; its record is on the disk before git is asked.', from: who },
    INSPECT: {
      says: 'No agent works in it any more: it is to be asked whether anything in it could be lost.',
      from: `${who}; ${reconciling}; a person, with \`wakechart worktree remove\``,
    },
    ADOPT: {
      says: 'A person or a wake goes on with what was left in it.',
      from: 'a person, with `wakechart worktree adopt`; the wake whose subflow goes on in it',
    },
  },
  facts: {
    CREATED: { says: 'Git has made the folder and the branch.', from: who },
    CREATE_FAILED: { says: 'It could not be made, and nothing of it is left.', from: who },
    CREATE_UNKNOWN: { says: 'It could not be made, and something of it may be left.', from: who },
    CLEAN: { says: 'Everything in it is elsewhere too, or can be made again.', from: 'the process that inspects it' },
    DIRTY: {
      says: 'Something in it would be lost, or the check could not tell.',
      from: 'the process that inspects it',
    },
    REMOVED: { says: 'Folder, branch and record are gone.', from: 'the process that removes it' },
    REMOVE_FAILED: { says: 'Git refused to remove it, or could not.', from: 'the process that removes it' },
    OWNER_LOST: { says: 'Its maker is gone and has not said in which state it left it.', from: reconciling },
  },
});
