/**
 * Goes on with a log of which something is gone, after a person has said so: the log says what is missing from there
 * on, and the agent hears it.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { IdSource } from '../../actors/session/id-source.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { checkDraft } from '../../machines/session/session-event.ts';
import { systemFileOperations } from './file-operations.ts';
import type { FileOperations, LogFile } from './file-operations.ts';
import { HomeLayout } from './layout.ts';
import { chained } from './log-chain.ts';
import type { LogFault } from './log-chain.ts';
import { LogEnd } from './log-end.ts';
import { LogReader } from './log-reader.ts';
import { LogSegments } from './log-segments.ts';
import { encodeRecord } from './record-codec.ts';
import { DEFAULT_SEGMENT_BYTES } from './session-log.ts';

export interface AcceptedLoss {
  readonly home: string;
  readonly identity: SessionIdentity;
  /** What was found to be gone. */
  readonly loss: LogFault;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly operations?: FileOperations | undefined;
}

/**
 * Nothing is taken out of the log: a record is added, behind which it counts as whole. To be called by who holds the
 * right to wake the session.
 * @throws RuntimeError SESSION_HISTORY_LOST when the log does not begin with its first event: then there is no session
 * to go on with
 */
export async function acceptLoss({
  home,
  identity: { sessionId, agentId },
  loss,
  clock,
  ids,
  operations = systemFileOperations,
}: AcceptedLoss): Promise<void> {
  const directory = new HomeLayout(home).session({ sessionId, agentId });
  const end = await LogEnd.open(directory, operations);
  const segments = new LogSegments(directory, operations);
  const reader = await LogReader.open(
    { sessionId, segments, segmentBytes: DEFAULT_SEGMENT_BYTES, ends: end.known, onLoss: 'tell' },
    undefined,
  );
  try {
    await reader.catchUp();
    if (reader.missingSegment !== undefined) await segments.make(reader.missingSegment);
    await reader.catchUp();
    const [first] = await reader.read({ from: 1, limit: 1 });
    if (first?.type !== 'session.created') throw beginningLost(sessionId);
    const { chain, admission } = reader.index;
    const event = {
      ...checkDraft({ type: 'log.loss_accepted', data: { what: loss, events: admission.head } }),
      id: ids.next(),
      at: new Date(clock.now()).toISOString(),
    };
    const { text, record } = encodeRecord({ events: [event] }, { over: end.claimOf(chain.point), isAnew: true });
    await appendWhole(reader.file, Buffer.from(text, 'utf8'));
    await reader.file.sync();
    await end.startAnew({ ...chained(chain.point, record.checksum), events: admission.head + 1 });
  } finally {
    await end.close();
    await reader.file.close();
  }
}

async function appendWhole(file: LogFile, bytes: Buffer): Promise<void> {
  const written = await file.append(bytes);
  if (written < bytes.length)
    throw new RuntimeError('STORAGE_FAILED', `only ${written} of ${bytes.length} bytes could be written`, {
      category: 'storage',
      hint: 'Free some space and try again.',
    });
}

function beginningLost(sessionId: string): RuntimeError {
  return new RuntimeError(
    'SESSION_HISTORY_LOST',
    `the log of session ${sessionId} does not begin with its first event: there is nothing to go on with`,
    {
      category: 'storage',
      recoverable: false,
      hint: 'Restore its folder from a backup, or take it away with `wakechart session delete`.',
      details: { sessionId },
    },
  );
}
