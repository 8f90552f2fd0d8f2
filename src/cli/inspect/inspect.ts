/**
 * `wakechart inspect`: the sessions of a home, what was recorded, or other XState programs, in a browser on this
 * machine. It runs nothing and wakes no session.
 */
import { basename } from 'node:path';
import type { InspectionRecording, InspectionSource } from '../../actors/inspection/inspection-source.ts';
import { namedSecrets } from '../../actors/inspection/learned-secrets.ts';
import { openLogSource } from '../../actors/inspection/log-source.ts';
import type { LogSource } from '../../actors/inspection/log-source.ts';
import { openLogFile } from '../../adapters/inspection-files/log-file.ts';
import { piecesOfStream } from '../../adapters/inspection-files/log-text.ts';
import { within } from '../../adapters/system/waiting.ts';
import { sendAddress } from '../../adapters/stately/sender-options.ts';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { absolutePath, isHomeThere } from '../home.ts';
import { printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import { openBrowser } from './browser.ts';
import { openedHome, secretsOfHome } from './home.ts';
import { writtenRecording } from './inspection.ts';
import type { InspectedSecrets, OpenedSource } from './opened-source.ts';
import { NO_SECRETS_KNOWN } from './opened-source.ts';
import { receivedPrograms, sentRecording } from './programs.ts';
import { addressAt, showUntilInterrupted } from './shown-inspector.ts';

// A stored inspection log as an inspector shows it: from a file, which may still be written to, or from what is
// piped in.

/** So long a pipe is read before the page opens without waiting for the session. */
const PIPE_PATIENCE_MS = 1_000;

/**
 * Resolves when it is known to be such a log, and to hold the session; of what is piped in, as far as that is soon known.
 * @param file undefined: what is piped in
 * @param session undefined: none in particular
 * @throws RuntimeError INSPECTION_FILE_MISSING, INSPECTION_FILE_UNREADABLE, INSPECTION_LOG_REFUSED, SESSION_NOT_FOUND
 */
async function openedLog(
  { err }: CommandContext,
  file: string | undefined,
  session: string | undefined,
): Promise<Pick<OpenedSource, 'source' | 'close'>> {
  const onProblem = (error: unknown): void =>
    void err.push(`${err.styles.yellow('note:')} ${printable(messageOf(error))}\n`);
  const pieces = file === undefined ? piecesOfStream(process.stdin) : await openLogFile(absolutePath(file));
  const source = await openLogSource({
    title: file === undefined ? 'standard input' : basename(file),
    pieces,
    onProblem,
  });
  const close = async (): Promise<void> => {
    source.close();
    // What is piped in would keep us waiting for its end.
    if (file === undefined) process.stdin.destroy();
  };
  try {
    if (session !== undefined && (await isRead(source, file))) await requireSession(source, session);
  } catch (error) {
    await close();
    throw error;
  }
  return { source, close };
}

/** A program that lives may pipe for as long as it likes, and tell of the session only then. */
async function isRead({ caughtUp }: LogSource, file: string | undefined): Promise<boolean> {
  const isOver = caughtUp.then(() => true);
  return (await (file === undefined ? within(isOver, PIPE_PATIENCE_MS) : isOver)) === true;
}

/** @throws RuntimeError SESSION_NOT_FOUND */
async function requireSession(source: LogSource, session: string): Promise<void> {
  if ((await source.session(session)) === undefined)
    throw new RuntimeError('SESSION_NOT_FOUND', `the recording holds no log of session ${JSON.stringify(session)}`, {
      category: 'not_found',
      hint: 'Leave --session out: the page lists those that it holds.',
    });
}

/** Reads the log from standard input. */
const PIPED = '-';

export interface InspectOptions {
  /** An inspection log; `-` for standard input. Undefined: the sessions of the home. */
  readonly file: string | undefined;
  /** To show first. */
  readonly session?: string | undefined;
  readonly port?: number | undefined;
  readonly opensBrowser: boolean;
  /** Where other programs connect. Undefined: none may. */
  readonly statelyPort?: number | undefined;
  readonly statelyOrigins: readonly string[];
  /** The file that what other programs do is written to. Undefined: none. */
  readonly record?: string | undefined;
  /** Undefined: nothing leaves. */
  readonly sendTo?: string | undefined;
  /** Although some secrets cannot be taken out. */
  readonly sendsUnknownSecrets: boolean;
}

/** What is shown, and what of it would be sent. */
interface Checked {
  readonly source: InspectionSource;
  readonly recording: InspectionRecording;
  readonly secrets: InspectedSecrets;
}

type Closing = () => Promise<void>;

export async function inspect(context: CommandContext, options: InspectOptions): Promise<number> {
  checkWords(options);
  const closings: Closing[] = [];
  try {
    await show(context, options, closings);
  } finally {
    await closeAll(closings);
  }
  return EXIT_SUCCESS;
}

function checkWords(options: InspectOptions): void {
  const { file, session, statelyPort, statelyOrigins, record, sendTo, sendsUnknownSecrets } = options;
  if (file !== undefined && statelyPort !== undefined)
    throw usageError(
      'expected either a file or --stately-port: one timeline is shown',
      'Open them one beside the other, in two terminals.',
    );
  if (statelyOrigins.length > 0 && statelyPort === undefined)
    throw usageError(
      'expected --stately-port with --stately-origin: no page can connect otherwise',
      'Give both: --stately-port 8080 --stately-origin http://localhost:5173',
    );
  if (record !== undefined && statelyPort === undefined)
    throw usageError(
      'expected --stately-port with --record: sessions are their own recording',
      'Give both, --stately-port 8080 --record run.ndjson.gz; or record a command: wakechart worker --record run.ndjson.gz',
    );
  if (sendTo !== undefined && file !== undefined && session !== undefined)
    throw usageError(
      'expected either a file or --session with --send-to: a recording is sent as a whole',
      'Leave --session out.',
    );
  if (sendTo !== undefined && file === undefined && session === undefined && statelyPort === undefined)
    throw usageError(
      'expected a file, --session or --stately-port with --send-to: a home as a whole is no recording',
      'Say what is to be sent: wakechart inspect --session ID --send-to wss://…',
    );
  if (sendsUnknownSecrets && sendTo === undefined)
    throw usageError(
      'expected --send-to with --send-unknown-secrets: nothing is sent otherwise',
      'Leave it out, or say where to send: --send-to wss://…',
    );
  // Before anything is opened: an address that would be refused later is refused now.
  if (sendTo !== undefined) sendAddress(sendTo);
  if (file === PIPED && process.stdin.isTTY)
    throw usageError(
      'expected an inspection log on standard input; that is a terminal',
      'Pipe one in: zcat run.ndjson.gz | wakechart inspect -',
    );
}

async function show(context: CommandContext, options: InspectOptions, closings: Closing[]): Promise<void> {
  const { file, session, port, opensBrowser, record, sendTo, sendsUnknownSecrets } = options;
  const { out, json } = context;
  const { source, recording, secrets } = await checked(context, options, closings);
  if (sendTo !== undefined && !sendsUnknownSecrets) refuseUnknownSecrets(secrets.unknownSecrets);
  if (record !== undefined) {
    const written = await writtenRecording(context, { path: absolutePath(record), recording: source });
    closings.push(() => written.close());
  }
  const { openSource } = await import('../../node/inspector.ts');
  const onProblem = (error: unknown): void => warn(context, `the inspector: ${messageOf(error)}`);
  const inspector = await openSource(source, { onProblem, ...(port === undefined ? {} : { port }) });
  closings.push(() => inspector.close());
  const tell = async (): Promise<void> => {
    const address = addressAt(inspector, session);
    await (json ? out.record({ inspector: { origin: inspector.origin, address } }) : out.line(address));
  };
  await tell();
  if (sendTo !== undefined) {
    const sender = await sentRecording(context, { to: sendTo, recording, secrets });
    closings.push(() => sender.close());
  }
  // One of its own: each is good once.
  if (opensBrowser)
    await openBrowser(addressAt(inspector, session)).catch((error: unknown) =>
      warn(context, `no browser could be opened (${messageOf(error)}); open the address yourself`),
    );
  await showUntilInterrupted(context, { tell, introduction: 'The inspector stays', isInputTaken: file === PIPED });
}

/** @throws RuntimeError STATELY_SEND_REFUSED */
function refuseUnknownSecrets(unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  throw new RuntimeError(
    'STATELY_SEND_REFUSED',
    `expected to know all secrets of the home before anything is sent; not known here, and so not taken out: ${namedSecrets(unknown)}`,
    {
      category: 'permission',
      hint: 'No program is run to get them. If none of them can stand in what is sent, add --send-unknown-secrets.',
    },
  );
}

async function checked(context: CommandContext, options: InspectOptions, closings: Closing[]): Promise<Checked> {
  const { session, statelyPort, statelyOrigins: origins } = options;
  const base = await opened(context, options);
  if (base !== undefined) closings.push(() => base.close());
  const secrets = base ?? NO_SECRETS_KNOWN;
  let source = base?.source;
  if (statelyPort !== undefined) {
    const received = await receivedPrograms(context, {
      port: statelyPort,
      origins,
      base: source,
      secrets,
      onProblem: (error) => warn(context, `other programs: ${messageOf(error)}`),
    });
    closings.push(received.close);
    source = received.source;
  }
  if (source === undefined) throw usageError('expected something to check', 'Name a file, or --session ID.');
  return {
    source,
    secrets,
    recording: (session === undefined ? undefined : await source.recordingOf(session)) ?? source,
  };
}

/** The file, or the home. Other programs are shown without a home too. */
async function opened(
  context: CommandContext,
  { file, session, statelyPort, sendTo }: InspectOptions,
): Promise<OpenedSource | undefined> {
  if (file !== undefined) {
    // What is in it stays as it was written; what leaves is another matter.
    const secrets = sendTo === undefined ? NO_SECRETS_KNOWN : await secretsOfHome(context);
    return { ...(await openedLog(context, file === PIPED ? undefined : file, session)), ...secrets };
  }
  if (
    statelyPort !== undefined &&
    session === undefined &&
    context.store === undefined &&
    !context.isHomeGiven &&
    !(await isHomeThere(context.home))
  )
    return undefined;
  return openedHome(context, session);
}

/** The last that was opened first, and every one of them. */
async function closeAll(closings: readonly Closing[]): Promise<void> {
  const failed: unknown[] = [];
  for (const close of closings.toReversed()) await close().catch((error: unknown) => failed.push(error));
  if (failed.length > 0) throw failed[0];
}

function warn({ err }: CommandContext, text: string): void {
  void err.push(`${err.styles.yellow('note:')} ${printable(text)}\n`);
}
