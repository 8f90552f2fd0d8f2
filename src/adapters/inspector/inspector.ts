/** The inspector's server: what it is given and what it gives. Nothing of it is loaded before it is asked for. */
import type { InspectionSource } from '../../actors/inspection/inspection-source.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';

/** Draws charts; which adapter does, the composition root decides. */
export interface ChartPictures {
  /** What the picture is known by, without drawing it: hexadecimal digits. */
  hash(chart: ChartDescription): string;
  /** A whole SVG document. */
  draw(chart: ChartDescription): Promise<string>;
}

export interface InspectorLimits {
  /**
   * Connections at once; for one more, the one that has been silent longest is closed, or itself where none is. Default
   * 64.
   */
  readonly maxConnections?: number | undefined;
  /** Browsers that follow at once. Default 16. */
  readonly maxLiveStreams?: number | undefined;
  /** A client that reads nothing for so long is dropped. Default 30,000. */
  readonly stallMs?: number | undefined;
  /** A stream of live records says at least this often that it is there. Less than `stallMs`. Default 10,000. */
  readonly heartbeatMs?: number | undefined;
  /** A request has to arrive whole within it, and the source to answer. Default 10,000. */
  readonly requestMs?: number | undefined;
  /** Of a request. Default 2 MiB, which holds the longest answer however it is escaped. */
  readonly maxBodyBytes?: number | undefined;
}

export interface InspectorOptions {
  readonly source: InspectionSource;
  readonly pictures: ChartPictures;
  /** Absolute path of the folder with the page: `index.html` and what it needs. Without one there is only the API. */
  readonly pageDirectory?: string | undefined;
  /**
   * An address of this machine. Default 127.0.0.1. Any that others can reach is refused without
   * `exposeBeyondThisMachine`.
   */
  readonly host?: string | undefined;
  /** Default 0: a free one. */
  readonly port?: number | undefined;
  /**
   * Lets others on the network connect, unencrypted: a person who can listen to the network can read what is shown and
   * answer in your name. The names are those by which browsers may call this machine.
   */
  readonly exposeBeyondThisMachine?: { readonly hostNames: readonly string[] } | undefined;
  readonly limits?: InspectorLimits | undefined;
  /** Hears what clients are not told: why something inside failed. */
  readonly onProblem: (error: unknown) => void;
}

export interface InspectorServer extends AsyncDisposable {
  /**
   * Where it listens: `http://127.0.0.1:4321`. Nothing lies there: everything is below a path that only `signInAddress`
   * tells.
   */
  readonly origin: string;
  /**
   * A new address that signs one browser in, once, within ten minutes:
   * `http://wc-<random>.localhost:4321/<random>/?token=…`. Name and path are those of this inspector alone, so that
   * what it gives a browser goes to no other program. Browsers know what `*.localhost` is; for one that does not, put
   * 127.0.0.1 in its place. At most 16 unused ones are good: the oldest is forgotten.
   */
  signInAddress(): string;
  /** Ends every connection and stream at once and frees the port. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts listening.
 * @throws RuntimeError INSPECTOR_OPTIONS_INVALID, INSPECTOR_PORT_TAKEN, INSPECTOR_CANNOT_LISTEN
 */
export async function startInspector(options: InspectorOptions): Promise<InspectorServer> {
  return (await import('./inspector-server.ts')).listen(options);
}
