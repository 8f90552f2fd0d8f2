/**
 * Checks what is around the sessions of a home: the folder itself, agents, schedules, processes that outlived their
 * owners, and tools.
 */
import { spawn } from 'node:child_process';
import { access, chmod, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../machines/errors.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { ScheduleDefinitions } from '../../actors/schedule/durable-ports.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { homeDrafts } from './check-drafts.ts';
import { note, problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

const OTHERS = 0o077;

/** Oldest version that all of it is tested with. */
const NODE_FLOOR = [20, 19] as const;

export async function checkHomeFolder(home: string): Promise<RepairableFinding[]> {
  const refusal = await access(home, constants.W_OK).then(() => undefined, messageOf);
  const findings: RepairableFinding[] =
    refusal === undefined
      ? []
      : [
          note({
            area: 'home',
            where: home,
            what: `nothing can be written to it (${refusal})`,
            remedy: 'What is there can be read; nothing can be sent, woken or repaired.',
          }),
        ];
  findings.push(...(await homeDrafts(home, Date.now())));
  if (process.platform === 'win32') return findings;
  const { mode } = await stat(home);
  if ((mode & OTHERS) === 0) return findings;
  return [
    ...findings,
    problem({
      area: 'home',
      where: home,
      what: 'others than its owner may examine it',
      remedy: 'Take that away from them.',
      repair: () => chmod(home, mode & 0o700),
    }),
  ];
}

export async function checkAgents(agents: AgentCatalog): Promise<RepairableFinding[]> {
  return (await agents.list()).flatMap((listing) =>
    'error' in listing
      ? [
          problem({
            area: 'agents',
            where: listing.agentId,
            what: listing.error.message,
            remedy: listing.error.hint ?? 'Mend the file.',
          }),
        ]
      : [],
  );
}

export async function checkSchedules(definitions: Pick<ScheduleDefinitions, 'list'>): Promise<RepairableFinding[]> {
  return (await definitions.list()).flatMap((listing) =>
    'error' in listing
      ? [
          problem({
            area: 'schedules',
            where: listing.id,
            what: listing.error.message,
            remedy: listing.error.hint ?? 'Remove it and add it again.',
          }),
        ]
      : [],
  );
}

export async function checkProcesses(
  processTree: Pick<ProcessTree, 'reconcile'>,
  home: string,
): Promise<RepairableFinding[]> {
  const trees = await processTree.reconcile({ policy: 'report' });
  return trees.flatMap(({ reason, survivors, taskId, tag }): RepairableFinding[] => {
    const where = join(home, 'processes', `${tag}.json`);
    if (reason === 'unreadable')
      return [
        problem({
          area: 'processes',
          where,
          what: 'the record cannot be read, so it is unknown what it is about',
          remedy: 'Search for processes that should not run, then remove it.',
        }),
      ];
    if (reason !== 'host_dead') return [];
    const repair = async (): Promise<void> => void (await processTree.reconcile());
    if (survivors.length === 0)
      return [
        note({
          area: 'processes',
          where,
          what: 'a record of processes that are gone',
          remedy: 'The next start removes it.',
          repair,
        }),
      ];
    const pids = survivors.map(({ pid }) => pid).join(', ');
    return [
      problem({
        area: 'processes',
        where,
        what: `processes ${pids} of task ${taskId ?? 'unknown'} outlived the process that started them`,
        remedy: 'They are ended.',
        repair,
      }),
    ];
  });
}

/** What commands and agents here are likely to need. */
export async function checkTools(): Promise<RepairableFinding[]> {
  const findings: RepairableFinding[] = [];
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < NODE_FLOOR[0] || (major === NODE_FLOOR[0] && minor < NODE_FLOOR[1])) {
    findings.push(
      problem({
        area: 'tools',
        where: 'node',
        what: `it is version ${process.versions.node}`,
        remedy: `Use ${NODE_FLOOR.join('.')} or newer.`,
      }),
    );
  }
  for (const [tool, what] of [
    ['git', 'agents that work on code need it'],
    ['sh', 'commands are run by it'],
    ...(process.platform === 'linux' ? [] : [['ps', 'processes are checked through it']]),
  ] as const) {
    const why = await whyNotRun(tool, tool === 'sh' ? ['-c', ':'] : ['--version']);
    if (why !== undefined)
      findings.push(
        note({ area: 'tools', where: tool, what: `it cannot be run (${why}); ${what}`, remedy: 'Install it.' }),
      );
  }
  return findings;
}

/** Undefined when it ran to an end of its own, whatever that was. */
function whyNotRun(tool: string, words: readonly string[]): Promise<string | undefined> {
  return new Promise((settle) => {
    const child = spawn(tool, words, { stdio: 'ignore', windowsHide: true });
    child.once('error', (error) => settle(messageOf(error)));
    child.once('close', (code, signal) =>
      settle(code === null ? `it was ended by ${signal ?? 'something'}` : undefined),
    );
  });
}
