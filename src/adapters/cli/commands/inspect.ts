/** `wakechart inspect`: the sessions of a home, or what was recorded, in a browser on this machine. It runs nothing and wakes nobody. */
import { messageOf } from '../../../machines/errors.ts';
import type { InspectionSource } from '../../../actors/inspection/inspection-source.ts';
import type { InspectorServer } from '../../inspector/inspector.ts';
import { openBrowser } from '../browser.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { openedHome } from '../inspected-home.ts';
import { openedLog } from '../inspected-log.ts';
import { addressAt, showUntilInterrupted } from '../shown-inspector.ts';
import { printable } from '../text.ts';
import { usageError } from '../usage.ts';

/** Reads the log from standard input. */
const PIPED = '-';

export interface InspectOptions {
  /** An inspection log; `-` for standard input. Undefined: the sessions of the home. */
  readonly file: string | undefined;
  /** To show first. */
  readonly session: string | undefined;
  readonly port: number | undefined;
  readonly opensBrowser: boolean;
}

/** What is looked at, and how it is let go of. */
export interface OpenedSource {
  readonly source: InspectionSource;
  readonly close: () => Promise<void>;
}

export async function inspect(context: CommandContext, { file, session, port, opensBrowser }: InspectOptions): Promise<number> {
  if (file !== undefined && session !== undefined) throw usageError('expected either a file or --session: an inspection log holds no sessions', 'Leave one of them out.');
  if (file === PIPED && process.stdin.isTTY) throw usageError('expected an inspection log on standard input; that is a terminal', 'Pipe one in: zcat run.ndjson.gz | wakechart inspect -');
  const { source, close } = await (file === undefined ? openedHome(context, session) : openedLog(context, file === PIPED ? undefined : file));
  try {
    const { openSource } = await import('../../../node-inspector.ts');
    const onProblem = (error: unknown): void => warn(context, `the inspector: ${messageOf(error)}`);
    const inspector = await openSource(source, { onProblem, ...(port === undefined ? {} : { port }) });
    try {
      await show(context, inspector, { session, opensBrowser, isInputTaken: file === PIPED });
    } finally {
      await inspector.close();
    }
  } finally {
    await close();
  }
  return EXIT_SUCCESS;
}

interface Showing {
  readonly session: string | undefined;
  readonly opensBrowser: boolean;
  readonly isInputTaken: boolean;
}

async function show(context: CommandContext, inspector: InspectorServer, { session, opensBrowser, isInputTaken }: Showing): Promise<void> {
  const { out, json } = context;
  const tell = async (): Promise<void> => {
    const address = addressAt(inspector, session);
    await (json ? out.record({ inspector: { origin: inspector.origin, address } }) : out.line(address));
  };
  await tell();
  if (opensBrowser) {
    // One of its own: each is good once.
    await openBrowser(addressAt(inspector, session)).catch((error: unknown) => warn(context, `no browser could be opened (${messageOf(error)}); open the address yourself`));
  }
  await showUntilInterrupted(context, { tell, introduction: 'The inspector stays', isInputTaken });
}

function warn({ err }: CommandContext, text: string): void {
  void err.push(`${err.styles.yellow('note:')} ${printable(text)}\n`);
}
