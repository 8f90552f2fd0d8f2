/**
 * What the kernel refuses in a sandbox: asked of the real kernel by programs that make the very calls, and of the
 * program for the other processor by walking it.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemCallFilter } from '../../../src/adapters/bubblewrap/system-call-filter.ts';
import { hasSandbox, openSandbox } from '../../support/sandbox.ts';
import { open, openEscapeSetup, shut } from './escape-setup.ts';
import type { EscapeSetup } from './escape-setup.ts';
import { writeCall } from './system-call.ts';
import type { SystemCall } from './system-call.ts';

const [EPERM, ENOSYS, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EAFNOSUPPORT] = [1, 38, 93, 94, 97];
const CLOSE_ON_EXEC = 0o2000000;

interface Probe {
  readonly what: string;
  readonly call: SystemCall;
  readonly inside: number;
}

const socket = (...args: SystemCall['args']): SystemCall => ({ way: 'x64', number: 41, args });
const onX64 = (number: number, ...args: SystemCall['args']): SystemCall => ({ way: 'x64', number, args });
const onI386 = (number: number, ...args: SystemCall['args']): SystemCall => ({ way: 'i386', number, args });

const REFUSED: readonly Probe[] = [
  ...Object.entries({
    APPLETALK: 5,
    KEY: 15,
    PACKET: 17,
    RDS: 21,
    CAN: 29,
    TIPC: 30,
    BLUETOOTH: 31,
    ALG: 38,
    VSOCK: 40,
    KCM: 41,
    QIPCRTR: 42,
    SMC: 43,
    XDP: 44,
  }).map(([family, number]) => ({
    what: `a socket of AF_${family}`,
    call: socket(number, 1, 0),
    inside: EAFNOSUPPORT,
  })),
  { what: 'a netlink socket for other things than routes', call: socket(16, 3, 15), inside: EPROTONOSUPPORT },
  { what: 'an internet socket of a protocol like SCTP', call: socket(2, 1, 132), inside: EPROTONOSUPPORT },
  { what: 'an internet socket of the old kind for packets', call: socket(2, 10, 0), inside: ESOCKTNOSUPPORT },
  { what: 'a pair of sockets of AF_TIPC', call: onX64(53, 30, 1, 0), inside: EAFNOSUPPORT },
  { what: 'io_uring, which could make sockets unseen', call: onX64(425, 1, 0, 0), inside: ENOSYS },
  { what: 'a socket of AF_VSOCK by x32', call: { way: 'x32', number: 41, args: [40, 1, 0] }, inside: ENOSYS },
  { what: 'a socket of AF_VSOCK by 32 bits', call: onI386(359, 40, 1, 0), inside: EAFNOSUPPORT },
  { what: 'any socket by the socketcall of 32 bits', call: onI386(102, 1, 0, 0), inside: ENOSYS },
  { what: 'io_uring by 32 bits', call: onI386(425, 1, 0, 0), inside: ENOSYS },
  { what: 'the keyring', call: onX64(250, 0, 0xffff_fffd, 0), inside: EPERM },
  { what: 'a user namespace', call: onX64(272, 0x1000_0000, 0, 0), inside: EPERM },
  { what: 'a user namespace by clone3, whose flags cannot be checked', call: onX64(435, 0, 0, 0), inside: ENOSYS },
  { what: 'typing into a terminal', call: onX64(16, 0, 0x5412, 0), inside: EPERM },
];

const ALLOWED: readonly SystemCall[] = [
  ...[
    socket(1, 1, 0),
    socket(1, 2 + CLOSE_ON_EXEC, 0),
    socket(1, 5, 0),
    socket(2, 1 + CLOSE_ON_EXEC, 6),
    socket(2, 2, 0),
    socket(2, 2, 17),
    socket(10, 1, 0),
    socket(16, 3 + CLOSE_ON_EXEC, 0),
  ],
  ...[onI386(359, 1, 1, 0), onI386(359, 2, 1, 6)],
];

let setup: EscapeSetup;
beforeAll(async () => {
  setup = await openEscapeSetup();
});
afterAll(() => setup[Symbol.asyncDispose]());

/** The error numbers of calls, one after the other. */
async function answers(
  calls: readonly SystemCall[],
  where: 'inside' | 'outside' | 'with the network',
): Promise<readonly number[]> {
  await Promise.all(calls.map((call, index) => writeCall(join(setup.workspace, `call-${index}`), call)));
  const each = calls.map((_, index) => `./call-${index}; echo $?`).join('; ');
  const sandbox =
    where === 'outside'
      ? undefined
      : await openSandbox({ workspace: setup.workspace, network: where === 'inside' ? 'disabled' : 'open' });
  const { output } = await (sandbox === undefined ? open(setup, each) : shut(sandbox, setup, each));
  return output.trim().split('\n').map(Number);
}

