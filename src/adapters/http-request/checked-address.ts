/**
 * Finds the address behind a host, and whether a request may go there. It is the address that is connected to: a name
 * that means another one a moment later leads nowhere else.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { addressKind } from '../../machines/turn/http-request-address.ts';
import { RuntimeError } from '../../machines/errors.ts';

export interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type FindAddresses = (hostname: string) => Promise<readonly CheckedAddress[]>;

export interface AddressRules {
  /** Whether this machine, and the network that it stands in, may be reached. */
  readonly mayReachHome: boolean;
  /** What a name means. Default: what the system says. */
  readonly find?: FindAddresses | undefined;
}

/** @throws RuntimeError HOST_NOT_FOUND, ADDRESS_FORBIDDEN */
export async function checkedAddress(
  { hostname, host }: Pick<URL, 'hostname' | 'host'>,
  { mayReachHome, find = findBySystem }: AddressRules,
): Promise<CheckedAddress> {
  const name = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(name);
  const addresses =
    version === 0 ? await find(name) : [{ address: name, family: version === 4 ? (4 as const) : (6 as const) }];
  const [first] = addresses;
  if (first === undefined) throw notFound(host);
  // A name with one good address and one bad one is there to be tried until the bad one is taken.
  const bad = addresses.find(({ address }) => !isAllowed(address, mayReachHome));
  if (bad === undefined) return first;
  throw new RuntimeError('ADDRESS_FORBIDDEN', `${host} is at ${bad.address}, which requests of agents do not go to`, {
    category: 'permission',
    hint:
      addressKind(bad.address) === 'never'
        ? 'Nothing that is meant for agents is there.'
        : 'It belongs to this machine or its network. This tool goes there only in an environment without a sandbox; only people can change that.',
    details: { host, address: bad.address },
  });
}

function isAllowed(address: string, mayReachHome: boolean): boolean {
  const kind = addressKind(address);
  if (kind === 'never') return false;
  return mayReachHome || (kind === 'public' && !isOurs(address));
}

/** This machine by an address that all machines can reach. */
function isOurs(address: string): boolean {
  return Object.values(networkInterfaces()).some((each) => each?.some((one) => one.address === address) === true);
}

async function findBySystem(hostname: string): Promise<readonly CheckedAddress[]> {
  try {
    const found = await lookup(hostname, { all: true, verbatim: true });
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  } catch {
    throw notFound(hostname);
  }
}

function notFound(host: string): RuntimeError {
  return new RuntimeError('HOST_NOT_FOUND', `there is no host ${host}, or its address cannot be found now`, {
    category: 'not_found',
    hint: 'Check the name.',
  });
}
