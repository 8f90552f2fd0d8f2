/** `wakechart doctor`: checks a home, and with `--repair` puts right what can be made again from the logs. */
import { environmentsOf } from '../open/environments.ts';
import { join } from 'node:path';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { EventStore } from '../../actors/session/event-store.ts';
import { createIdSource } from '../../actors/session/id-source.ts';
import { SessionJournal } from '../../actors/session/session-journal.ts';
import type { VaultCatalog } from '../../actors/vault/vault-catalog.ts';
import { createBubblewrap } from '../../adapters/bubblewrap/bubblewrap.ts';
import type { HomeLayout } from '../../adapters/files/layout.ts';
import { createProcessTree } from '../../adapters/process-tree/process-tree.ts';
import { createFileJobRecords } from '../../adapters/subagent-files/file-job-records.ts';
import { FileVaultCatalog } from '../../adapters/vault-files/file-vault-catalog.ts';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import type { NodeStore } from '../../node/node-store.ts';
import type { Reconciliation } from '../../runtime.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand, storeText, textAsTyped } from '../context.ts';
import { VAULTS_FOLDER } from '../env/vaults.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { isHomeThere } from '../home.ts';
import { memoryStores } from '../memory/stores.ts';
import { skillCatalogOf, SKILLS_FOLDER } from '../open/known-home.ts';
import { openStore, runtimeStore } from '../open/store.ts';
import { withAgents } from '../open/stores.ts';
import { lacksOf } from '../session/workspace-copies.ts';
import { Progress } from '../terminal/progress.ts';
import { counted, printable } from '../terminal/text.ts';
import { hostLifeOf, worktreeStore, WORKTREES_FOLDER } from '../worktree/worktrees.ts';
import { checkEnvironments, unconfinedAgents } from './check-environments.ts';
import { checkAgents, checkHomeFolder, checkProcesses, checkSchedules, checkTools } from './check-home.ts';
import { checkLacks } from './check-lacks.ts';
import { checkLeftFolders } from './check-left-folders.ts';
import { checkMemory } from './check-memory.ts';
import { checkPrograms } from './check-programs.ts';
import { checkSessions } from './check-sessions.ts';
import { checkSkills } from './check-skills.ts';
import { checkStoredSessions } from './check-stored-sessions.ts';
import { checkSubagents } from './check-subagents.ts';
import { checkWorktrees } from './check-worktrees.ts';
import type { RepairableFinding } from './finding.ts';
import { problem, remedyOf } from './finding.ts';

// Checks vaults: files that cannot be read, or that others than their owner may read. What is in them is not checked
// any further.

/** @param directory where they lie */
async function checkVaults(catalog: Pick<VaultCatalog, 'list'>, directory: string): Promise<RepairableFinding[]> {
  try {
    return (await catalog.list()).flatMap((listing) =>
      'error' in listing
        ? [
            problem({
              area: 'vaults',
              where: listing.name,
              what: listing.error.message,
              remedy: remedyOf(listing.error),
            }),
          ]
        : [],
    );
  } catch (error) {
    return [
      problem({
        area: 'vaults',
        where: directory,
        what: messageOf(error),
        remedy: (RuntimeError.is(error) ? error.hint : undefined) ?? 'Check who owns it and its permissions.',
      }),
    ];
  }
}

/** Folders of a home beside its agents. */
const PROCESSES_FOLDER = 'processes';
const JOBS_FOLDER = 'subagents';
/** Of an agent's folder. */
const RETRIEVAL_FOLDER = 'retrieval';

/** Where many machines share a store, one that has the agent takes what is due within as long. */
const TAKEN_ELSEWHERE_MS = 60_000;

interface Treated extends Omit<RepairableFinding, 'repair'> {
  readonly isRepaired: boolean;
}

export interface Treatment {
  readonly repair: boolean;
  /** The session that is to go on although a part of its log is gone. */
  readonly acceptLoss: string | undefined;
}

