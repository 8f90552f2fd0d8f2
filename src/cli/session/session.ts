/** `wakechart session create | list | status`: commands that make sessions and say where they stand. */
import { promotionProblem } from '../../actors/outcome/promotion-gate.ts';
import { markText } from '../../machines/agent/definition-mark.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { sessionId } from '../../machines/ids.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { ownRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import { askedLines, askedRecords, waitText } from './asked-text.ts';
import { nextCommand, storeText } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { homeElsewhere, lacksOf, missingHere } from './workspace-copies.ts';
import type { CopyHome, MissingHere } from './workspace-copies.ts';
import type { Output } from '../terminal/output.ts';
import { placesOf } from '../places.ts';
import { isolationsOf, shortTextOfIsolation, textOfIsolation } from '../isolation.ts';
import type { Isolation } from '../isolation.ts';
import { MIN_ID_CHARACTERS } from '../open/short-ids.ts';
import { withSessions } from '../open/stores.ts';
import type { SessionStore } from '../open/stores.ts';
import { toldWhile } from '../terminal/progress.ts';
import { fieldLines, tableLines } from '../terminal/table.ts';
import { counted, localTime, oneLine } from '../terminal/text.ts';
import { checkedAgentName, checkedEnvironmentName } from '../usage.ts';

export interface CreateOptions {
  readonly agent: string;
  readonly title: string | undefined;
  /** Default: that of its agent. */
  readonly environment: string | undefined;
  readonly parent: string | undefined;
}

export async function createSession(
  context: CommandContext,
  { agent, title, environment, parent }: CreateOptions,
): Promise<number> {
  const { out, json } = context;
  const agentId = checkedAgentName(agent);
  const chosen = environment === undefined ? {} : { environmentId: checkedEnvironmentName(environment) };
  await withSessions(context, async ({ agents, sessions, layout }) => {
    const lineage = parent === undefined ? {} : { parentSessionId: checkedSessionId(parent) };
    const state = await sessions.create({ agentId, ...(title === undefined ? {} : { title }), ...chosen, ...lineage });
    const isolation = await isolationsOf(context, agents).ofSession(state);
    if (json) return out.document({ ...withPlaces(state, { layout, context }), isolation });
    await out.line(`${out.styles.green('Created')} session ${out.styles.bold(state.sessionId)} of agent ${agentId}`);
    await out.line(`  works in ${textOfIsolation(isolation)}`);
    await out.line(
      `Next: ${nextCommand(context, 'session', 'send', '--session', state.sessionId, '--message', 'Hello.')}`,
    );
  });
  return EXIT_SUCCESS;
}

export async function listSessions(context: CommandContext): Promise<number> {
  const { out, json } = context;
  const sessions = await toldWhile(context, 'reading all sessions', () =>
    withSessions(context, (stores) => listed(stores, context)),
  );
  if (json) await out.document({ sessions });
  else if (sessions.length === 0)
    await out.line(
      `No sessions in ${storeText(context)} yet. Make one: ${nextCommand(context, 'session', 'create', '--agent', 'NAME')}`,
    );
  else {
    const rows = sessions.map((state) => [
      state.sessionId,
      state.agentId,
      state.unreadable === undefined
        ? `${statusText(state, state)}${state.parked === undefined ? '' : ', parked'}${missingWord(state)}`
        : 'unreadable',
      state.isolation === undefined ? '' : shortTextOfIsolation(state.isolation),
      state.updatedAt === undefined ? '' : localTime(state.updatedAt),
      state.unreadable?.message ?? state.summary ?? '',
    ]);
    for (const line of tableLines(['SESSION', 'AGENT', 'STATUS', 'ENVIRONMENT', 'UPDATED', 'SUMMARY'], rows, out))
      await out.line(line);
  }
  return EXIT_SUCCESS;
}

/** With what their next wakes will be shut in by. */
async function listed(
  store: SessionStore,
  context: CommandContext,
): Promise<readonly (SessionState & WakeDeath & MissingHere & { readonly isolation?: Isolation })[]> {
  const { sessions, agents } = store;
  const isolations = isolationsOf(context, agents);
  const lacks = lacksOf(context, agents);
  return Promise.all(
    (await sessions.list()).map(async (state) =>
      state.unreadable === undefined
        ? {
            ...state,
            isolation: await isolations.ofSession(state),
            ...(await wakeDeath(store, state)),
            ...missingHere(await lacks(state)),
          }
        : state,
    ),
  );
}

function missingWord({ agentMissingHere, environmentMissingHere }: MissingHere): string {
  if (agentMissingHere !== undefined) return ', agent missing';
  return environmentMissingHere === undefined ? '' : ', environment missing';
}

interface WakeDeath {
  readonly isWakeDead?: true;
  /** Of the process that ran it. Absent: it is dead, or on another machine. */
  readonly isHolderAlive?: true;
}

/** What no log tells: that a wake which it calls open has ended, with its process or without. */
async function wakeDeath({ sessions, layout, clock }: SessionStore, state: SessionState): Promise<WakeDeath> {
  if (state.openWake === undefined || !(await sessions.hasWakeDied(state.sessionId))) return {};
  const { sessionWork } = await import('../../node/session-work.ts');
  const { isHolderAlive } = await sessionWork({ sessions, layout, clock, onProblem: () => undefined })(state);
  return { isWakeDead: true, ...(isHolderAlive === true ? { isHolderAlive } : {}) };
}

export async function showStatus(context: CommandContext, session: string): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async (store) => {
    const { agents, sessions, layout, workspaceCopies } = store;
    const state = await sessions.status(checkedSessionId(session));
    const asked = await ownRequests(sessions, state);
    const isolation = await isolationsOf(context, agents).ofSession(state);
    const death = { ...(await wakeDeath(store, state)), ...missingHere(await lacksOf(context, agents)(state)) };
    const elsewhere = await homeElsewhere(state.sessionId, { workspaceCopies, home: context.home });
    if (json)
      return out.document({
        ...withPlaces(state, { layout, context, elsewhere }),
        isolation,
        ...death,
        ...(state.pendingActions.length === 0 ? {} : { asked: askedRecords(asked) }),
      });
    for (const line of fieldLines(
      statusFields(state, { layout, context, elsewhere, asked, isolation, out, ...death }),
      out,
    ))
      await out.line(line);
  });
  return EXIT_SUCCESS;
}

