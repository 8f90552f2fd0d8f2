/**
 * One system call, in every way in which a program of this processor can ask for it: written as machine code, for no
 * language lets one choose.
 */
import { writeFile } from 'node:fs/promises';

/** `x32` and `i386` are the other interfaces that a program of x64 can use. */
export type CallWay = 'x64' | 'x32' | 'i386';

export interface SystemCall {
  readonly way: CallWay;
  readonly number: number;
  readonly args: readonly [number, number, number];
}

const BASE = 0x40_0000;
const HEAD_BYTES = 120;
const X32_BIT = 0x4000_0000;

/** Writes a program that exits with the error number of the call, 0 where it succeeds. */
export async function writeCall(path: string, call: SystemCall): Promise<void> {
  await writeFile(path, Buffer.concat([headOf(HEAD_BYTES + codeOf(call).length), codeOf(call)]), { mode: 0o755 });
}

function codeOf({ way, number, args: [first, second, third] }: SystemCall): Buffer {
  const isOld = way === 'i386';
  return Buffer.concat([
    ...[
      put(0xb8, way === 'x32' ? number + X32_BIT : number),
      put(isOld ? 0xbb : 0xbf, first),
      put(isOld ? 0xb9 : 0xbe, second),
      put(0xba, third),
    ],
    // int 0x80, or syscall.
    Buffer.from(isOld ? [0xcd, 0x80] : [0x0f, 0x05]),
    // The exit code is the result with its sign changed, or 0.
    Buffer.from([0x89, 0xc7, 0xf7, 0xdf, 0x85, 0xc0, 0x78, 0x02, 0x31, 0xff]),
    ...[put(0xb8, 60), Buffer.from([0x0f, 0x05])],
  ]);
}

/** `mov` of a number to a register. */
function put(operation: number, value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(operation, 0);
  bytes.writeUInt32LE(value, 1);
  return bytes;
}

/** Of an ELF file with one part, which is loaded whole. */
function headOf(bytes: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 0);
  head.writeUInt16LE(2, 16);
  head.writeUInt16LE(62, 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(BASE + HEAD_BYTES), 24);
  head.writeBigUInt64LE(64n, 32);
  head.writeUInt16LE(64, 52);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(1, 56);
  head.writeUInt32LE(1, 64);
  head.writeUInt32LE(5, 68);
  for (const at of [80, 88]) head.writeBigUInt64LE(BigInt(BASE), at);
  for (const at of [96, 104]) head.writeBigUInt64LE(BigInt(bytes), at);
  head.writeBigUInt64LE(4096n, 112);
  return head;
}
