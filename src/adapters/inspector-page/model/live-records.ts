/**
 * Follows a recording by server-sent events, through every interruption, until the server says that this place in it is
 * gone.
 */
import type { InspectedSpeech } from '../../../actors/inspection/inspection-source.ts';
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import { isRefusal, recordingPath, server } from './transport.ts';

/** `other_program` and `gone`: what is here does not go on; it has to be loaded anew. */
export type LiveEnd = 'left' | 'other_program' | 'gone';

export interface LiveRecords {
  readonly recording: string;
  readonly from: number;
  readonly boot: string;
  readonly left: AbortSignal;
  /** @param characters of all of them as JSON */
  readonly onRecords: (records: readonly InspectionRecord[], characters: number) => void;
  /** @param speech all of what is said now; undefined: nothing */
  readonly onSpeech: (speech: InspectedSpeech | undefined) => void;
  readonly onLost: () => void;
  readonly onBack: () => void;
}

interface Told {
  readonly boot: string;
  readonly reason?: string;
}

/** @throws RequestFailure when the server refuses, so that asking again is of no use */
export function followRecords({
  recording,
  from,
  boot,
  left,
  onRecords,
  onSpeech,
  onLost,
  onBack,
}: LiveRecords): Promise<LiveEnd> {
  return new Promise((resolve, reject) => {
    if (left.aborted) return resolve('left');
    let next = from;
    let isOver = false;
    const source = new EventSource(recordingPath('live', recording, from));
    const close = (): void => {
      isOver = true;
      source.close();
    };
    const end = (how: LiveEnd): void => {
      close();
      resolve(how);
    };
    const fail = (error: unknown): void => {
      close();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    left.addEventListener('abort', () => end('left'), { once: true });
    source.addEventListener('hello', ({ data }: MessageEvent<string>) => {
      if ((JSON.parse(data) as Told).boot !== boot) return end('other_program');
      onBack();
    });
    source.addEventListener('records', ({ data }: MessageEvent<string>) => {
      const records = (JSON.parse(data) as readonly InspectionRecord[]).filter(({ s }) => s >= next);
      next = (records.at(-1)?.s ?? next - 1) + 1;
      if (records.length > 0) onRecords(records, data.length);
    });
    source.addEventListener('speech', ({ data }: MessageEvent<string>) =>
      onSpeech((JSON.parse(data) as InspectedSpeech | null) ?? undefined),
    );
    source.addEventListener('reload', ({ data }: MessageEvent<string>) =>
      end((JSON.parse(data) as Told).reason === 'too_far_behind' ? 'gone' : 'other_program'),
    );
    // The browser tries again by itself, unless it was refused; it does not say why, so the server is asked.
    source.addEventListener('error', () => {
      onLost();
      void server.about().then(
        () => (!isOver && source.readyState === EventSource.CLOSED ? end('gone') : undefined),
        (error: unknown) =>
          !isOver && (isRefusal(error) || source.readyState === EventSource.CLOSED) ? fail(error) : undefined,
      );
    });
  });
}
