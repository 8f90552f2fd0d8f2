/** What has to hold once jobs have ended, however they ended: whoever finds it otherwise says so in words. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SubagentJobState } from '../../../src/machines/subagent/subagent-job.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { processesLeft } from '../../setup/processes-left.ts';
import { git } from '../../adapters/git/git-setup.ts';
import type { JobSetup } from './job-setup.ts';
import { tracesOf } from './job-setup.ts';
import type { KindOfWork } from './kinds-of-work.ts';

const CLI = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

export interface EndedWork {
  readonly jobId: string;
  readonly kind: KindOfWork;
  /** Whether it came to do its work. Default true. */
  readonly isDone?: boolean | undefined;
}

export interface Expectation {
  readonly status: SubagentJobState['status'] | readonly SubagentJobState['status'][];
  readonly timeoutReason?: SubagentJobState['timeoutReason'];
  /** What is clean may have been kept: its files are copies, and nobody can tell what they are copies of. */
  readonly mayKeepClean?: boolean | undefined;
}

/** Of the newest runtime of the setup. @returns what is wrong, in words */
export async function aftermathOf(
  setup: JobSetup,
  parentSessionId: string,
  work: readonly EndedWork[],
  expected: Expectation,
): Promise<string[]> {
  const { runtime } = setup;
  return [
    ...work.flatMap((each) => complaintsAbout(setup, each, expected)),
    ...(await worktreeComplaints(setup, work, expected)),
    ...(await logComplaints(runtime, parentSessionId, work)),
    ...processesLeft(process.env['TMPDIR'] ?? '').map(({ pid, command }) => `process ${pid} is left: ${command}`),
    ...gitComplaints(setup),
  ];
}

function complaintsAbout(
  setup: JobSetup,
  { jobId, kind, isDone = true }: EndedWork,
  { status, timeoutReason, mayKeepClean = false }: Expectation,
): string[] {
  const job = setup.runtime.subagents.get(jobId);
  if (job === undefined) return [`${kind.name}: there is no job ${jobId}`];
  const says = (what: string): string => `${kind.name} (${jobId}): ${what}`;
  const wrong: string[] = [];
  if (![status].flat().includes(job.status)) wrong.push(says(`is ${job.status}: ${job.error ?? ''}`));
  if (timeoutReason !== undefined && job.timeoutReason !== timeoutReason)
    wrong.push(says(`ended by ${job.timeoutReason}`));
  const { worktreePath, branchName, worktreeStatus, worktreeNextAction } = job;
  if (worktreePath === undefined || branchName === undefined)
    return isDone ? [...wrong, says('nobody can tell where its worktree is')] : wrong;
  if (kind.finding === undefined || !isDone) {
    if (worktreeStatus === 'removed')
      wrong.push(
        ...tracesOf(setup, { worktreePath, branchName }, worktreeFiles(setup)).map((trace) => says(`left ${trace}`)),
      );
    else if (!(mayKeepClean || !isDone) || worktreeStatus !== 'preserved')
      wrong.push(
        says(`its worktree is ${worktreeStatus}: ${JSON.stringify(job.resultMetadata ?? job.failure?.details)}`),
      );
    return wrong;
  }
  if (worktreeStatus !== 'preserved') wrong.push(says(`its worktree is ${worktreeStatus}`));
  if ((worktreeNextAction ?? '') === '') wrong.push(says('nobody says what to do next'));
  if (!isWorkThere(setup, kind, { worktreePath, branchName })) wrong.push(says('its work is lost'));
  return wrong;
}

function isWorkThere(
  { repository }: JobSetup,
  kind: KindOfWork,
  place: { readonly worktreePath: string; readonly branchName: string },
): boolean {
  try {
    return kind.isThere({ repository, ...place });
  } catch {
    return false;
  }
}

