import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CommandSandbox } from '../../../src/actors/environment/command-sandbox.ts';
import { hasSandbox, isRoot, openSandbox } from '../../support/sandbox.ts';
import { MARK, open, openEscapeSetup, shut } from './escape-setup.ts';
import type { EscapeSetup } from './escape-setup.ts';

let setup: EscapeSetup;
let sandbox: CommandSandbox;

beforeAll(async () => {
  setup = await openEscapeSetup();
  if (hasSandbox) sandbox = await openSandbox({ workspace: setup.workspace, mounts: setup.mounts });
});
beforeEach(() => {
  setup.heard.length = 0;
});
afterAll(() => setup[Symbol.asyncDispose]());

interface Probe {
  readonly what: string;
  /** Says MARK when it has got out. */
  readonly command: string;
  /** What the host needs for the control, and what is to be taken away again. */
  readonly before?: string;
  readonly after?: string;
  /** Who can do it on the host, so that the probe is known to tell. */
  readonly works: 'for everybody' | 'for root' | 'where there is an address';
}

const say = `echo ${MARK}`;
/** The value that only files and processes outside have. */
const read = (paths: string): string => `grep -ahq "$WANTED" ${paths} 2>/dev/null && ${say}`;
const connect = (where: string): string =>
  `"$NODE" -e 'require("net").connect(${where}).on("connect", () => { console.log("${MARK}"); process.exit(); }).on("error", () => process.exit(1))'`;

const PROBES: readonly Probe[] = [
  { what: 'a file beside the workspace', command: read('"$OUT/secret"'), works: 'for everybody' },
  {
    what: 'a file beside the workspace by a path with dots',
    command: read('"$W/sub/../../secret"'),
    works: 'for everybody',
  },
  { what: 'the workspace of another session', command: read('"$OUT/other/workspace/notes"'), works: 'for everybody' },
  { what: 'the keys in a home', command: read('"$OUT/home/.ssh/id" "$HOME/.ssh/id"'), works: 'for everybody' },
  {
    what: 'whatever can be found from the root',
    command: `find "$OUT/.." -maxdepth 2 -name secret 2>/dev/null | grep -q . && ${say}; ls /root/* /home/* /var/lib/* /srv/* /mnt/* /boot/* /sys/* 2>/dev/null | grep -q . && ${say}`,
    works: 'for everybody',
  },
  {
    what: 'the passwords of the system',
    command: `head -c 1 /etc/shadow 2>/dev/null | grep -q . && ${say}`,
    works: 'for root',
  },
  {
    what: 'a file through the root of a process',
    command: `for p in /proc/[0-9]*; do ${read('"$p/root$OUT/secret" "$p/cwd/../secret"')}; done`,
    works: 'for everybody',
  },
  { what: 'a file through its own root', command: read('"/proc/self/root$OUT/secret"'), works: 'for everybody' },
  {
    what: 'a file through a link in the workspace',
    command: `ln -sfn "$OUT" "$W/link"; ${read('"$W/link/secret"')}`,
    works: 'for everybody',
  },
  { what: 'the environment of processes of others', command: read('/proc/[0-9]*/environ'), works: 'for everybody' },
  {
    what: 'the processes of others',
    command: `[ -e "/proc/$STRANGER_ID/stat" ] && [ "$(cat /proc/$STRANGER_ID/comm)" = sh ] && ${say}`,
    works: 'for everybody',
  },
  {
    what: 'a signal to a process of others',
    command: `kill -0 "$STRANGER_ID" 2>/dev/null && ${say}`,
    works: 'for everybody',
  },
  {
    what: 'a folder of the system, to write',
    command: `touch /usr/wakechart-probe 2>/dev/null && ${say}; rm -f /usr/wakechart-probe`,
    works: 'for root',
  },
  {
    what: 'the settings of the system, to write',
    command: `touch /etc/wakechart-probe 2>/dev/null && ${say}; rm -f /etc/wakechart-probe`,
    works: 'for root',
  },
  { what: 'a program of the system, to write', command: `[ -w /bin/sh ] && ${say}`, works: 'for root' },
  {
    what: 'a mount that is to be read only, to write',
    command: `touch /reference/new 2>/dev/null && ${say}; rm -f /reference/new`,
    works: 'for everybody',
  },
  {
    what: 'a file of a mount that is to be read only, by a hard link',
    command: `ln -f /reference/text "$W/hard" 2>/dev/null && : >> "$W/hard" && ${say}; rm -f "$W/hard"`,
    works: 'for everybody',
  },
  // In a namespace of the control's own, so that nothing is mounted on the host.
  {
    what: 'a mount of its own',
    command: `unshare -Urm mount -t tmpfs none "$W/sub" 2>/dev/null && ${say}`,
    works: 'for everybody',
  },
  {
    what: 'another view of what is mounted, to write',
    command: `{ [ -w /reference ] || mount -o remount,rw,bind /reference || unshare -Urm mount -o remount,rw,bind /reference; } 2>/dev/null && ${say}`,
    works: 'for everybody',
  },
  { what: 'namespaces of its own', command: `unshare -U true 2>/dev/null && ${say}`, works: 'for everybody' },
  {
    what: 'another root',
    command: `unshare -Ur chroot "$W/.." /no/such/program 2>&1 | grep -q 'No such file' && ${say}`,
    works: 'for everybody',
  },
  // Opened, and nothing written.
  {
    what: 'the settings of the kernel',
    command: `( : >> /proc/sys/kernel/core_pattern ) 2>/dev/null && ${say}`,
    works: 'for root',
  },
  {
    what: 'the program that the kernel starts for modules',
    command: `for f in /proc/sys/kernel/modprobe /proc/sys/kernel/printk; do ( : >> "$f" ) 2>/dev/null && ${say}; done`,
    works: 'for root',
  },
  {
    what: 'the emergency keys of the kernel',
    command: `for f in /proc/sysrq-trigger /proc/mtrr /proc/sys/kernel/sysrq; do [ -f "$f" ] && ( : >> "$f" ) 2>/dev/null && ${say}; done`,
    works: 'for root',
  },
  {
    what: 'a device that it makes',
    command: `mknod "$W/device" c 1 8 2>/dev/null && head -c 1 "$W/device" 2>/dev/null | grep -q . -c >/dev/null; [ -c "$W/device" ] && ${say}; rm -f "$W/device"`,
    works: 'for root',
  },
  {
    what: 'more devices than it needs',
    command: `for d in /dev/*; do case "$d" in */console|*/core|*/fd|*/full|*/null|*/ptmx|*/pts|*/random|*/shm|*/std*|*/tty|*/urandom|*/zero) ;; *) ${say}; break;; esac; done`,
    works: 'for everybody',
  },
  {
    what: 'rights of the host',
    command: `grep -qE '^Cap(Prm|Eff|Bnd|Amb):\\s*0*[1-9a-f]' /proc/self/status && ${say}`,
    works: 'for everybody',
  },
  {
    what: 'rights by a program that gives them',
    command: `grep -q '^NoNewPrivs:.*0' /proc/self/status && ${say}`,
    works: 'for everybody',
  },
  {
    what: 'the name of the host',
    command: `[ "$(cat /proc/sys/kernel/hostname)" != sandbox ] && ${say}`,
    works: 'for everybody',
  },
  {
    what: 'a listener on the loopback',
    command: connect('{ host: "127.0.0.1", port: process.env.TCP }'),
    works: 'for everybody',
  },
  {
    what: 'a listener on another address',
    command: connect('{ host: process.env.ADDRESS, port: process.env.TCP }'),
    works: 'where there is an address',
  },
  { what: 'an abstract socket', command: connect('{ path: "\\0" + process.env.ABSTRACT }'), works: 'for everybody' },
  {
    what: 'interfaces of the network',
    command: `tail -n +3 /proc/net/dev | grep -vq '^ *lo:' && ${say}`,
    works: 'where there is an address',
  },
  {
    what: 'shared memory of others',
    before: 'touch /dev/shm/wakechart-probe;',
    command: `[ -e /dev/shm/wakechart-probe ] && ${say}`,
    after: '; rm -f /dev/shm/wakechart-probe',
    works: 'for everybody',
  },
];