/** A kernel may run no programs of 32 bits: then such a call ends the one that makes it. */
const runs32 = async (): Promise<boolean> => ((await answers([onI386(359, 1, 1, 0)], 'outside'))[0] ?? 0) < 128;

const named = (numbers: readonly number[]): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(REFUSED.map(({ what }, index) => [what, numbers[index]]));
const EXPECTED = Object.fromEntries(REFUSED.map(({ what, inside }) => [what, inside]));

describe.skipIf(!hasSandbox || process.arch !== 'x64')('in a sandbox the kernel', () => {
  it.each(['inside', 'with the network'] as const)('refuses what reaches out of it: %s', async (where) => {
    const found = named(
      await answers(
        REFUSED.map(({ call }) => call),
        where,
      ),
    );
    const expected = Object.entries(EXPECTED);
    expect(found).toMatchObject(
      Object.fromEntries((await runs32()) ? expected : expected.filter(([what]) => !what.includes('32 bits'))),
    );
  });

  it('would not refuse all of that on the host, so that the calls can tell', async () => {
    const outside = await answers(
      REFUSED.map(({ call }) => call),
      'outside',
    );
    const told = REFUSED.filter(({ inside }, index) => outside[index] !== inside).map(({ what }) => what);
    for (const what of [
      'a netlink socket for other things than routes',
      'a user namespace by clone3, whose flags cannot be checked',
      'the keyring',
      'typing into a terminal',
    ])
      expect(told).toContain(what);
  });

  it('makes the sockets that programs need, also for those of 32 bits', async () => {
    const outside = await answers(ALLOWED, 'outside');
    expect(await answers(ALLOWED, 'inside')).toEqual(outside);
    expect(outside.slice(0, 8)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });
});

/** What a filter answers to a call: the few instructions of BPF that there are. */
function walked(
  filter: Uint8Array,
  { audit, number, args }: { readonly audit: number; readonly number: number; readonly args: readonly number[] },
): number {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  args.forEach((value, index) => data.setBigUint64(16 + index * 8, BigInt(value), true));
  let loaded = 0;
  for (let at = 0; ; at += 1) {
    const operand = view.getUint32(at * 8 + 4, true);
    const jump = (holds: boolean): number => view.getUint8(at * 8 + (holds ? 2 : 3));
    switch (view.getUint16(at * 8, true)) {
      case 0x20:
        loaded = data.getUint32(operand, true);
        break;
      case 0x54:
        loaded = (loaded & operand) >>> 0;
        break;
      case 0x15:
        at += jump(loaded === operand);
        break;
      case 0x35:
        at += jump(loaded >= operand);
        break;
      case 0x45:
        at += jump((loaded & operand) !== 0);
        break;
      case 0x06:
        return operand;
      default:
        throw new Error(`no such instruction at ${at}`);
    }
  }
}

const [KILLED, ALLOWED_ANSWER, FAILED] = [0x8000_0000, 0x7fff_0000, 0x0005_0000];

describe('the filter for arm64', () => {
  const filter = systemCallFilter('arm64') ?? new Uint8Array();
  const ask = (number: number, args: readonly number[], audit = 0xc000_00b7): number =>
    walked(filter, { audit, number, args });

  it.each([
    ['a socket of AF_VSOCK', 198, [40, 1, 0], EAFNOSUPPORT],
    ['a socket of AF_VSOCK with more bits than the kernel checks', 198, [0x1_0000_0028, 1, 0], EAFNOSUPPORT],
    ['a pair of another family than AF_UNIX', 199, [2, 1, 0], EAFNOSUPPORT],
    ['a netlink socket for audits', 198, [16, 3, 9], EPROTONOSUPPORT],
    ['io_uring', 425, [1, 0, 0], ENOSYS],
    ['the keyring', 219, [0, 0, 0], EPERM],
    ['a clone with a user namespace', 220, [0x1000_0011, 0, 0], EPERM],
  ])('refuses %s', (_, number, args, error) => {
    expect(ask(number, args)).toBe(FAILED + error);
  });

  it.each([
    ['a socket of AF_UNIX', 198, [1, 0o2000001, 0]],
    ['a TCP socket', 198, [10, 0o2004001, 6]],
    ['a fork', 220, [17, 0, 0]],
    ['a read', 63, [40, 40, 40]],
    ['an ioctl of a terminal', 29, [0, 0x5413, 0]],
  ])('lets %s through', (_, number, args) => {
    expect(ask(number, args)).toBe(ALLOWED_ANSWER);
  });

  it('knows its 32-bit programs, and ends those of any other kind', () => {
    expect(ask(281, [40, 1, 0], 0x4000_0028)).toBe(FAILED + EAFNOSUPPORT);
    expect(ask(102, [1, 0, 0], 0x4000_0028)).toBe(FAILED + ENOSYS);
    expect(ask(63, [0, 0, 0], 0xc000_003e)).toBe(KILLED);
  });
});

it('there is no filter for a processor whose calls are not known', () => {
  expect(systemCallFilter('riscv64')).toBeUndefined();
});