export async function examineHome(
  context: CommandContext,
  { repair, acceptLoss: accepted }: Treatment,
): Promise<number> {
  const { out, json, home } = context;
  const all = await withFindings(context, accepted, async (findings) => {
    const done: Treated[] = [];
    for (const finding of findings) done.push(await treated(finding, repair));
    return done;
  });
  const left = all.filter(({ severity, isRepaired }) => severity === 'problem' && !isRepaired);
  const unconfined = await withAgents(context, ({ agents }) =>
    unconfinedAgents({ catalog: environmentsOf(context), agents }),
  );
  if (json) await out.document({ home, findings: all, problems: left.length, unconfined });
  else {
    await tell(context, all, left.length);
    if (unconfined.length > 0)
      await out.line(`sandbox: off for ${namesText(unconfined)}: their commands run with all your rights`);
  }
  return left.length === 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/** More names than these do not help. */
const MAX_NAMES = 10;

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}

/** One that cannot be put right keeps no other from it. */
async function treated({ repair: mend, ...finding }: RepairableFinding, repair: boolean): Promise<Treated> {
  if (!repair || mend === undefined) return { ...finding, isRepaired: false };
  try {
    await mend();
    return { ...finding, isRepaired: true };
  } catch (error) {
    return {
      ...finding,
      isRepairable: false,
      isRepaired: false,
      remedy: `It could not be put right: ${messageOf(error)}`,
    };
  }
}

/** Repairs need what the examination has open. */
function withFindings<Result>(
  context: CommandContext,
  accepted: string | undefined,
  use: (findings: readonly RepairableFinding[]) => Promise<Result>,
): Promise<Result> {
  const { home } = context;
  return withAgents(context, async ({ agents, layout }) => {
    if (context.store === undefined && !(await isHomeThere(home))) return use(await checkTools());
    const clock = createSystemClock();
    const opened = await openStore(context).catch((error: unknown) => unreachable(context, error));
    const progress = new Progress(context.err);
    const onCounted = (sessions: number): void => progress.waitFor(`checking ${counted(sessions, 'session')}`);
    try {
      const findings = [
        ...(await checkHomeFolder(home)),
        ...(await checkAgents(agents)),
        ...(await checkEnvironments({
          catalog: environmentsOf(context),
          agents,
          home,
          vaults: join(home, VAULTS_FOLDER),
          sandboxes: createBubblewrap(),
        })),
        ...(await checkVaults(
          new FileVaultCatalog({ directory: join(home, VAULTS_FOLDER) }),
          join(home, VAULTS_FOLDER),
        )),
        ...(await checkSkills({ skills: skillCatalogOf(context), agents, directory: join(home, SKILLS_FOLDER) })),
        ...('finding' in opened
          ? [opened.finding]
          : await sessionFindings(context, { opened, layout, onCounted, accepted })),
        // After the sessions, of whose logs learnings are made anew.
        ...('finding' in opened ? [] : await storeFindings(context, { agents, layout, opened, nowMs: clock.now() })),
        ...(await checkProcesses(
          createProcessTree({ clock, directory: join(home, PROCESSES_FOLDER), hostLife: hostLifeOf(home) }),
          home,
        )),
        // After the processes, since what works in a worktree keeps it, and the jobs before their worktrees, since they
        // say what those hold.
        ...(await checkJobs(context)),
        ...(await checkWorktrees(
          { list: () => worktreeStore(home).list(), reconcile: async () => (await reconcileHome(context)).worktrees },
          join(home, WORKTREES_FOLDER),
        )),
        ...(await checkPrograms({ agents, layout })),
        ...(await checkTools()),
      ];
      progress.stop();
      return await use(findings);
    } finally {
      progress.stop();
      if ('store' in opened) await opened.store.close();
    }
  });
}

interface StoreFindingParts {
  readonly agents: AgentCatalog;
  readonly layout: HomeLayout;
  readonly opened: NodeStore;
  readonly nowMs: number;
}

async function storeFindings(
  context: CommandContext,
  { agents, layout, opened: { store, schedules, clock }, nowMs }: StoreFindingParts,
): Promise<readonly RepairableFinding[]> {
  const indexDirectory = (agentId: string): string => join(layout.agentDirectory(agentId), RETRIEVAL_FOLDER);
  const dueBeforeMs = nowMs - (context.store === undefined ? 0 : TAKEN_ELSEWHERE_MS);
  return [
    ...(await checkMemory({ agents, store, ...memoryStores(layout), indexDirectory })),
    ...(await checkLacks({
      ports: { store, clock, ids: createIdSource({ clock }) },
      lacksOf: lacksOf(context, agents),
      dueBeforeMs,
    })),
    ...(await checkSchedules(schedules.definitions)),
  ];
}

