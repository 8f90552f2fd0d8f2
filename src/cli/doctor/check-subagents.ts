/**
 * Checks the records of subagent jobs: which of them were cut off with their process, so that no session has been told
 * how they ended.
 */
import { messageOf } from '../../machines/errors.ts';
import type { FoundJobRecord, JobRecords } from '../../actors/subagent/job-records.ts';
import { note, problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface SubagentsCheck {
  readonly records: Pick<JobRecords, 'list'>;
  /** Where they lie. */
  readonly directory: string;
  /** Settles a job that was cut off. Rejects when it cannot be settled. */
  readonly settle: (jobId: string) => Promise<void>;
}

export async function checkSubagents({ records, directory, settle }: SubagentsCheck): Promise<RepairableFinding[]> {
  try {
    return (await records.list()).flatMap((found) => findingsOf(found, directory, settle));
  } catch (error) {
    return [
      problem({
        area: 'subagents',
        where: directory,
        what: `it is unknown what jobs there are: ${messageOf(error)}`,
        remedy: 'Check who owns it and its permissions.',
      }),
    ];
  }
}

function findingsOf(found: FoundJobRecord, directory: string, settle: SubagentsCheck['settle']): RepairableFinding[] {
  if (found.kind === 'unreadable') {
    return [
      problem({
        area: 'subagents',
        where: directory,
        what: `the record of job ${found.jobId} cannot be read: ${found.reason}`,
        remedy: 'Check what its worktree and its session hold, then move the record away.',
      }),
    ];
  }
  const { owner, record } = found;
  if (owner !== 'gone' || record.stage === 'ended') return [];
  const how =
    record.stage === 'ending'
      ? `ended as ${record.task.status}, and the session it worked for may not have heard of it`
      : 'was cut off when its process ended';
  return [
    note({
      area: 'subagents',
      where: record.jobId,
      what: `the job of agent ${record.task.agentType ?? record.task.label} ${how}`,
      remedy: 'The next start settles it, and says what it left.',
      repair: () => settle(record.jobId),
    }),
  ];
}
