/**
 * What is seen of the work of a session besides its folded log, and what it needs attention for: wakes that are taken
 * over again and again, and what it left behind when it came to rest.
 */
import type { SessionState } from './session-state.ts';
import { messageMover, wakeMover, workerMover } from './why-movers.ts';
import type { Mover } from './why-movers.ts';
import type { Reason } from './why-reason.ts';

export interface SessionWork {
  /** What calls are about, by their ids: the line of a command. */
  readonly calls?: ReadonlyMap<string, string> | undefined;
  /** Those that woke it lately and are suspended now. */
  readonly suspended?: readonly SuspendedProcess[] | undefined;
  /** Those that woke it before and live, suspended or not. */
  readonly rivals?: readonly SuspendedProcess[] | undefined;
  /** The process of the open wake lives, also where the wake has ended without a word. Absent: that is unknown. */
  readonly isHolderAlive?: boolean | undefined;
  /** That process is known to be a worker, which takes up again what was lost. */
  readonly isHolderWorker?: true | undefined;
  /** What a call that failed had begun with git, and what was finished after the session came to rest. */
  readonly finished?: WorkUnderWay['what'] | undefined;
  /** What git has begun in its folder, and not ended. */
  readonly underWay?: WorkUnderWay | undefined;
}

export interface SuspendedProcess {
  readonly host: string;
  readonly pid: number;
}

export interface WorkUnderWay {
  readonly what: 'merge' | 'rebase' | 'cherry-pick' | 'revert';
  /** Absolute. */
  readonly folder: string;
  /** In conflict when it stopped. */
  readonly files: readonly string[];
}

/** One wake is lost with each process that dies. More in a row are lost by something that goes on. */
const LOST_IN_A_ROW = 2;
const MOST_FILES = 5;

export function isLosing({ lastWake, failuresInARow }: SessionState, { suspended = [] }: SessionWork): boolean {
  return suspended.length > 0 || (lastWake?.outcome === 'lost' && failuresInARow >= LOST_IN_A_ROW);
}

/** The process of the open wake, where it is that which is suspended. */
export function suspendedHolder(
  { openWake }: Pick<SessionState, 'openWake'>,
  { suspended = [] }: SessionWork,
): SuspendedProcess | undefined {
  return suspended.find(({ host, pid }) => openWake?.owner === `${host}:${pid}`);
}

/** Its wakes are lost, or the process that wakes it does nothing. */
export function losing(state: SessionState, work: SessionWork): readonly Reason[] {
  if (!isLosing(state, work)) return [];
  const { lastWake, failuresInARow, updatedAt } = state;
  const { suspended = [] } = work;
  const isLost = lastWake?.outcome === 'lost';
  const holder = suspendedHolder(state, work);
  const isFought = isLost && (work.rivals ?? []).length > 0;
  if (holder !== undefined && !isFought)
    return [
      {
        kind: 'suspended',
        text: `The process ${holder.pid} on ${holder.host}, which wakes it, is suspended (stopped): nothing goes on until it is let go on, or another process takes the session over.${isLost ? ' The wake before this one was lost.' : ''}`,
        since: updatedAt,
        movers: [...suspendedMovers(state, work), workerMover()],
      },
    ];
  const lost = !isLost
    ? []
    : failuresInARow < LOST_IN_A_ROW
      ? ['Its last wake was lost: its process died, or was suspended for longer than its lease']
      : [
          `Its last wake was lost, the ${ordinal(failuresInARow)} in a row that failed${isFought ? '' : ': processes take it from each other, or die of it'}`,
        ];
  const stopped = suspended.map(({ host, pid }) => `the process ${pid} on ${host} is suspended (stopped)`);
  const told = isFought ? `${fightText(state, work)} ` : '';
  const movers = isFought && holder === undefined ? fightMovers(state, work) : suspendedMovers(state, work);
  const text = [...lost, ...stopped].join('; ');
  return [
    {
      kind: 'losing',
      text: `${told}${text.charAt(0).toUpperCase()}${text.slice(1)}.${isLost ? ' Each begins anew what the one before did not end; lost too often, it is parked.' : ''}`,
      ...(lastWake === undefined || !isLost ? {} : { since: lastWake.endedAt }),
      movers: [...movers, PREVENTS],
    },
  ];
}

