/**
 * The shells of all sessions of a runtime: found by session and name, limited in number, and ended with whom they
 * belong to.
 */
import type { RuntimeError } from '../../machines/errors.ts';
import { messageOf } from '../../machines/errors.ts';
import {
  MAX_ENDED_SHELLS_PER_SESSION,
  MAX_OPEN_SHELLS,
  MAX_SHELLS_PER_SESSION,
} from '../../machines/turn/shell/shell-limits.ts';
import type { SessionEnd, SessionWatchPorts } from './session-watch.ts';
import { SessionWatch } from './session-watch.ts';
import { shellDidNotOpen, shellIsOpen, shellNotOpen, shellsAreClosed, tooManyShells } from './shell-errors.ts';
import { Shell } from './shell.ts';
import type { ShellEnding, ShellPorts, ShellRequest } from './shell.ts';

export interface ShellsPorts extends ShellPorts {
  /**
   * Follows the sessions that have shells, so that these end with them, whichever process ends them. Without it only
   * `closeSession` does that.
   */
  readonly sessions?: SessionWatchPorts | undefined;
}

/** Sessions of which something is known although no shell of theirs is open. */
const MAX_QUIET_SESSIONS = 64;

export class Shells {
  readonly #ports: ShellPorts;
  readonly #followed: FollowedSessions | undefined;
  /** By session, then by name, oldest first. */
  readonly #sessions = new Map<string, Map<string, Shell>>();
  /** By session: how many shells of it wait to be opened. */
  readonly #awaited = new Map<string, number>();
  /** Those that cannot be found any more and that are still being ended. */
  readonly #leaving = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor({ sessions, ...ports }: ShellsPorts) {
    this.#ports = ports;
    if (sessions !== undefined)
      this.#followed = new FollowedSessions({
        ...sessions,
        onEnd: (sessionId, end) => this.#onSessionEnd(sessionId, end),
      });
  }

  /**
   * After it no caller finds a shell of a session that was deleted, also when it was brought back since. Undefined when
   * there is nothing to find.
   * @throws RuntimeError STORAGE_FAILED when that cannot be seen
   */
  confirm(sessionId: string): Promise<void> | undefined {
    return this.#sessions.has(sessionId) ? this.#followed?.confirm(sessionId) : undefined;
  }

  /** Also one that has ended, while something is known of it. */
  find(sessionId: string, name: string): Shell | undefined {
    return this.#sessions.get(sessionId)?.get(name);
  }

  /** @throws RuntimeError SHELL_CLOSED when nothing is known of it */
  get(sessionId: string, name: string): Shell {
    const shell = this.find(sessionId, name);
    if (shell === undefined) throw shellNotOpen(name);
    shell.touch();
    return shell;
  }

  /**
   * Opens one in place of an ended one of its name. @throws RuntimeError SHELL_ALREADY_OPEN, SHELL_LIMIT, SHELLS_CLOSED
   * or SHELL_NOT_OPENED
   */
  async open(request: ShellRequest): Promise<Shell> {
    const {
      session: { sessionId },
      name,
    } = request;
    this.#requireRoom(sessionId, name);
    if (this.#followed === undefined) return this.#open(request);
    this.#awaited.set(sessionId, (this.#awaited.get(sessionId) ?? 0) + 1);
    try {
      const watch = await this.#followed.follow(sessionId, name);
      if (watch.end !== undefined) throw shellDidNotOpen(name, whyOver(watch.end));
      this.#requireRoom(sessionId, name);
      return await this.#open(request);
    } finally {
      const left = (this.#awaited.get(sessionId) ?? 1) - 1;
      if (left > 0) this.#awaited.set(sessionId, left);
      else this.#awaited.delete(sessionId);
      this.#leaveIfUnknown(sessionId);
    }
  }

  /** Ends a shell and forgets it. @returns what could not be ended, in words */
  async close(sessionId: string, name: string): Promise<string | undefined> {
    const shell = this.get(sessionId, name);
    await shell.end('it was closed');
    if (this.find(sessionId, name) === shell) this.#forget(sessionId, name);
    return shell.leftOver;
  }

  /** Every shell of a session that something is known of. */
  of(sessionId: string): readonly Shell[] {
    return [...(this.#sessions.get(sessionId)?.values() ?? [])];
  }

  async closeSession(sessionId: string, reason: string, ending: ShellEnding = { records: 'remove' }): Promise<void> {
    const shells = this.of(sessionId);
    await Promise.all(shells.map((shell) => shell.end(reason, ending)));
    for (const shell of shells) if (this.find(sessionId, shell.name) === shell) this.#forget(sessionId, shell.name);
  }

  /** Ends every shell, and opens none from now on. Idempotent. */
  closeAll(reason: string): Promise<void> {
    this.#closing ??= Promise.resolve().then(async () => {
      await Promise.all([
        ...[...this.#sessions.keys()].map((sessionId) => this.closeSession(sessionId, reason, { records: 'keep' })),
        ...this.#leaving,
      ]);
    });
    return this.#closing;
  }

  /** At once from its beginning: no other call can come between. There is room. */
  async #open(request: ShellRequest): Promise<Shell> {
    const {
      session: { sessionId },
      name,
    } = request;
    const shell = new Shell(this.#ports, request, () => {
      if (this.find(sessionId, name) === shell) this.#forget(sessionId, name);
    });
    const shells = this.#sessions.get(sessionId) ?? new Map<string, Shell>();
    shells.get(name)?.dispose();
    shells.delete(name);
    this.#sessions.set(sessionId, shells);
    shells.set(name, shell);
    this.#forgetOldest(sessionId, shells);
    this.#forgetQuiet();
    try {
      await shell.open();
    } catch (error) {
      if (this.find(sessionId, name) === shell) this.#forget(sessionId, name);
      throw error;
    }
    return shell;
  }

  /**
   * What ran in the shells of a terminated session can still be read: its wake may be at it. A deleted one leaves
   * nothing.
   */
  #onSessionEnd(sessionId: string, end: SessionEnd): void {
    const shells = this.of(sessionId);
    // Before they have ended: a session that was brought back under the same id must find none of them.
    if (end === 'deleted') for (const { name } of shells) this.#forget(sessionId, name);
    const leaving = Promise.all(shells.map((shell) => shell.end(whyOver(end))));
    this.#leaving.add(leaving);
    void leaving.finally(() => this.#leaving.delete(leaving));
  }

  /** @throws RuntimeError SHELL_ALREADY_OPEN, SHELL_LIMIT or SHELLS_CLOSED */
  #requireRoom(sessionId: string, name: string): void {
    const refusal = this.#refusal(sessionId, name);
    if (refusal !== undefined) throw refusal;
  }

  #refusal(sessionId: string, name: string): RuntimeError | undefined {
    if (this.#closing !== undefined) return shellsAreClosed();
    if (this.find(sessionId, name)?.isOpen === true) return shellIsOpen(name);
    const open = [...this.#sessions].flatMap(([owner, shells]) =>
      [...shells.values()].filter(({ isOpen }) => isOpen).map(() => owner),
    );
    if (open.filter((owner) => owner === sessionId).length >= MAX_SHELLS_PER_SESSION) return tooManyShells('session');
    return open.length >= MAX_OPEN_SHELLS ? tooManyShells('runtime') : undefined;
  }

  #forgetOldest(sessionId: string, shells: ReadonlyMap<string, Shell>): void {
    const ended = [...shells.values()].filter(({ isOpen }) => !isOpen);
    for (const { name } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_SHELLS_PER_SESSION)))
      this.#forget(sessionId, name);
  }

  #forgetQuiet(): void {
    const quiet = [...this.#sessions].filter(([, shells]) => [...shells.values()].every(({ isOpen }) => !isOpen));
    for (const [sessionId, shells] of quiet.slice(0, Math.max(0, quiet.length - MAX_QUIET_SESSIONS))) {
      for (const name of [...shells.keys()]) this.#forget(sessionId, name);
    }
  }

  #forget(sessionId: string, name: string): void {
    const shells = this.#sessions.get(sessionId);
    shells?.get(name)?.dispose();
    shells?.delete(name);
    if (shells?.size === 0) this.#sessions.delete(sessionId);
    this.#leaveIfUnknown(sessionId);
  }

  #leaveIfUnknown(sessionId: string): void {
    if (!this.#sessions.has(sessionId) && !this.#awaited.has(sessionId)) this.#followed?.leave(sessionId);
  }
}