/** Inside `withSessions`, so that the error names the sessions that exist. */
export function checkedSessionId(value: string): string {
  const parsed = sessionId.safeParse(value);
  if (parsed.success) return parsed.data;
  const tooShort = value.length < MIN_ID_CHARACTERS ? `; ${MIN_ID_CHARACTERS} of its characters are the least` : '';
  throw new RuntimeError(
    'SESSION_REQUEST_INVALID',
    `expected a session id, received ${JSON.stringify(value)}${tooShort}`,
    {
      category: 'validation',
      hint: `A session id looks like 0192f0c1-2345-7abc-8def-0123456789ab; its first characters will do, ${MIN_ID_CHARACTERS} or more.`,
    },
  );
}

/** @param death of a wake that runs as its log says */
export function statusText(
  { status, stopReason }: Pick<SessionState, 'status' | 'stopReason'>,
  { isWakeDead, isHolderAlive }: WakeDeath = {},
): string {
  if (isWakeDead === true) return `${status} (${isHolderAlive === true ? 'its wake was lost' : 'its process died'})`;
  return stopReason === undefined || stopReason === status ? status : `${status} (${stopReason})`;
}

/** The state, and where to check the rest. */
function withPlaces(state: SessionState, where: Whereabouts): object {
  return { ...state, ...shownPlaces(state, where) };
}

interface Whereabouts {
  readonly layout: SessionStore['layout'];
  readonly context: CommandContext;
  /** The machine that has the folder, where that is another one. */
  readonly elsewhere?: CopyHome | undefined;
}

interface ShownPlaces {
  readonly log?: string;
  readonly store?: string;
  /** Absent: another machine has it. */
  readonly workspace?: string;
  readonly home?: CopyHome;
}

/** What is in a database has no file of a log. */
function shownPlaces(state: SessionState, { layout, context: { store }, elsewhere }: Whereabouts): ShownPlaces {
  const { log, workspace } = placesOf(layout, state);
  if (store === undefined) return { log, workspace };
  return { store: store.shown, ...(elsewhere === undefined ? { workspace } : { home: elsewhere }) };
}

/** A folder that the session was given has the same path for every process. */
function workspaceText({ workspace: given }: SessionState, { workspace, home }: ShownPlaces): string | undefined {
  return home === undefined
    ? workspace
    : oneLine(`${given === undefined ? '' : `${given} `}on ${home.host}, in another home than this`);
}

const ASKED_INDENT = '    ';

/** One field for each request, with what it is about under it. */
function waitFields(
  { pendingActions }: SessionState,
  { asked, out }: Pick<Shown, 'asked' | 'out'>,
): [string, string][] {
  return pendingActions.map((action) => {
    const request = asked.find(({ requestId }) => requestId === action.requestId);
    return ['waits for', [waitText(action), ...askedLines(request, { out, indent: ASKED_INDENT })].join('\n')];
  });
}

interface Shown extends Whereabouts, WakeDeath, MissingHere {
  readonly asked: readonly AskedRequest[];
  readonly isolation: Isolation;
  readonly out: Output;
}

