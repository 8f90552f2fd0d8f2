/** Asks the server. What it answers is of the same program as this page, so it is taken as what the port says. */
import type { SendReceipt } from '../../../actors/session/ingress.ts';
import type {
  CommandReceipt,
  InspectionAbout,
  InspectionAnswer,
  InspectionCommand,
  InspectionRange,
} from '../../../actors/inspection/inspection-source.ts';
import type { ShownFleet } from '../../../actors/inspection/fleet-words.ts';
import type {
  ShownChanges,
  ShownProcesses,
  ShownSession,
  ShownSessions,
  ShownSteps,
} from '../../../actors/inspection/shown-answers.ts';
import type { InspectionHeader } from '../../../machines/inspection-log/inspection-record.ts';

export interface About extends InspectionAbout {
  readonly header: InspectionHeader;
  readonly range: InspectionRange;
}

/** What the server said instead, or why it said nothing. */
class RequestFailure extends Error {
  /** 0: no answer came. */
  readonly status: number;
  readonly code: string;
  readonly hint: string;

  constructor(
    status: number,
    { code, message, hint }: { readonly code: string; readonly message: string; readonly hint: string },
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** Whether asking again would be answered the same: the server itself has refused. */
export function isRefusal(error: unknown): error is RequestFailure {
  return error instanceof RequestFailure && error.status !== 0 && error.status < 500;
}

/** What went wrong, and what to do about it; whatever was thrown. */
export function failureOf(error: unknown): Pick<RequestFailure, 'message' | 'hint' | 'status'> {
  return error instanceof RequestFailure
    ? error
    : { message: error instanceof Error ? error.message : String(error), hint: '', status: 0 };
}

/** The same as one text. */
export function reasonOf(error: unknown): string {
  const { message, hint } = failureOf(error);
  return `${message}. ${hint}`;
}

const NO_ANSWER = {
  code: 'INSPECTOR_SILENT',
  message: 'the inspector does not answer',
  hint: 'Its program has ended, or cannot be reached. What was read so far stays here; it is asked again by itself.',
} as const;

const NOT_READ = 408;

/** @param path from the page on: where that lies is the server's to say @throws RequestFailure */
export async function request(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...options });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw new RequestFailure(0, NO_ANSWER);
  }
  if (response.ok) return response;
  // Node says so by itself where the program had no time to read what was asked: asking again helps.
  if (response.status === NOT_READ) throw new RequestFailure(0, NO_ANSWER);
  const told = (await response.json().catch(() => undefined)) as
    | { readonly code?: string; readonly message?: string; readonly hint?: string }
    | undefined;
  throw new RequestFailure(response.status, {
    code: told?.code ?? 'INSPECTOR_FAILED',
    message: told?.message ?? `the inspector answered ${response.status}`,
    hint: told?.hint ?? '',
  });
}

async function json<Value>(path: string, options?: RequestInit): Promise<Value> {
  return (await (await request(path, options)).json()) as Value;
}

function post<Value>(path: string, body: unknown): Promise<Value> {
  return json(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const sessionPath = (sessionId: string): string => `./api/sessions/${encodeURIComponent(sessionId)}`;

/** Of a recording: that of a session, or the main one. */
export function recordingPath(name: 'records' | 'live', recording: string, from: number): string {
  return `./api/${name}?from=${from}${recording === '' ? '' : `&session=${encodeURIComponent(recording)}`}`;
}

export function chartPath(chart: string, recording: string): string {
  return `./api/charts/${encodeURIComponent(chart)}.svg${recording === '' ? '' : `?session=${encodeURIComponent(recording)}`}`;
}

/** Each @throws RequestFailure */
export const server = {
  about: () => json<About>('./api/about'),
  sessions: (limit: number) => json<ShownSessions>(`./api/sessions?limit=${limit}`),
  fleet: () => json<ShownFleet>('./api/fleet'),
  schedules: () => json<ShownFleet>('./api/schedules'),
  session: (sessionId: string) => json<ShownSession>(sessionPath(sessionId)),
  transcript: (sessionId: string, from: number, limit: number) =>
    json<ShownSteps>(`${sessionPath(sessionId)}/transcript?from=${from}&limit=${limit}`),
  processes: (sessionId: string) => json<ShownProcesses>(`${sessionPath(sessionId)}/processes`),
  changes: async (sessionId: string) =>
    (await json<{ readonly changes: readonly ShownChanges[] }>(`${sessionPath(sessionId)}/changes`)).changes,
  endProcess: async (sessionId: string, pid: number, isFar: boolean) => {
    await post(`${sessionPath(sessionId)}/processes/end`, { pid, isFar });
  },
  answer: async (sessionId: string, answer: InspectionAnswer) => {
    const { receipt } = await post<{ readonly receipt: SendReceipt }>(`${sessionPath(sessionId)}/answers`, answer);
    return receipt;
  },
  command: async (sessionId: string, command: InspectionCommand) => {
    const path = `${sessionPath(sessionId)}/commands`;
    return (await post<{ readonly receipt: CommandReceipt }>(path, command)).receipt;
  },
} as const;