/** `Processes take it from each other: vm:7 wakes it, and 5 on vm, which did before, lives.` */
function fightText(state: SessionState, work: SessionWork): string {
  const { openWake } = state;
  const { rivals = [], suspended = [] } = work;
  const before = rivals.map(({ host, pid }) => `${pid} on ${host}`).join(', ');
  const isAsleep = rivals.every((rival) => suspended.some((each) => isSame(each, rival)));
  if (isAsleep && suspendedHolder(state, work) !== undefined)
    return `Nothing goes on: ${openWake?.owner ?? ''}, which wakes it, and ${before}, which did before, are suspended.`;
  const now = openWake === undefined ? '' : `${openWake.owner} wakes it, and `;
  return `Processes take it from each other: ${now}${before}, which did before, ${rivals.length === 1 ? 'lives' : 'live'}.`;
}

/** One process has to be left: those that are suspended are ended first, which takes more than asking them. */
function fightMovers(
  state: SessionState,
  { suspended = [], rivals = [], isHolderAlive }: SessionWork,
): readonly Mover[] {
  const isSuspended = (process: SuspendedProcess): boolean => suspended.some((each) => isSame(each, process));
  // The last one that lives is left.
  const isHeld = state.openWake !== undefined && isHolderAlive !== false;
  const all = [...suspended, ...rivals.filter((rival) => !isSuspended(rival))];
  return (isHeld ? all : all.slice(0, -1)).map((process) => ({
    who: 'person',
    events: [],
    does: `ends ${process.pid} on ${process.host}, so that one process is left to wake it`,
    program: ['kill', ...(isSuspended(process) ? ['-KILL'] : []), String(process.pid)],
  }));
}

function isSame(one: SuspendedProcess, other: SuspendedProcess): boolean {
  return one.host === other.host && one.pid === other.pid;
}