const control = ({ works }: Probe): boolean =>
  works === 'for root' ? isRoot : works === 'for everybody' || setup.address !== undefined;

describe.skipIf(!hasSandbox)('a command in a sandbox', () => {
  it.each(PROBES)('does not get at $what', async (probe) => {
    const { command, before = '', after = '' } = probe;
    expect((await shut(sandbox, setup, command)).output).not.toContain(MARK);
    // Without a sandbox the same command gets there: the probe can tell.
    if (control(probe)) expect((await open(setup, `${before}${command}${after}`)).output).toContain(MARK);
  });

  it.each([
    ['127.0.0.1', '"127.0.0.1"'],
    ['its own address, as a name server', 'process.env.ADDRESS || "127.0.0.1"'],
  ])('sends no packet to %s', async (_, host) => {
    const send = `"$NODE" -e 'const s = require("dgram").createSocket("udp4"); s.send("x", process.env.UDP, ${host}, () => s.close())'`;
    await shut(sandbox, setup, send);
    expect(setup.heard).toEqual([]);
    await open(setup, send);
    await expect.poll(() => setup.heard).toEqual(['udp']);
  });

  it('reaches no listener of the host, and its own on its own loopback', async () => {
    const own = `"$NODE" -e 'const s = require("net").createServer((c) => c.end("own")).listen(0, "127.0.0.1", () => require("net").connect(s.address().port, "127.0.0.1").on("data", (d) => { console.log(String(d)); process.exit(); }))'`;
    expect((await shut(sandbox, setup, own)).output).toBe('own\n');
    expect(setup.heard).toEqual([]);
  });

  it('has the network of the host where the environment opens it, and nothing else of it', async () => {
    const opened = await openSandbox({ workspace: setup.workspace, mounts: setup.mounts, network: 'open' });
    expect((await shut(opened, setup, connect('{ host: "127.0.0.1", port: process.env.TCP }'))).output).toContain(MARK);
    expect((await shut(opened, setup, read('"$OUT/secret" /proc/[0-9]*/environ'))).output).not.toContain(MARK);
  });
});
