/** The shells of all sessions of a runtime: found by session and name, limited in number, and ended with whom they belong to. */
import type { RuntimeError } from '../../machines/errors.ts';
import { MAX_ENDED_SHELLS_PER_SESSION, MAX_OPEN_SHELLS, MAX_SHELLS_PER_SESSION } from '../../machines/turn/shell/shell-limits.ts';
import { shellIsOpen, shellNotOpen, shellsAreClosed, tooManyShells } from './shell-errors.ts';
import { Shell } from './shell.ts';
import type { ShellPorts } from './shell.ts';
import type { ShellProcessRequest } from './shell-process.ts';

export class Shells {
  readonly #ports: ShellPorts;
  /** By session, then by name, oldest first. */
  readonly #sessions = new Map<string, Map<string, Shell>>();
  #closing: Promise<void> | undefined;

  constructor(ports: ShellPorts) {
    this.#ports = ports;
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

  /** Opens one in place of an ended one of its name. @throws RuntimeError SHELL_ALREADY_OPEN, SHELL_LIMIT, SHELLS_CLOSED or SHELL_NOT_OPENED */
  async open(request: ShellProcessRequest): Promise<Shell> {
    const { sessionId, name } = request;
    const refusal = this.#refusal(sessionId, name);
    if (refusal !== undefined) throw refusal;
    this.#forget(sessionId, name);
    const shell = new Shell(this.#ports, request, () => {
      if (this.find(sessionId, name) === shell) this.#forget(sessionId, name);
    });
    const shells = this.#sessions.get(sessionId) ?? new Map<string, Shell>();
    this.#sessions.set(sessionId, shells);
    shells.set(name, shell);
    this.#forgetOldest(sessionId, shells);
    try {
      await shell.open();
    } catch (error) {
      if (this.find(sessionId, name) === shell) this.#forget(sessionId, name);
      throw error;
    }
    return shell;
  }

  /** Ends a shell and forgets it. @returns what could not be ended, in words */
  async close(sessionId: string, name: string): Promise<string | undefined> {
    const shell = this.get(sessionId, name);
    await shell.end('it was closed');
    if (this.find(sessionId, name) === shell) this.#forget(sessionId, name);
    return shell.leftOver;
  }

  async closeSession(sessionId: string, reason: string): Promise<void> {
    const shells = [...(this.#sessions.get(sessionId)?.values() ?? [])];
    await Promise.all(shells.map((shell) => shell.end(reason)));
    for (const shell of shells) if (this.find(sessionId, shell.name) === shell) this.#forget(sessionId, shell.name);
  }

  /** Ends every shell, and opens none from now on. Idempotent. */
  closeAll(reason: string): Promise<void> {
    this.#closing ??= Promise.resolve().then(async () => {
      await Promise.all([...this.#sessions.keys()].map((sessionId) => this.closeSession(sessionId, reason)));
    });
    return this.#closing;
  }

  #refusal(sessionId: string, name: string): RuntimeError | undefined {
    if (this.#closing !== undefined) return shellsAreClosed();
    if (this.find(sessionId, name)?.isOpen === true) return shellIsOpen(name);
    const open = [...this.#sessions].flatMap(([owner, shells]) => [...shells.values()].filter(({ isOpen }) => isOpen).map(() => owner));
    if (open.filter((owner) => owner === sessionId).length >= MAX_SHELLS_PER_SESSION) return tooManyShells('session');
    return open.length >= MAX_OPEN_SHELLS ? tooManyShells('runtime') : undefined;
  }

  #forgetOldest(sessionId: string, shells: ReadonlyMap<string, Shell>): void {
    const ended = [...shells.values()].filter(({ isOpen }) => !isOpen);
    for (const { name } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_SHELLS_PER_SESSION))) this.#forget(sessionId, name);
  }

  #forget(sessionId: string, name: string): void {
    const shells = this.#sessions.get(sessionId);
    shells?.get(name)?.dispose();
    shells?.delete(name);
    if (shells?.size === 0) this.#sessions.delete(sessionId);
  }
}
