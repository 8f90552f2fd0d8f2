/** `wakechart schedule add`. */
import type { NewSchedule } from '../../machines/schedule/schedule-definition.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { absolutePath, makeHome } from '../home.ts';
import { checkedScheduleName, withSchedules } from './schedules.ts';
import { whenText, workerText } from './text.ts';
import { withSessions } from '../open/stores.ts';
import { shellQuoted } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import { checkedSessionId } from '../session/session.ts';

export interface ScheduleAddOptions {
  readonly id: string;
  readonly cron: string;
  /** One word is a line for the shell; several are a program and its arguments. */
  readonly words: readonly string[];
  readonly session?: string;
  readonly message?: string;
  readonly delivery?: 'queue' | 'steer' | 'interrupt';
  readonly timezone?: string;
  readonly catchUp: 'latest' | 'all' | 'skip';
  readonly overlap: 'skip' | 'queue' | 'cancel-previous';
  readonly cwd?: string;
  readonly timeoutMs?: number;
  readonly env?: string;
  readonly maxRuns?: number;
  readonly until?: string;
  readonly maxFailures?: number;
  readonly replace?: boolean;
}

/** Slots that `--catch-up all` lets fire late; the policy of a library call takes any number. */
const ALL_SLOTS = 100;

export async function addSchedule(context: CommandContext, options: ScheduleAddOptions): Promise<number> {
  const { out, json } = context;
  const request = requestOf(options);
  if (request.target.kind === 'session') await checkSession(context, request.target.sessionId);
  await makeHome(context.home);
  await withSchedules(context, async (registry) => {
    const { id } = options.replace === true ? await registry.replace(request) : await registry.add(request);
    const view = await registry.get(id);
    if (json) return out.document(view);
    await out.line(
      `${out.styles.green(options.replace === true ? 'Replaced' : 'Added')} schedule ${out.styles.bold(id)}, next ${whenText(view)}`,
    );
    await out.line(workerText(context));
    await out.line(`Next: ${nextCommand(context, 'schedule', 'run', id)}`);
  });
  return EXIT_SUCCESS;
}

/** A session that cannot be sent into is better known now than at three in the morning. */
async function checkSession(context: CommandContext, sessionId: string): Promise<void> {
  await withSessions(context, async ({ sessions }) => {
    const { status } = await sessions.status(checkedSessionId(sessionId));
    if (status === 'terminated')
      throw usageError(
        `expected a session that can be sent into; ${sessionId} is terminated`,
        'Make a new session, and name that one.',
      );
  });
}

function requestOf(options: ScheduleAddOptions): NewSchedule {
  const { id, cron, timezone, catchUp, overlap, maxRuns, maxFailures, until } = options;
  return {
    id: checkedScheduleName(id),
    cron,
    ...present({ timezone }),
    target: targetOf(options),
    catchUp: ({ latest: 'latest', skip: 'none', all: { all: ALL_SLOTS } } as const)[catchUp],
    overlap,
    limits: present({ maxRuns, maxFailures, until: until === undefined ? undefined : instantOf(until) }),
  };
}

function targetOf(options: ScheduleAddOptions): NewSchedule['target'] {
  const { words, session, message, delivery, timeoutMs, cwd, env } = options;
  const isCommand = words.length > 0;
  if (isCommand === (session !== undefined))
    throw usageError(
      'expected either --session with --message, or a command after --',
      'For example: wakechart schedule add --id nightly --cron "30 2 * * *" -- npm run report',
    );
  if (isCommand) {
    refuse({ '--message': message, '--delivery': delivery }, 'goes with --session, not with a command');
    const [line = ''] = words;
    const names = env?.split(',').map((name) => name.trim());
    return {
      kind: 'command',
      command: words.length === 1 ? line : shellQuoted(words),
      cwd: absolutePath(cwd ?? '.'),
      ...present({ timeoutMs, env: names }),
    };
  }
  refuse({ '--cwd': cwd, '--timeout-ms': timeoutMs, '--env': env }, 'goes with a command, not with --session');
  if (message === undefined)
    throw usageError('expected --message with --session', 'Say what to send with --message TEXT.');
  return { kind: 'session', sessionId: session ?? '', text: message, ...present({ delivery }) };
}

function refuse(options: Readonly<Record<string, unknown>>, why: string): void {
  const [given] = Object.entries(options).filter(([, value]) => value !== undefined);
  if (given !== undefined) throw usageError(`${given[0]} ${why}`, 'Leave it out.');
}

function instantOf(text: string): string {
  // Without a time zone it would mean something else on every machine.
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const at = new Date(isWhole ? text : Number.NaN);
  if (!Number.isNaN(at.getTime())) return at.toISOString();
  throw usageError(
    `expected a time after --until, received ${JSON.stringify(text)}`,
    'Write it with its time zone, such as 2030-01-31T18:00:00Z or 2030-01-31T18:00:00+01:00.',
  );
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>;
}