function ordinal(count: number): string {
  const ending = count % 100 >= 11 && count % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${count}${ending}`;
}

const PREVENTS: Mover = {
  who: 'person',
  events: [],
  does: 'prevents it: a process that is suspended for longer than leaseMs (of createNodeRuntime) loses its wake, so let one wake it, or make that longer',
};

/** Its wakes do not tell that it was parked because workers took it from each other. */
function wasFoughtFor({ lastWake }: SessionState, { rivals = [] }: SessionWork): boolean {
  return lastWake?.outcome === 'lost' && rivals.length > 1;
}

/** After a sentence. */
export function parkedText(state: SessionState, work: SessionWork): string {
  const { suspended = [], rivals = [] } = work;
  const names = rivals.map(({ host, pid }) => `${pid} on ${host}`).join(', ');
  return [
    ...(wasFoughtFor(state, work) ? [` Processes took it from each other: ${names}, which live.`] : []),
    ...suspended.map(({ host, pid }) => ` The process ${pid} on ${host} is suspended (stopped).`),
  ].join('');
}

export function parkedMovers(state: SessionState, work: SessionWork): readonly Mover[] {
  return [...suspendedMovers(state, work), ...(wasFoughtFor(state, work) ? [PREVENTS] : [])];
}

function suspendedMovers(
  { openWake }: Pick<SessionState, 'openWake'>,
  { suspended = [], rivals = [], isHolderAlive }: SessionWork,
): readonly Mover[] {
  return suspended.flatMap((process): readonly Mover[] => {
    const { host, pid } = process;
    const isHolder = openWake?.owner === `${host}:${pid}`;
    // One that is the last is not ended, so that one is left; and where no wake is open, none takes it from another.
    const hasOther =
      openWake !== undefined &&
      ((!isHolder && isHolderAlive !== false) || rivals.some((each) => !isSame(each, process)));
    const end: Mover = {
      who: 'person',
      events: [],
      does: `ends ${pid}, so that one process is left to wake it`,
      program: ['kill', '-KILL', String(pid)],
    };
    return [
      { who: 'person', events: [], does: `lets ${pid} go on, on ${host}`, program: ['kill', '-CONT', String(pid)] },
      ...(hasOther ? [end] : []),
    ];
  });
}

/** It rests, and not all is well. Undefined: nothing is known of that. */
export function left(state: SessionState, { calls, underWay, finished }: SessionWork): Reason | undefined {
  const { sessionId, summary, lastWake } = state;
  if (lastWake === undefined || lastWake.outcome === 'interrupted') return undefined;
  const failedCall = isAnAnswer(state.failedCall, calls) ? undefined : state.failedCall;
  if (failedCall === undefined && underWay === undefined) return undefined;
  if (failedCall !== undefined && finished !== undefined)
    return {
      kind: 'left',
      text: `The ${finished} is finished since; tell the agent, then wake it. ${failedText(failedCall, calls)}`,
      since: lastWake.endedAt,
      movers: [messageMover(sessionId, { text: `The ${finished} is finished.` }), wakeMover(sessionId)],
    };
  const said = summary === undefined || summary === '' ? '' : `: ${summary.replace(/\.$/, '')}`;
  const failed = failedCall === undefined ? '' : ` ${failedText(failedCall, calls)}`;
  const begun = underWay === undefined ? '' : ` ${underWayText(underWay)}`;
  return {
    kind: 'left',
    text: `It came to rest${said}.${failed}${begun} It waits for nothing but a message.`,
    since: lastWake.endedAt,
    movers: [
      ...(underWay === undefined ? [] : underWayMovers(underWay)),
      messageMover(sessionId, underWay === undefined ? {} : { text: `The ${underWay.what} is finished.` }),
    ],
  };
}

/** By convention they end with 1 to say no: no line fits, the files differ, the condition does not hold. */
const ANSWERING: ReadonlySet<string> = new Set([
  ...['grep', 'egrep', 'fgrep', 'rg', 'ag', 'diff', 'cmp', 'comm', 'test', '[', '[['],
  ...['which', 'pgrep', 'pidof', 'expr', 'git-grep', 'git-diff'],
]);
/** They rarely fail, and then the next one says so. */
const BEFORE_THEM: ReadonlySet<string> = new Set(['cd', 'echo', 'true', 'pwd', 'printf']);

/**
 * Whether exit code 1 was an answer and no failure. The code is that of the last command of the line, and of those before it that it
 * hangs on; a line that cannot be told apart, or was cut, counts as failed.
 */
function isAnAnswer(failed: SessionState['failedCall'], calls: SessionWork['calls']): boolean {
  const line = failed?.exitCode === 1 ? calls?.get(failed.callId) : undefined;
  if (line === undefined || line.endsWith('…')) return false;
  const commands = (line.split(/;|\|\|?/).at(-1) ?? '').split('&&').map(programOf);
  return commands.every((name, index) => ANSWERING.has(name) || (index < commands.length - 1 && BEFORE_THEM.has(name)));
}

function programOf(command: string): string {
  const words = command
    .trim()
    .split(/\s+/)
    .filter((word) => !/^\w+=/.test(word) && word !== '!');
  const name = words[0]?.split('/').at(-1) ?? '';
  return name === 'git' ? `git-${words[1] ?? ''}` : name;
}

function failedText(
  { callId, name, exitCode, signalCode }: NonNullable<SessionState['failedCall']>,
  calls: SessionWork['calls'],
): string {
  const how =
    exitCode !== undefined
      ? `ended with exit code ${exitCode}`
      : signalCode !== undefined
        ? `was ended by ${signalCode}`
        : 'failed';
  return `Its last call ${how}: ${callText(name, calls?.get(callId))}.`;
}

/** The tool, and the line that says what it is about where it does not begin with the tool itself. */
export function callText(name: string, line: string | undefined): string {
  if (line === undefined || line === '' || line === name) return name;
  return line.startsWith(`${name} `) ? line : `${name} “${line}”`;
}

/** `A merge is in progress: prices.json is in conflict.` */
export function underWayText({ what, files }: Pick<WorkUnderWay, 'what' | 'files'>): string {
  const named = files.slice(0, MOST_FILES).join(', ');
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : '';
  const conflict = files.length === 0 ? '' : `: ${named}${more} ${files.length === 1 ? 'is' : 'are'} in conflict`;
  return `A ${what} is in progress${conflict}.`;
}

function underWayMovers({ what, folder, files }: WorkUnderWay): readonly Mover[] {
  const person = (does: string, ...program: readonly string[]): Mover => ({ who: 'person', events: [], does, program });
  const git = (does: string, ...words: readonly string[]): Mover => person(does, 'git', '-C', folder, ...words);
  // Without an editor, which needs a terminal.
  const goOn = git(`goes on with the ${what}`, '-c', 'core.editor=true', what, '--continue');
  const back = git(`takes the ${what} back`, what, '--abort');
  if (files.length === 0) return [goOn, back];
  const mend = files.slice(0, MOST_FILES).map((file) => person(`mends ${file}`, 'vi', `${folder}/${file}`));
  if (what !== 'merge') return [...mend, git('says that they are mended', 'add', '--', ...files), goOn, back];
  return [
    ...mend,
    // In place of mending: a rebase calls them the other way round.
    git('mends it instead by taking the side of the merged branch', 'checkout', '--theirs', '--', ...files),
    git('mends it instead by keeping the side of its own branch', 'checkout', '--ours', '--', ...files),
    git('then ends the merge with what is mended', 'commit', '--no-edit', '--include', '--', ...files),
    back,
  ];
}
