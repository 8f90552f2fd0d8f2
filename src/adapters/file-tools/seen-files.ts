/**
 * Remembers in which state each session last saw each file, in this process; the sessions and files used longest ago
 * are forgotten first.
 */
import { MAX_SEEN_FILES, MAX_SEEN_SESSIONS } from '../../machines/turn/files/file-limits.ts';

export class SeenFiles {
  /** Versions by real path, by session; what was used last stands last. */
  readonly #sessions = new Map<string, Map<string, string>>();

  remember(sessionId: string, realPath: string, version: string): void {
    const files = this.#sessions.get(sessionId) ?? new Map<string, string>();
    putLast(this.#sessions, sessionId, files, MAX_SEEN_SESSIONS);
    putLast(files, realPath, version, MAX_SEEN_FILES);
  }

  versionOf(sessionId: string, realPath: string): string | undefined {
    return this.#sessions.get(sessionId)?.get(realPath);
  }
}

function putLast<Value>(map: Map<string, Value>, key: string, value: Value, maxSize: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxSize && oldest !== undefined) map.delete(oldest);
}
