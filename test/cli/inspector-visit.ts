/** A browser at the inspector that a command has opened: it signs in with the address that was printed. */
import type { InspectionAnswer } from '../../src/actors/inspection/inspection-source.ts';
import type { RunningCommand } from './command-line.ts';
import { until } from './command-line.ts';

export interface Visit {
  /** Where the server listens. */
  readonly origin: string;
  readonly port: number;
  /** Of the session that the address shows first; empty where it names none. */
  readonly shown: string;
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>;
  json<Value>(path: string): Promise<Value>;
  answer(sessionId: string, answer: InspectionAnswer): Promise<number>;
}

const ADDRESS = /http:\/\/wc-[0-9a-f]{32}\.localhost:\d+\/[0-9a-f]{32}\/\?token=[\w-]+(?:#r=[\w-]+)?/g;

export const addressesIn = (text: string): string[] => text.match(ADDRESS) ?? [];

/** Waits for the last address that the command prints, once it prints `when`. */
export async function visit(command: RunningCommand, when: RegExp = ADDRESS): Promise<Visit> {
  const text = (): string => command.stdout() + command.stderr();
  return signedIn(
    await until('an address', () => (text().search(when) === -1 ? undefined : addressesIn(text()).at(-1))),
  );
}

export async function signedIn(address: string): Promise<Visit> {
  const { port, hash, pathname, search } = new URL(address);
  // Not every system resolves names below localhost, as browsers do.
  const origin = `http://127.0.0.1:${port}`;
  const place = origin + pathname.slice(0, -1);
  const { headers, status } = await fetch(`${place}/${search}`, { redirect: 'manual' });
  if (status !== 303) throw new Error(`expected to be signed in, received ${status}`);
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const ask: Visit['ask'] = async (path) => {
    const response = await fetch(`${place}${path}`, { headers: { cookie } });
    return { status: response.status, text: await response.text() };
  };
  return {
    origin,
    port: Number(port),
    shown: hash.replace('#r=', ''),
    ask,
    json: async <Value>(path: string) => JSON.parse((await ask(path)).text) as Value,
    async answer(sessionId, answer) {
      const response = await fetch(`${place}/api/sessions/${sessionId}/answers`, {
        method: 'POST',
        headers: { cookie, origin, 'content-type': 'application/json' },
        body: JSON.stringify(answer),
      });
      return response.status;
    },
  };
}
