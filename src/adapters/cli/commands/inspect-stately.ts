/** `wakechart inspect` with other XState programs: those that show themselves here, and an inspector of somebody else's that what is here is sent to. */
import { createSystemClock } from '../../../actors/clock/system-clock.ts';
import type { InspectionRecording, InspectionSource } from '../../../actors/inspection/inspection-source.ts';
import { messageOf } from '../../../machines/errors.ts';
import { sendAddress } from '../../stately/sender-options.ts';
import { createStatelyReceiver } from '../../stately/stately-receiver.ts';
import { createStatelySender } from '../../stately/stately-sender.ts';
import { openBrowser } from '../browser.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { isHomeThere } from '../home.ts';
import { openedHome } from '../inspected-home.ts';
import { openedLog } from '../inspected-log.ts';
import { addressAt, showUntilInterrupted } from '../shown-inspector.ts';
import { printable } from '../text.ts';
import { usageError } from '../usage.ts';
import type { InspectOptions, OpenedSource } from './inspect.ts';

const PIPED = '-';

export interface InspectStatelyOptions extends InspectOptions {
  /** Where other programs connect. Undefined: none may. */
  readonly statelyPort: number | undefined;
  readonly statelyOrigins: readonly string[];
  /** Undefined: nothing leaves. */
  readonly sendTo: string | undefined;
}

type Closing = () => Promise<void>;

export async function inspectStately(context: CommandContext, options: InspectStatelyOptions): Promise<number> {
  checkWords(options);
  const closings: Closing[] = [];
  try {
    await showAll(context, options, closings);
  } finally {
    await closeAll(closings);
  }
  return EXIT_SUCCESS;
}

function checkWords({ file, session, statelyPort, statelyOrigins, sendTo }: InspectStatelyOptions): void {
  if (file !== undefined && session !== undefined) throw usageError('expected either a file or --session: an inspection log holds no sessions', 'Leave one of them out.');
  if (file !== undefined && statelyPort !== undefined) throw usageError('expected either a file or --stately-port: one timeline is shown', 'Open them one beside the other, in two terminals.');
  if (statelyOrigins.length > 0 && statelyPort === undefined) throw usageError('expected --stately-port with --stately-origin: no page can connect otherwise', 'Give both: --stately-port 8080 --stately-origin http://localhost:5173');
  if (sendTo !== undefined && file === undefined && session === undefined && statelyPort === undefined) throw usageError('expected a file, --session or --stately-port with --send-to: a home as a whole is no recording', 'Say what is to be sent: wakechart inspect --session ID --send-to wss://…');
  // Before anything is opened: an address that would be refused later is refused now.
  if (sendTo !== undefined) sendAddress(sendTo);
  if (file === PIPED && process.stdin.isTTY) throw usageError('expected an inspection log on standard input; that is a terminal', 'Pipe one in: zcat run.ndjson.gz | wakechart inspect -');
}

async function showAll(context: CommandContext, options: InspectStatelyOptions, closings: Closing[]): Promise<void> {
  const { file, session, port, opensBrowser } = options;
  const base = await opened(context, options);
  if (base !== undefined) closings.push(() => base.close());
  const { source, recording } = await looked(context, options, { base: base?.source, closings });
  const { openSource } = await import('../../../node-inspector.ts');
  const inspector = await openSource(source, { onProblem: (error) => warn(context, `the inspector: ${messageOf(error)}`), ...(port === undefined ? {} : { port }) });
  closings.push(() => inspector.close());
  const tell = async (): Promise<void> => {
    const address = addressAt(inspector, session);
    await (context.json ? context.out.record({ inspector: { origin: inspector.origin, address } }) : context.out.line(address));
  };
  await tell();
  await send(context, options, { recording, closings });
  if (opensBrowser) await openBrowser(addressAt(inspector, session)).catch((error: unknown) => warn(context, `no browser could be opened (${messageOf(error)}); open the address yourself`));
  await showUntilInterrupted(context, { tell, introduction: 'The inspector stays', isInputTaken: file === PIPED });
}

/** The file, or the home. Other programs are shown without a home too. */
async function opened(context: CommandContext, { file, session, statelyPort }: InspectStatelyOptions): Promise<OpenedSource | undefined> {
  if (file !== undefined) return openedLog(context, file === PIPED ? undefined : file);
  if (statelyPort !== undefined && session === undefined && !context.isHomeGiven && !(await isHomeThere(context.home))) return undefined;
  return openedHome(context, session);
}

interface Parts {
  readonly base: InspectionSource | undefined;
  readonly closings: Closing[];
}

interface Looked {
  readonly source: InspectionSource;
  /** What would be sent. */
  readonly recording: InspectionRecording;
}

async function looked(context: CommandContext, { statelyPort, statelyOrigins, session }: InspectStatelyOptions, { base, closings }: Parts): Promise<Looked> {
  if (statelyPort === undefined) {
    if (base === undefined) throw usageError('expected something to look at', 'Name a file, or --session ID.');
    return { source: base, recording: session === undefined ? base : ((await base.recordingOf(session)) ?? base) };
  }
  const receiver = await createStatelyReceiver({ port: statelyPort, origins: statelyOrigins, clock: createSystemClock(), onProblem: (error) => warn(context, `other programs: ${messageOf(error)}`) });
  closings.push(() => receiver.close());
  await context.err.line(`Other programs connect with createWebSocketInspector({ url: '${receiver.url}' }).`);
  const source = receiver.source(base);
  return { source, recording: session === undefined || base === undefined ? source : ((await base.recordingOf(session)) ?? source) };
}

async function send(context: CommandContext, { sendTo }: InspectStatelyOptions, { recording, closings }: { readonly recording: InspectionRecording; readonly closings: Closing[] }): Promise<void> {
  if (sendTo === undefined) return;
  const sender = await createStatelySender({ to: sendTo, recording, clock: createSystemClock(), tell: (text) => context.err.line(text.split('\n').map(printable).join('\n')) });
  closings.push(() => sender.close());
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
