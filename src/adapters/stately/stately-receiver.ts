/**
 * Lets other XState programs show themselves: they connect with `createWebSocketInspector`. Nothing of it is loaded
 * before it is asked for.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import type { InspectionRecording, InspectionSource } from '../../actors/inspection/inspection-source.ts';

export interface StatelyReceiverLimits {
  /** Programs at once. Default 16. */
  readonly connections?: number | undefined;
  /** Of one frame. A program that sends a longer one is disconnected. Default 4 MiB. */
  readonly frameBytes?: number | undefined;
  /** The newest records are kept, so many. Default 100,000. */
  readonly records?: number | undefined;
  /** And as many of those as take up so many characters of JSON. Default 64 Mi. */
  readonly characters?: number | undefined;
  /** Different charts. Actors of further ones are shown without a chart. Default 1,000. */
  readonly charts?: number | undefined;
  /** Living actors of one program. Further ones are not shown. Default 10,000. */
  readonly actors?: number | undefined;
}

export interface StatelyReceiverOptions {
  /** Default 8080, where `createWebSocketInspector` looks by itself. 0: a free one. */
  readonly port?: number | undefined;
  /** 127.0.0.1 or ::1. Default 127.0.0.1. */
  readonly host?: string | undefined;
  /**
   * Origins whose pages may connect, as browsers write them: `http://localhost:5173`. Default none: only programs that
   * send no Origin header, as Node does.
   */
  readonly origins?: readonly string[] | undefined;
  readonly limits?: StatelyReceiverLimits | undefined;
  /** Takes secrets out of every text before it is cut and kept. Without it none is taken out. */
  readonly redact?: ((text: string) => string) | undefined;
  readonly clock: Clock;
  /** Hears what those who connect are not told: what failed inside, and what followers throw. */
  readonly onProblem: (error: unknown) => void;
}

export interface StatelyReceiverStatistics {
  /** Connected now. */
  readonly programs: number;
  /** Connections that were refused. */
  readonly refused: number;
  readonly frames: number;
  /** Frames that could not be read, or were about more actors than are kept. */
  readonly lostFrames: number;
}

export interface StatelyReceiver extends AsyncDisposable {
  /** What programs connect to: `ws://127.0.0.1:8080`. */
  readonly url: string;
  readonly statistics: StatelyReceiverStatistics;
  /** What was received. It stays after `close`. */
  readonly recording: InspectionRecording;
  /** As a source for the inspector. @param base whose sessions are shown beside the programs; none without it */
  source(base?: InspectionSource): InspectionSource;
  /** Disconnects all and frees the port. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts listening.
 * @throws RuntimeError STATELY_OPTIONS_INVALID, STATELY_PORT_TAKEN, STATELY_CANNOT_LISTEN
 */
export async function createStatelyReceiver(options: StatelyReceiverOptions): Promise<StatelyReceiver> {
  return (await import('./receiver-server.ts')).listen(options);
}
