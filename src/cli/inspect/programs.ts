/**
 * Other XState programs, which show themselves beside what `wakechart inspect` checks, and another inspector that it
 * is sent to.
 */
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { InspectionRecording, InspectionSource } from '../../actors/inspection/inspection-source.ts';
import type { CommandContext } from '../context.ts';
import type { InspectedSecrets } from './opened-source.ts';
import { printable } from '../terminal/text.ts';

export interface ReceivedProgramsOptions {
  readonly port: number;
  readonly origins: readonly string[];
  /** Whose sessions are shown beside them. */
  readonly base: InspectionSource | undefined;
  readonly secrets: InspectedSecrets;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Lets programs connect, and says where. @throws RuntimeError STATELY_OPTIONS_INVALID, STATELY_PORT_TAKEN,
 * STATELY_CANNOT_LISTEN
 */
export async function receivedPrograms(
  { err }: CommandContext,
  { port, origins, base, secrets: { redact }, onProblem }: ReceivedProgramsOptions,
): Promise<{ readonly source: InspectionSource; readonly close: () => Promise<void> }> {
  const { createStatelyReceiver } = await import('../../adapters/stately/stately-receiver.ts');
  const receiver = await createStatelyReceiver({
    port,
    origins,
    clock: createSystemClock(),
    onProblem,
    ...(redact === undefined ? {} : { redact }),
  });
  await err.line(`Other programs connect with createWebSocketInspector({ url: '${receiver.url}' }).`);
  return { source: receiver.source(base), close: () => receiver.close() };
}

export interface SentRecordingOptions {
  readonly to: string;
  readonly recording: InspectionRecording;
  readonly secrets: InspectedSecrets;
}

/** Says what leaves, and sends until it is closed. @throws RuntimeError STATELY_SEND_REFUSED */
export async function sentRecording(
  { err }: CommandContext,
  { to, recording, secrets: { redact, unknownSecrets } }: SentRecordingOptions,
): Promise<{ readonly close: () => Promise<void> }> {
  const { createStatelySender } = await import('../../adapters/stately/stately-sender.ts');
  const tell = (text: string): Promise<void> => err.line(text.split('\n').map(printable).join('\n'));
  return createStatelySender({
    to,
    recording,
    clock: createSystemClock(),
    tell,
    unknownSecrets,
    ...(redact === undefined ? {} : { redact }),
  });
}