async function worktreeComplaints(
  { runtime, home }: JobSetup,
  work: readonly EndedWork[],
  { mayKeepClean = false }: Expectation,
): Promise<string[]> {
  const kept = (await runtime.worktrees?.list()) ?? [];
  const wrong: string[] = [];
  for (const { jobId, kind, isDone = true } of work) {
    const found = kept.filter((each) => each.jobId === jobId);
    const isKept = kind.finding !== undefined && isDone;
    if (isKept && found.length !== 1)
      wrong.push(`${kind.name}: the keeper lists ${found.length} worktrees of ${jobId}`);
    if (isKept && found.length === 1 && !found[0]?.findings.some((finding) => finding.kind === kind.finding))
      wrong.push(`${kind.name}: was found to be ${found[0]?.findings.map((finding) => finding.kind).join(', ')}`);
    if (!isKept && isDone && !mayKeepClean && found.length > 0)
      wrong.push(
        `${kind.name}: the keeper still lists ${jobId} as ${found.map(({ status, findings }) => `${status} ${JSON.stringify(findings)}`).join()}`,
      );
  }
  const known = new Set(kept.map(({ worktreePath }) => worktreePath.split('/').at(-1) ?? ''));
  const stray = worktreeFiles({ home }).filter((name) => ![...known].some((id) => name.startsWith(id)));
  return [...wrong, ...stray.map((name) => `nobody knows what ${name} in the folder of worktrees is`)];
}

async function logComplaints(
  runtime: NodeRuntime,
  parentSessionId: string,
  work: readonly EndedWork[],
): Promise<string[]> {
  const events = await logOf(runtime, parentSessionId);
  const count = (type: SessionEvent['type'], id: string): number =>
    events.filter((event) => event.type === type && 'jobId' in event.data && event.data.jobId === id).length;
  const wrong: string[] = [];
  for (const { jobId, kind } of work) {
    const counts = [count('subagent.started', jobId), count('subagent.ended', jobId)];
    if (counts.join() !== '1,1')
      wrong.push(`${kind.name}: the parent has heard of ${jobId} ${counts.join(' and ')} times`);
    const ended = events.flatMap((event) =>
      event.type === 'subagent.ended' && event.data.jobId === jobId ? [event.data] : [],
    )[0];
    const job = runtime.subagents.get(jobId);
    if (ended !== undefined && ended.status !== job?.status)
      wrong.push(`${kind.name}: the parent has heard that ${jobId} is ${ended.status}, it is ${job?.status}`);
    if (ended?.worktree?.worktreePath !== job?.worktreePath || ended?.worktree?.worktreeStatus !== job?.worktreeStatus)
      wrong.push(
        `${kind.name}: the parent has heard of the worktree ${JSON.stringify(ended?.worktree)}, the job says ${job?.worktreePath} ${job?.worktreeStatus}`,
      );
  }
  for (const { sessionId } of await runtime.sessions.list()) {
    const state = await runtime.sessions.get(sessionId);
    if (state.status === 'running') wrong.push(`session ${sessionId} of ${state.agentId} is still running`);
  }
  return wrong;
}

/** Locks that a dead git left would stop everybody else in the repository. */
function gitComplaints({ repository }: JobSetup): string[] {
  const locks = readdirSync(join(repository, '.git'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.lock') && !name.startsWith('worktrees/'),
  );
  const broken = git(repository, 'fsck', '--connectivity-only', '--no-dangling')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('notice'));
  return [...locks.map((lock) => `git is locked by ${lock}`), ...broken.map((line) => `git says: ${line}`)];
}

/**
 * Without what a writer left that died between writing and renaming: that is swept when it is old enough to be
 * nobody's.
 */
const worktreeFiles = ({ home }: Pick<JobSetup, 'home'>): string[] =>
  existsSync(join(home, 'worktrees'))
    ? readdirSync(join(home, 'worktrees')).filter((name) => !name.startsWith('.') && !name.endsWith('.tmp'))
    : [];

export async function logOf(runtime: NodeRuntime, sessionId: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of runtime.sessions.events(sessionId)) events.push(event);
  return events;
}

const OURS: ReadonlySet<string> = new Set(['processes', 'sessions', 'subagents', 'worktrees']);

/** What `wakechart doctor` finds, once no runtime is open any more. */
export async function doctorFindings({ home }: JobSetup): Promise<string[]> {
  const told = await promisify(execFile)(process.execPath, [CLI, 'doctor', '--json', '--home', home]).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  const { findings } = JSON.parse(told.stdout) as {
    readonly findings: readonly {
      readonly area: string;
      readonly severity: string;
      readonly where: string;
      readonly what: string;
    }[];
  };
  return findings
    .filter(({ area, severity }) => severity === 'problem' || OURS.has(area))
    .map(({ where, what }) => `${where}: ${what}`);
}
