/**
 * `wakechart env compare`: what is different between the environments of two wakes, or of a wake and an environment as
 * its file is now.
 */
import type { EnvironmentCatalog } from '../../actors/environment/environment-catalog.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { environmentsOf } from '../open/environments.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { compareEnvironments } from '../../machines/environment/environment-changes.ts';
import type { EnvironmentComparison } from '../../machines/environment/environment-changes.ts';
import type { EnvironmentDefinition } from '../../machines/environment/environment-definition.ts';
import { strictestEnvironment } from '../../machines/environment/strictest-environment.ts';
import type { SessionEventData } from '../../machines/session/session-event.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { withSessions } from '../open/stores.ts';
import { counted, printable } from '../terminal/text.ts';
import { checkedEnvironmentName, usageError } from '../usage.ts';
import { checkedSessionId } from '../session/session.ts';

export interface CompareOptions {
  readonly session: string;
  /** Numbers, from 1; none: the last two. */
  readonly wakes: readonly number[];
  readonly with: string | undefined;
}

/** One that got as far as entering its environment. */
interface EnteredWake {
  /** From 1, over the whole log. */
  readonly number: number;
  readonly entered: SessionEventData<'environment.entered'>;
}

interface Side {
  readonly label: string;
  readonly fingerprint?: string | undefined;
  readonly definition: EnvironmentDefinition;
}

export async function compareWakes(
  context: CommandContext,
  { session, wakes, with: name }: CompareOptions,
): Promise<number> {
  const { out, json } = context;
  if (wakes.length > 2 || (name !== undefined && wakes.length > 1))
    throw usageError(
      'expected at most two things to compare',
      'Name two wakes with --wake N --wake M, or one wake and --with NAME.',
    );
  const other = name === undefined ? undefined : checkedEnvironmentName(name);
  const catalog = environmentsOf(context);
  const [before, after] = await withSessions(context, async ({ sessions }) => {
    const sessionId = checkedSessionId(session);
    const entered = await enteredWakes(sessions, sessionId);
    const [first, second] =
      other === undefined
        ? twoWakes(sessionId, entered, wakes)
        : [wakeNumbered(sessionId, entered, wakes[0]), undefined];
    const one = await sideOfWake(first, catalog);
    return [
      one,
      second === undefined ? await sideOfFile(other ?? '', first, catalog) : await sideOfWake(second, catalog),
    ] as const;
  });
  const comparison = compareEnvironments(before.definition, after.definition);
  if (json) await out.document({ before: labelled(before), after: labelled(after), ...comparison });
  else await tell(context, { before, after, comparison });
  return EXIT_SUCCESS;
}

async function enteredWakes(sessions: Sessions, sessionId: string): Promise<readonly EnteredWake[]> {
  const found: EnteredWake[] = [];
  let number = 0;
  for await (const event of sessions.events(sessionId)) {
    if (event.type === 'wake.started') number += 1;
    if (event.type === 'environment.entered') found.push({ number, entered: event.data });
  }
  return found;
}

function twoWakes(
  sessionId: string,
  entered: readonly EnteredWake[],
  wakes: readonly number[],
): readonly [EnteredWake, EnteredWake] {
  const [one, other] = wakes;
  if (one === undefined) {
    const [before, after] = entered.slice(-2);
    if (before !== undefined && after !== undefined) return [before, after];
    throw notFound(
      sessionId,
      `expected two wakes to compare, and ${counted(entered.length, 'wake')} of session ${sessionId} entered an environment`,
      entered,
    );
  }
  return [wakeNumbered(sessionId, entered, one), wakeNumbered(sessionId, entered, other)];
}

/** Without a number: the last one. */
function wakeNumbered(sessionId: string, entered: readonly EnteredWake[], number: number | undefined): EnteredWake {
  const found = number === undefined ? entered.at(-1) : entered.find((wake) => wake.number === number);
  if (found !== undefined) return found;
  throw notFound(
    sessionId,
    number === undefined
      ? `no wake of session ${sessionId} has entered an environment yet`
      : `wake ${number} of session ${sessionId} entered no environment`,
    entered,
  );
}

function notFound(sessionId: string, message: string, entered: readonly EnteredWake[]): RuntimeError {
  const numbers = entered.map(({ number }) => number);
  return new RuntimeError('WAKE_NOT_FOUND', message, {
    category: 'not_found',
    hint:
      numbers.length === 0
        ? 'Wake it first; compare with an environment of its own with --with NAME then.'
        : `Wakes that did: ${numbers.length > 20 ? `${numbers.slice(0, 3).join(', ')} … ${numbers.slice(-3).join(', ')}` : numbers.join(', ')}.`,
    details: { sessionId },
  });
}

async function sideOfWake(
  { number, entered: { fingerprint, environmentId } }: EnteredWake,
  catalog: EnvironmentCatalog,
): Promise<Side> {
  const definition = await catalog.recall(fingerprint);
  if (definition !== undefined) return { label: `wake ${number}, in ${environmentId}`, fingerprint, definition };
  throw new RuntimeError(
    'ENVIRONMENT_NOT_FOUND',
    `expected to know the environment "${environmentId}" in which wake ${number} worked, and nothing is kept under its fingerprint`,
    {
      category: 'not_found',
      hint: 'What wakes worked in is kept in environments/.known of the home; a session that was imported, or a home that was cleared, has none.',
      details: { fingerprint, environmentId },
    },
  );
}

/** As the session of that wake would have it: the sessions that it works for bind it in any environment. */
async function sideOfFile(
  environmentId: string,
  { entered: { within = [] } }: EnteredWake,
  catalog: EnvironmentCatalog,
): Promise<Side> {
  const others = await Promise.all(within.filter((id) => id !== environmentId).map((id) => catalog.get(id)));
  return {
    label: `${environmentId} as it is now`,
    definition: strictestEnvironment(await catalog.get(environmentId), others),
  };
}

function labelled({ label, fingerprint, definition }: Side): object {
  return { label, ...(fingerprint === undefined ? {} : { fingerprint }), environment: definition };
}

const ISOLATIONS = {
  stricter: 'More is shut in.',
  looser: 'Less is shut in.',
  mixed: 'Some more is shut in, and some less.',
  neither: 'Nothing more is shut in, and nothing less.',
} as const satisfies Record<EnvironmentComparison['isolation'], string>;

async function tell(
  { out }: CommandContext,
  {
    before,
    after,
    comparison: { changes, isolation },
  }: { readonly before: Side; readonly after: Side; readonly comparison: EnvironmentComparison },
): Promise<void> {
  const { styles } = out;
  await out.line(`${printable(before.label)}  ${styles.dim('→')}  ${printable(after.label)}`);
  if (changes.length === 0) return out.line('They say the same.');
  const said = {
    stricter: `  ${styles.green('stricter')}`,
    looser: `  ${styles.yellow('looser')}`,
    neither: '',
  } as const;
  for (const change of changes)
    await out.line(`${SIGNS[change.kind]} ${printable(change.text)}${said[change.isolation]}`);
  await out.line(ISOLATIONS[isolation]);
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;