/** As a clause. */
function whyOver(end: SessionEnd): string {
  return `its session was ${end}`;
}

interface FollowedSessionsOptions extends SessionWatchPorts {
  readonly onEnd: (sessionId: string, end: SessionEnd) => void;
}

/**
 * The sessions that are followed because something is known of shells of theirs. Nothing is watched or held open for
 * any other.
 */
class FollowedSessions {
  readonly #options: FollowedSessionsOptions;
  readonly #watches = new Map<string, Promise<SessionWatch>>();

  constructor(options: FollowedSessionsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the session is followed; it is until `leave`.
   * @param shell the one that is to be opened in it @throws RuntimeError SHELL_NOT_OPENED when it cannot be followed
   */
  async follow(sessionId: string, shell: string): Promise<SessionWatch> {
    try {
      return await (this.#watches.get(sessionId) ?? this.#start(sessionId));
    } catch (error) {
      throw shellDidNotOpen(shell, `its session could not be checked: ${messageOf(error)}`, error);
    }
  }

  /** Resolves when `onEnd` has been called if the session is not there any more. @throws when that cannot be seen */
  async confirm(sessionId: string): Promise<void> {
    await (await this.#watches.get(sessionId))?.confirm();
  }

  /** Idempotent. */
  leave(sessionId: string): void {
    const watch = this.#watches.get(sessionId);
    this.#watches.delete(sessionId);
    watch?.then(
      (started) => started.stop(),
      () => undefined,
    );
  }

  #start(sessionId: string): Promise<SessionWatch> {
    const watch = SessionWatch.start(this.#options, sessionId, (end) => {
      if (this.#watches.get(sessionId) === watch) this.#options.onEnd(sessionId, end);
    });
    this.#watches.set(sessionId, watch);
    // One that did not come about is tried again with the next shell.
    watch.catch(() => this.#watches.get(sessionId) === watch && this.#watches.delete(sessionId));
    return watch;
  }
}