function statusFields(state: SessionState, shown: Shown): [string, string | undefined][] {
  const { lastWake, openWake } = state;
  const places = shownPlaces(state, shown);
  return [
    ['session', state.sessionId],
    [
      'agent',
      shown.agentMissingHere === undefined
        ? state.agentId
        : `${state.agentId} (missing here: workers without it leave the session to others)`,
    ],
    ['status', statusText(state, shown)],
    [
      'environment',
      shown.environmentMissingHere === undefined
        ? textOfIsolation(shown.isolation, state.environment)
        : `${shown.environmentMissingHere} (missing here: workers without it leave the session to others)`,
    ],
    ['summary', state.summary === undefined ? undefined : oneLine(state.summary)],
    ['events', String(state.head)],
    ['unread', state.pending.length === 0 ? undefined : counted(state.pending.length, 'message')],
    ...waitFields(state, shown),
    ['parked', state.parked === undefined ? undefined : oneLine(state.parked.reason)],
    ...improvementFields(state),
    ['parent', state.parent?.sessionId],
    [
      'children',
      state.children
        .map(
          (child) => `${child.sessionId} (${child.agentId}${child.rest === undefined ? '' : `, ${child.rest.reason}`})`,
        )
        .join(', '),
    ],
    ['job', state.jobId],
    ['jobs', state.jobs.map(({ jobId, agentId }) => `${jobId} (${agentId})`).join(', ')],
    ['forked from', state.forkOf === undefined ? undefined : `${state.forkOf.sessionId} at event ${state.forkOf.seq}`],
    ['definition', definitionText(openWake ?? lastWake)],
    [
      'wakes',
      `${state.wakes}${lastWake === undefined ? '' : `, the last one ended ${localTime(lastWake.endedAt)}: ${lastWake.outcome}${lastWake.retryAt === undefined ? '' : `, tried again ${localTime(lastWake.retryAt)}`}`}`,
    ],
    ['used', usedText(state)],
    [
      'waking',
      openWake === undefined ? undefined : `since ${localTime(openWake.startedAt)}, by ${oneLine(openWake.owner)}`,
    ],
    ['queued', state.queuedWakes.map(({ reason, dueAt }) => `${oneLine(reason)} at ${localTime(dueAt)}`).join(', ')],
    ['created', state.createdAt === undefined ? undefined : localTime(state.createdAt)],
    ['updated', state.updatedAt === undefined ? undefined : localTime(state.updatedAt)],
    ['log', places.log],
    ['store', places.store],
    ['workspace', workspaceText(state, places)],
  ];
}

/** Under which definition of its agent the newest wake ran. */
function definitionText(wake: SessionState['lastWake'] | SessionState['openWake']): string | undefined {
  return wake?.definition === undefined ? undefined : oneLine(markText(wake.definition));
}

/** What its model steps have used, those of the sessions that worked for it included. */
function usedText({ used: { tokens, cost } }: SessionState): string | undefined {
  if (tokens === 0 && cost === 0) return undefined;
  return `${tokens.toLocaleString('en')} tokens${cost === 0 ? '' : `, $${cost.toFixed(4)}`}`;
}

/**
 * What it is to achieve, whether it has, and what it has learned that waits for that. By name; those that there is
 * nothing to say of are undefined.
 */
function improvementFields(state: SessionState): [string, string | undefined][] {
  return [
    ['outcome', outcomeText(state)],
    ['evaluated', evaluationText(state)],
    ['learned', learnedText(state)],
  ];
}

function outcomeText({ outcome }: SessionState): string | undefined {
  return outcome === undefined
    ? undefined
    : `${oneLine(outcome.title)}${outcome.by === 'agent' ? ' (defined by the agent)' : ''}`;
}

function evaluationText({ outcome, evaluation, changedAtSeq = 0 }: SessionState): string | undefined {
  if (outcome === undefined) return undefined;
  if (evaluation === undefined || evaluation.throughSeq < outcome.seq) return 'not yet';
  const isStale = evaluation.throughSeq < changedAtSeq;
  return `${evaluation.verdict}: ${oneLine(evaluation.because)}${isStale ? ' (something was changed since)' : ''}`;
}

function learnedText(state: SessionState): string | undefined {
  const { learningsToKeep = [], learningsToPromote = [] } = state;
  const parts: string[] = [];
  if (learningsToKeep.length > 0)
    parts.push(`${counted(learningsToKeep.length, 'learning')} to be kept by the next wake`);
  const problem = promotionProblem(state);
  if (learningsToPromote.length > 0)
    parts.push(
      `${counted(learningsToPromote.length, 'learning')} for the memory, ${problem === undefined ? 'promoted by the next wake' : `waiting: ${oneLine(problem)}`}`,
    );
  return parts.length === 0 ? undefined : parts.join('; ');
}