/** Only a runtime knows who is going to go on with what was left. */
async function reconcileHome(context: CommandContext): Promise<Reconciliation> {
  const { createNodeRuntime } = await import('../../node/node-runtime.ts');
  const runtime = await createNodeRuntime({ home: context.home, ...runtimeStore(context), reconcileOnStart: false });
  try {
    return await runtime.reconcile();
  } finally {
    await runtime.shutdown();
  }
}

function checkJobs(context: CommandContext): Promise<RepairableFinding[]> {
  const { home } = context;
  const directory = join(home, JOBS_FOLDER);
  // Settling a job is the business of a process that could run it.
  const settle = async (jobId: string): Promise<void> => {
    const report = (await reconcileHome(context)).jobs.find((job) => job.jobId === jobId);
    if (report?.action === 'failed')
      throw new RuntimeError('JOB_NOT_SETTLED', report.reason ?? 'it is unknown why', {
        category: 'storage',
        hint: 'Check what lies in the folder of the job, then run doctor --repair again.',
      });
  };
  return checkSubagents({
    records: createFileJobRecords({ directory, hostLife: hostLifeOf(home) }),
    directory,
    settle,
  });
}

/** The home is checked even where the database cannot be had. */
function unreachable({ store, home }: CommandContext, error: unknown): { readonly finding: RepairableFinding } {
  const remedy = (RuntimeError.is(error) ? error.hint : undefined) ?? 'Check it with `wakechart store check`.';
  return {
    finding: problem({
      area: 'sessions',
      where: store?.shown ?? home,
      what: `the store cannot be opened, and neither sessions nor what is due were checked: ${messageOf(error)}`,
      remedy,
    }),
  };
}

interface SessionsPlace {
  readonly opened: NodeStore;
  readonly layout: HomeLayout;
  readonly onCounted: (sessions: number) => void;
  readonly accepted: string | undefined;
}

async function sessionFindings(
  context: CommandContext,
  { opened: { store, clock }, layout, onCounted, accepted }: SessionsPlace,
): Promise<RepairableFinding[]> {
  const nowMs = createSystemClock().now();
  if (context.store === undefined)
    return checkSessions({ layout, store, nowMs, onCounted, renew: (sessionId) => renew(store, sessionId), accepted });
  const where = context.store.shown;
  const stored = await checkStoredSessions({
    ports: { store, clock, ids: createIdSource({ clock }) },
    where,
    onCounted,
  });
  return [...stored, ...(await checkLeftFolders({ layout, store, where }))];
}

async function renew(store: EventStore, sessionId: string): Promise<void> {
  const clock = createSystemClock();
  const { state } = await SessionJournal.open(sessionId, { store, clock, ids: createIdSource({ clock }) });
  await store.saveView(state);
}

async function tell(context: CommandContext, findings: readonly Treated[], problems: number): Promise<void> {
  const { out, home, store } = context;
  const place = store === undefined ? home : `${home}, with its sessions in ${storeText(context)}`;
  const { styles } = out;
  for (const { severity, where, what, remedy, isRepaired } of findings) {
    const label = isRepaired
      ? styles.green('repaired')
      : severity === 'problem'
        ? styles.red('problem')
        : styles.yellow('note');
    await out.line(`${label}  ${printable(where)}: ${textAsTyped(context, printable(what))}`);
    if (!isRepaired) await out.line(`         ${styles.dim(textAsTyped(context, remedy))}`);
  }
  if (problems === 0) return out.line(`${styles.green('Healthy:')} ${place}`);
  const canRepair = findings.some(({ isRepairable, isRepaired }) => isRepairable && !isRepaired);
  await out.line(
    `${counted(problems, 'problem')} in ${place}.${canRepair ? ` Put right what can be: ${nextCommand(context, 'doctor', '--repair')}` : ''}`,
  );
}
