/**
 * Names those who claim slots and run them, so that others can ask whether the process behind a name is still there.
 */
import type { HostLife } from '../host/host-life.ts';

export interface SlotOwners {
  /** Never used before. At once where there is no process to name. */
  newOwner(): string | Promise<string>;
  /** Undefined when that cannot be told, as of a process of another machine: its silence has to tell then. */
  isAlive(owner: string): Promise<boolean | undefined>;
}

export interface SlotOwnersOptions {
  /** Default: of no owner can be told whether it lives. */
  readonly life?: Pick<HostLife, 'token' | 'isAlive'> | undefined;
  /**
   * The same for all processes that share a home on one machine, and for no others. Default: all that see the schedules
   * do.
   */
  readonly place?: (() => Promise<string>) | undefined;
}

const SEPARATOR = '@';

/** An owner is `<uuid>@<token of its process>@<place>`, as far as there are any. */
export function createSlotOwners({ life, place }: SlotOwnersOptions = {}): SlotOwners {
  const here = async (): Promise<string> => (await place?.()) ?? '';
  return {
    newOwner() {
      const name = crypto.randomUUID();
      if (life === undefined) return name;
      return life
        .token()
        .then(async (token) => (token === undefined ? name : [name, token, await here()].join(SEPARATOR)));
    },
    async isAlive(owner) {
      const [, token, there] = owner.split(SEPARATOR);
      if (life === undefined || token === undefined || there !== (await here())) return undefined;
      return token === (await life.token()) ? true : life.isAlive(token);
    },
  };
}
