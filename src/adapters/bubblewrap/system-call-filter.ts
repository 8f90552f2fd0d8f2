/**
 * What the kernel refuses to a command in a sandbox, as the BPF program that bubblewrap hands it.
 *
 * Namespaces keep a command from the host's network, but not from families of sockets that no namespace divides,
 * such as AF_VSOCK. So sockets are made of the families that programs need, by the one call that can be checked:
 * io_uring and the `socketcall` of 32-bit programs could make them past it. What else is refused reaches out of the
 * sandbox as well, and no build needs it.
 */

/** Of `struct sock_filter`: what to do, how far to jump where a test holds and where not, and with which number. */
type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, operand: number];
type Code = readonly Instruction[];

/**
 * One way to call the kernel: numbers of calls.
 * Sources: the tables of system calls in arch/ of Linux, and include/uapi/asm-generic/unistd.h.
 */
interface CallInterface {
  /** AUDIT_ARCH_... of include/uapi/linux/audit.h. */
  readonly audit: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  readonly clone: number;
  readonly unshare: number;
  /** add_key, request_key, keyctl. */
  readonly keys: readonly number[];
  /** That make sockets where their arguments cannot be checked. */
  readonly blind: readonly number[];
  /** From this number on it is a second interface of the same name: x32. */
  readonly end?: number | undefined;
}

const IO_URING_SETUP = 425;
const CLONE3 = 435;
const SOCKETCALL = 102;

const X64: CallInterface = {
  audit: 0xc000_003e,
  socket: 41,
  socketpair: 53,
  ioctl: 16,
  clone: 56,
  unshare: 272,
  keys: [248, 249, 250],
  blind: [IO_URING_SETUP],
  end: 0x4000_0000,
};
const I386: CallInterface = {
  audit: 0x4000_0003,
  socket: 359,
  socketpair: 360,
  ioctl: 54,
  clone: 120,
  unshare: 310,
  keys: [286, 287, 288],
  blind: [IO_URING_SETUP, SOCKETCALL],
};
const ARM64: CallInterface = {
  audit: 0xc000_00b7,
  socket: 198,
  socketpair: 199,
  ioctl: 29,
  clone: 220,
  unshare: 97,
  keys: [217, 218, 219],
  blind: [IO_URING_SETUP],
};
const ARM: CallInterface = {
  audit: 0x4000_0028,
  socket: 281,
  socketpair: 288,
  ioctl: 54,
  clone: 120,
  unshare: 337,
  keys: [309, 310, 311],
  blind: [IO_URING_SETUP, SOCKETCALL],
};

/** By what Node calls the processor: its own interface, and that of its 32-bit programs. */
const INTERFACES: Readonly<Record<string, readonly CallInterface[]>> = { x64: [X64, I386], arm64: [ARM64, ARM] };

const UNIX = 1;
const INTERNET = [2, 10];
/** Stream, datagram and raw: for the last one the kernel asks for rights that no sandbox has. */
const SOCKET_TYPES = [1, 2, 3];
const SOCKET_TYPE_MASK = 0xf;
/** The usual one, ICMP, TCP, UDP, ICMPv6, MPTCP. */
const PROTOCOLS = [0, 1, 6, 17, 58, 262];
const NETLINK = 16;
/** Tells the addresses of interfaces. */
const NETLINK_ROUTE = 0;

const NEW_USER_NAMESPACE = 0x1000_0000;
/** TIOCSTI and TIOCLINUX: typing into a terminal. */
const TYPING = [0x5412, 0x541c];

const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const ESOCKTNOSUPPORT = 94;
const EAFNOSUPPORT = 97;

/** Sources: include/uapi/linux/bpf_common.h, seccomp.h. */
const LOAD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_FROM = 0x35;
const JUMP_BITS = 0x45;
const RETURN = 0x06;
const ALLOWED = 0x7fff_0000;
const FAILED = 0x0005_0000;
const KILLED = 0x8000_0000;

const INSTRUCTION_BYTES = 8;

/** @param architecture as Node calls it @returns undefined for one whose system calls are not known here */
export function systemCallFilter(architecture: string): Uint8Array | undefined {
  const interfaces = INTERFACES[architecture];
  if (interfaces === undefined) return undefined;
  return bytesOf([load(4), ...interfaces.flatMap((each) => equals([each.audit], callsOf(each))), answer(KILLED)]);
}

function callsOf(calls: CallInterface): Code {
  return [
    load(0),
    ...(calls.end === undefined ? [] : test(JUMP_FROM, calls.end, [failed(ENOSYS)])),
    ...equals([calls.socket], socketOf()),
    ...equals([calls.socketpair], [argument(0), ...equals([UNIX], [answer(ALLOWED)]), failed(EAFNOSUPPORT)]),
    // Where these are missing programs do without: glibc takes clone for clone3, whose flags cannot be checked.
    ...equals([...calls.blind, CLONE3], [failed(ENOSYS)]),
    ...equals(
      [calls.clone, calls.unshare],
      [argument(0), ...test(JUMP_BITS, NEW_USER_NAMESPACE, [failed(EPERM)]), answer(ALLOWED)],
    ),
    ...equals([calls.ioctl], [argument(1), ...equals(TYPING, [failed(EPERM)]), answer(ALLOWED)]),
    ...equals(calls.keys, [failed(EPERM)]),
    answer(ALLOWED),
  ];
}

function socketOf(): Code {
  return [
    argument(0),
    ...equals([UNIX], [answer(ALLOWED)]),
    ...equals(INTERNET, [
      ...[argument(1), [AND, 0, 0, SOCKET_TYPE_MASK] as const],
      ...equals(SOCKET_TYPES, [argument(2), ...equals(PROTOCOLS, [answer(ALLOWED)]), failed(EPROTONOSUPPORT)]),
      failed(ESOCKTNOSUPPORT),
    ]),
    ...equals([NETLINK], [argument(2), ...equals([NETLINK_ROUTE], [answer(ALLOWED)]), failed(EPROTONOSUPPORT)]),
    failed(EAFNOSUPPORT),
  ];
}

/** Compares what is loaded. `then` has to end with an answer: where no value fits, what follows has the same loaded. */
function equals(values: readonly number[], then: Code): Code {
  const last = values.length - 1;
  const jumps = values.map((value, index): Instruction => {
    return [JUMP_EQUAL, last - index, index === last ? then.length : 0, value];
  });
  return [...jumps, ...then];
}

function test(code: number, operand: number, then: Code): Code {
  return [[code, 0, then.length, operand], ...then];
}

function load(offset: number): Instruction {
  return [LOAD, 0, 0, offset];
}

/** Its lower half, which is all that the kernel takes of these; on a processor that has the lower half first. */
function argument(index: number): Instruction {
  return load(16 + index * 8);
}

function answer(how: number): Instruction {
  return [RETURN, 0, 0, how];
}

function failed(error: number): Instruction {
  return answer(FAILED + error);
}

function bytesOf(code: Code): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(code.length * INSTRUCTION_BYTES));
  code.forEach(([operation, whenTrue, whenFalse, operand], index) => {
    const at = index * INSTRUCTION_BYTES;
    bytes.setUint16(at, operation, true);
    bytes.setUint8(at + 2, whenTrue);
    bytes.setUint8(at + 3, whenFalse);
    bytes.setUint32(at + 4, operand, true);
  });
  return new Uint8Array(bytes.buffer);
}
