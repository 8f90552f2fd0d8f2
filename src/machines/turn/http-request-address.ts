/**
 * Which addresses requests of agents may go to: those of the outside, and those at home only where commands could reach
 * them too.
 */

/** `never`: nothing that an agent has to do with. `home`: of this machine, or of the network that it stands in. */
export type AddressKind = 'public' | 'home' | 'never';

/** First address, and bits that are the same in all of the block. */
type Block4 = readonly [string, number, AddressKind];

const BLOCKS_4: readonly Block4[] = [
  ['0.0.0.0', 8, 'never'],
  ['10.0.0.0', 8, 'home'],
  // Of clouds, for what they tell their machines: credentials among it.
  ['100.100.100.200', 32, 'never'],
  ['168.63.129.16', 32, 'never'],
  ['100.64.0.0', 10, 'home'],
  ['127.0.0.0', 8, 'home'],
  ['169.254.0.0', 16, 'never'],
  ['172.16.0.0', 12, 'home'],
  ['192.0.0.0', 24, 'never'],
  ['192.168.0.0', 16, 'home'],
  ['198.18.0.0', 15, 'home'],
  ['224.0.0.0', 4, 'never'],
  ['240.0.0.0', 4, 'never'],
];

/** @param address as the system writes it, IPv4 or IPv6, perhaps with a zone */
export function addressKind(address: string): AddressKind {
  const plain = address.replace(/%.*$/, '').replace(/^\[|\]$/g, '');
  if (!plain.includes(':')) return kindOf4(number4(plain));
  const words = wordsOf6(plain);
  return words === undefined ? 'never' : kindOf6(words);
}

function kindOf4(address: number | undefined): AddressKind {
  if (address === undefined) return 'never';
  const block = BLOCKS_4.find(([first, bits]) => inBlock(address, number4(first) ?? 0, bits));
  return block?.[2] ?? 'public';
}

function inBlock(address: number, first: number, bits: number): boolean {
  return Math.floor(address / 2 ** (32 - bits)) === Math.floor(first / 2 ** (32 - bits));
}

function number4(address: string): number | undefined {
  const parts = address.split('.').map(Number);
  return parts.length === 4 && parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255)
    ? parts.reduce((sum, part) => sum * 256 + part, 0)
    : undefined;
}

function kindOf6(words: readonly number[]): AddressKind {
  const [first = 0, second = 0, third = 0] = words;
  const inner = embedded4(words);
  if (inner !== undefined) return kindOf4(inner);
  if (words.every((word, index) => word === (index === 7 ? 1 : 0))) return 'home';
  // What AWS tells its machines.
  if (first === 0xfd00 && second === 0x0ec2 && third === 0) return 'never';
  if ((first & 0xfe00) === 0xfc00) return 'home';
  // Only these are given out: local ones of a link, groups, and nothing are not among them.
  return (first & 0xe000) === 0x2000 && !(first === 0x2001 && second === 0x0db8) ? 'public' : 'never';
}

/** An address of IPv4 that is written as one of IPv6, or that one leads to. */
function embedded4(words: readonly number[]): number | undefined {
  const [first = 0, second = 0, third = 0] = words;
  const low = (words[6] ?? 0) * 65_536 + (words[7] ?? 0);
  const isMapped =
    words.slice(0, 5).every((word) => word === 0) && (words[5] === 0xffff || (words[5] === 0 && low > 1));
  const isTranslated = first === 0x64 && second === 0xff9b;
  if (isMapped || isTranslated) return low;
  return first === 0x2002 ? second * 65_536 + third : undefined;
}

function wordsOf6(address: string): readonly number[] | undefined {
  const dotted = /^(?<head>.*:)(?<tail>\d+\.\d+\.\d+\.\d+)$/.exec(address)?.groups;
  const tail = dotted === undefined ? undefined : number4(dotted['tail'] ?? '');
  if (dotted !== undefined && tail === undefined) return undefined;
  const text =
    tail === undefined
      ? address
      : `${dotted?.['head']}${Math.floor(tail / 65_536).toString(16)}:${(tail % 65_536).toString(16)}`;
  const [before = '', after, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const head = groupsOf(before);
  const rest = after === undefined ? [] : groupsOf(after);
  const missing = 8 - head.length - rest.length;
  const words = after === undefined ? head : [...head, ...new Array<number>(Math.max(0, missing)).fill(0), ...rest];
  return words.length === 8 && words.every((word) => word >= 0 && word <= 0xffff) ? words : undefined;
}

function groupsOf(text: string): number[] {
  return text === ''
    ? []
    : text.split(':').map((group) => (/^[0-9a-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : -1));
}

// The one way to write an address: what rules judge is what is sent.

/** What means the same whether it is encoded or not. */
const UNRESERVED = /[\w.~-]/;

/**
 * A copy with nothing encoded in its path that need not be, and without the dot after its host that names the same one.
 */
export function plainAddress(url: URL): URL {
  const plain = new URL(url);
  plain.hostname = url.hostname.replace(/\.+$/, '');
  // An encoded percent sign is one: what stands after it is no code to be read again.
  plain.pathname = url.pathname.replaceAll(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });
  return plain;
}
