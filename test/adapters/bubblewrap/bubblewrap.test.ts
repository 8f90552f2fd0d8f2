import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBubblewrap } from '../../../src/adapters/bubblewrap/bubblewrap.ts';
import type { SandboxAvailability } from '../../../src/actors/environment/command-sandbox.ts';
import { hasSandbox, openSandbox } from '../../support/sandbox.ts';
import { MARK, open, openEscapeSetup, ran, shut } from './escape-setup.ts';
import type { EscapeSetup, Ran } from './escape-setup.ts';

let setup: EscapeSetup;

beforeEach(async () => {
  setup = await openEscapeSetup();
});
afterEach(() => setup[Symbol.asyncDispose]());

const inside = async (command: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  shut(await openSandbox({ workspace: setup.workspace, mounts: setup.mounts }), setup, command, env);

/** Ids of the host's processes whose arguments hold a word. */
async function running(word: string): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return ids.filter((_, index) => lines[index]?.includes(word));
}

describe.skipIf(!hasSandbox)('a sandbox', () => {
  it('has the workspace at its own path and by its name, with what was written before, and keeps what is written', async () => {
    await writeFile(join(setup.workspace, 'before'), 'here\n');
    expect(
      await inside('pwd; cat /workspace/before; cd /workspace/sub && pwd -P; echo new > /workspace/after'),
    ).toEqual({ output: `${setup.workspace}\nhere\n${setup.workspace}/sub\n`, exitCode: 0 });
    expect(await readFile(join(setup.workspace, 'after'), 'utf8')).toBe('new\n');
  });

  it('has declared mounts at their paths, with the access that was declared, and vaults by name only', async () => {
    await mkdir(join(setup.outside, 'data'));
    const sandbox = await openSandbox({
      workspace: setup.workspace,
      mounts: [
        ...setup.mounts,
        { kind: 'declared', path: '/data/set', directory: join(setup.outside, 'data'), access: 'rw' },
        { kind: 'vault', path: '/vaults/keys', access: 'none' },
      ],
    });
    expect(
      (await shut(sandbox, setup, 'cat /reference/text | wc -c; echo x > /data/set/file; ls /data /vaults 2>&1'))
        .output,
    ).toMatch(/^36\n\/data:\nset\n|^36\nls: .*\n\/data:\nset\n/);
    expect(await readFile(join(setup.outside, 'data/file'), 'utf8')).toBe('x\n');
  });

  it('has the folder of the agent in the workspace where that has room for it, and makes none where it has not', async () => {
    const agent = { kind: 'agent', path: '/workspace/agent', directory: setup.reference, access: 'ro' } as const;
    const check = 'cat /agent/text | wc -c; ls /workspace; touch /workspace/agent/x 2>/dev/null && echo written';
    expect((await shut(await openSandbox({ workspace: setup.workspace, mounts: [agent] }), setup, check)).output).toBe(
      '36\nsub\n',
    );
    expect(await readdir(setup.workspace)).toEqual(['sub']);
    await mkdir(join(setup.workspace, 'agent'));
    expect(
      (
        await shut(
          await openSandbox({ workspace: setup.workspace, mounts: [agent] }),
          setup,
          `${check}; ls /workspace/agent`,
        )
      ).output,
    ).toBe('36\nagent\nsub\ntext\n');
    expect(await readdir(join(setup.workspace, 'agent'))).toEqual([]);
  });

  it('never mounts through a link in place of the folder of the agent', async () => {
    await symlink(join(setup.outside, 'other'), join(setup.workspace, 'agent'));
    const sandbox = await openSandbox({
      workspace: setup.workspace,
      mounts: [{ kind: 'agent', path: '/workspace/agent', directory: setup.reference, access: 'ro' }],
    });
    expect((await shut(sandbox, setup, 'ls /workspace/agent/ 2>&1')).output).toContain('No such file');
  });

  it('does not show a hidden folder that lies in the workspace', async () => {
    await mkdir(join(setup.workspace, '.home/sessions'), { recursive: true });
    await writeFile(join(setup.workspace, '.home/sessions/log'), 'x');
    const check =
      'ls -A /workspace/.home "$W/.home"; touch /workspace/.home/x 2>/dev/null && echo written; find / -xdev -name log -path "*.home*"';
    const shown = await shut(await openSandbox({ workspace: setup.workspace }), setup, check);
    expect(shown.output).toContain('sessions');
    const hidden = await shut(
      await openSandbox({ workspace: setup.workspace, options: { hidden: [join(setup.workspace, '.home')] } }),
      setup,
      check,
    );
    expect(hidden.output.split('\n').toSorted()).toEqual(
      ['', '', '/workspace/.home:', `${setup.workspace}/.home:`].toSorted(),
    );
  });

  it('has a home and a /tmp of its own, empty for each command, and nothing that leads to the sockets of the host', async () => {
    const check =
      'echo "$HOME $TMPDIR"; ls -A "$HOME" /var/tmp; touch "$HOME/x" /tmp/y; echo "[$SSH_AUTH_SOCK$XDG_RUNTIME_DIR$DBUS_SESSION_BUS_ADDRESS]$KEPT"';
    const env = {
      HOME: '/root',
      TMPDIR: '/elsewhere',
      SSH_AUTH_SOCK: '/a',
      XDG_RUNTIME_DIR: '/b',
      DBUS_SESSION_BUS_ADDRESS: 'c',
      KEPT: 'kept',
    };
    const first = await inside(check, env);
    expect(first).toEqual({
      output: `/tmp/home /tmp\n/tmp/home:\n\n/var/tmp:\nhome\n${setup.outside.split('/')[2]}\n[]kept\n`,
      exitCode: 0,
    });
    expect(await inside(check, env)).toEqual(first);
  });

  it('can be filled only as far as it may', async () => {
    const sandbox = await openSandbox({ workspace: setup.workspace, options: { tmpBytes: 1_048_576 } });
    const fill =
      'head -c 4000000 /dev/zero > /tmp/full 2>/dev/null; wc -c < /tmp/full; (head -c 1 /dev/zero > /full || head -c 1 /dev/zero > /dev/full2) 2>&1 | grep -c "Read-only"; df -k /dev/shm | tail -1 | tr -s " " | cut -d" " -f2';
    expect((await shut(sandbox, setup, fill)).output).toBe('1048576\n2\n262144\n');
  });

  it('knows no open file of the runtime', async () => {
    const line = (await openSandbox({ workspace: setup.workspace })).wrapCommand('ls /proc/self/fd', setup.workspace);
    const listed = async (command: string): Promise<string> => {
      const child = spawn('/bin/sh', ['-c', command], {
        stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'ignore', 'pipe'],
      });
      let output = '';
      child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await once(child, 'close');
      return output;
    };
    expect(await listed(line)).toBe('0\n1\n2\n3\n');
    expect(await listed('ls /proc/self/fd')).toContain('5\n');
  });

  it('is in no terminal, so that it can type nothing into one', async () => {
    const line = (await openSandbox({ workspace: setup.workspace })).wrapCommand(
      `(: </dev/tty) 2>/dev/null && echo ${MARK}`,
      setup.workspace,
    );
    const inTerminal = async (command: string): Promise<string> =>
      (await ran('script -qec "$LINE" /dev/null </dev/null', { cwd: setup.workspace, env: { LINE: command } })).output;
    expect(await inTerminal(`(: </dev/tty) && echo ${MARK}`)).toContain(MARK);
    expect(await inTerminal(line)).not.toContain(MARK);
  });

  it('runs node, npm, git, perl and threads as the host does, whatever the kernel refuses in it', async () => {
    const script = [
      `"$NODE" -e 'const n = require("net"), t = require("worker_threads"); console.log(require("os").networkInterfaces().lo !== undefined); new t.Worker("require(\\"worker_threads\\").parentPort.postMessage(1)", { eval: true }).on("message", () => { const s = n.createServer((c) => c.end("hello")).listen("/tmp/socket", () => n.connect("/tmp/socket").on("data", (d) => { console.log(String(d)); s.close(); })); })'`,
      `"$NODE" -e 'require("http").createServer((q, r) => r.end("served")).listen(0, function () { fetch("http://localhost:" + this.address().port).then((r) => r.text()).then((t) => { console.log(t); process.exit(); }); })'`,
      'mkdir repo && cd repo && git init -q && git -c user.name=n -c user.email=e@e commit -q --allow-empty -m first && git log --format=%s',
      `echo '{"name":"p","version":"1.0.0","scripts":{"say":"echo said"}}' > package.json && npm run --silent say`,
      'echo piped | cat | (read word; echo "$word")',
      `perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die; syswrite $a, "paired\\n"; sysread $b, my $t, 9; print $t; my $p = fork; exit 7 unless $p; waitpid $p, 0; print $? >> 8, "\\n"'`,
    ].join('; ');
    const sandbox = await openSandbox({ workspace: setup.workspace });
    expect((await shut(sandbox, setup, `${script}; grep '^Seccomp:' /proc/self/status`)).output).toBe(
      'true\nhello\nserved\nfirst\nsaid\npiped\npaired\n7\nSeccomp:\t2\n',
    );
  });

  it('puts no value of a variable into any list of arguments', async () => {
    const value = `value-${process.pid}-of-a-secret`;
    const sandbox = await openSandbox({ workspace: setup.workspace });
    const running_ = ran(
      sandbox.wrapCommand('echo "$SECRET" > told; while [ ! -e go ]; do sleep 0.05; done', setup.workspace),
      { cwd: setup.workspace, env: { SECRET: value } },
    );
    await expect.poll(() => readFile(join(setup.workspace, 'told'), 'utf8').catch(() => '')).toBe(`${value}\n`);
    expect(await running(value)).toEqual([]);
    await writeFile(join(setup.workspace, 'go'), '');
    await running_;
  });

  it.each([
    ['in the background', (word: string) => `sh -c 'while :; do sleep 1; done; : ${word}' >/dev/null 2>&1 &`],
    [
      'in a session of its own',
      (word: string) => `setsid sh -c 'while :; do sleep 1; done; : ${word}' >/dev/null 2>&1 &`,
    ],
    [
      'after two forks, deaf to hanging up',
      (word: string) =>
        `(setsid nohup sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done; : ${word}' >/dev/null 2>&1 &) ; sleep 0.05`,
    ],
  ])('leaves nobody behind whom a command has started %s', async (_, command) => {
    const word = `left-${process.pid}-${Math.floor(performance.now())}`;
    await inside(command(word));
    await expect.poll(() => running(word)).toEqual([]);
    await open(setup, command(word));
    // Between its fork and its program a process has no arguments that could be searched for.
    await expect.poll(() => running(word)).not.toEqual([]);
    for (const id of await running(word)) process.kill(id, 'SIGKILL');
    await expect.poll(() => running(word)).toEqual([]);
  });

  it('ends with the process that keeps it, whatever runs in it', async () => {
    const word = `kept-${process.pid}`;
    const sandbox = await openSandbox({ workspace: setup.workspace });
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        sandbox.wrapCommand(
          `(setsid sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done; : ${word}' &); trap "" TERM INT; touch up; while :; do sleep 1; done`,
          setup.workspace,
        ),
      ],
      { cwd: setup.workspace, detached: true, stdio: 'ignore' },
    );
    await expect.poll(() => readdir(setup.workspace)).toContain('up');
    child.kill('SIGKILL');
    await expect.poll(() => running(word)).toEqual([]);
  });

  it('runs a program with its arguments as they are', async () => {
    const sandbox = await openSandbox({ workspace: setup.workspace });
    const { command, args } = sandbox.wrapProgram(
      { command: 'printf', args: ['%s|', "it's", '$HOME', '-c', ''] },
      join(setup.workspace, 'sub'),
    );
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(child, 'close');
    expect(output).toBe("it's|$HOME|-c||");
  });

  it.each(["it's", 'a "quote"', 'semi;colon & more', 'new\nline', 'ünï cödé', '-dash', '$(touch ran)'])(
    'works in a folder called %s',
    async (name) => {
      const folder = join(setup.workspace, name);
      await mkdir(folder);
      const sandbox = await openSandbox({ workspace: folder });
      expect(await ran(sandbox.wrapCommand('pwd; ls', folder), { cwd: folder })).toEqual({
        output: `${folder}\n`,
        exitCode: 0,
      });
    },
  );

  it('lets a socket in a mount be reached only where the network is open, and makes no file of one that is gone', async () => {
    const path = join(setup.workspace, 'sub/socket');
    const server = createServer((socket) => socket.end('hello')).listen(path);
    await once(server, 'listening');
    const connect = `"$NODE" -e 'require("net").connect("sub/socket").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;
    const shutOff = await openSandbox({ workspace: setup.workspace });
    expect((await shut(shutOff, setup, connect)).output).toBe('ECONNREFUSED\n');
    expect(
      (await shut(await openSandbox({ workspace: setup.workspace, network: 'open' }), setup, connect)).output,
    ).toBe('hello\n');
    await new Promise((resolve) => server.close(resolve));
    expect((await shut(shutOff, setup, 'ls -A sub')).output).toBe('');
    expect(await readdir(join(setup.workspace, 'sub'))).toEqual([]);
  });
});

describe.skipIf(!hasSandbox)('a folder that is replaced after it was checked', () => {
  const read = 'cat /data/id /data/notes 2>/dev/null; echo';
  const swap = async (kind: 'declared' | 'skills', replace: (data: string) => Promise<void>): Promise<Ran> => {
    const data = join(setup.outside, 'around/data');
    await mkdir(data, { recursive: true });
    const sandbox = await openSandbox({
      workspace: setup.workspace,
      mounts: [{ kind, path: '/data', directory: data, access: 'ro' }],
    });
    await replace(data);
    return shut(sandbox, setup, read);
  };
  const byLink = async (data: string): Promise<void> => {
    await rm(data, { recursive: true });
    await symlink(join(setup.outside, 'home/.ssh'), data);
  };

  it.each([
    ['by a link', byLink],
    [
      'by another folder',
      (data: string) => rm(data, { recursive: true }).then(() => rename(join(setup.outside, 'home/.ssh'), data)),
    ],
    [
      'by a link in place of the folder around it',
      async (data: string) => {
        await rename(join(data, '..'), join(setup.outside, 'aside'));
        await mkdir(join(setup.outside, 'false'));
        await symlink(join(setup.outside, 'home/.ssh'), join(setup.outside, 'false/data'));
        await symlink(join(setup.outside, 'false'), join(setup.outside, 'around'));
      },
    ],
  ])('%s keeps the command from running', async (_, replace) => {
    const { output, exitCode } = await swap('declared', replace);
    expect({ output, exitCode }).toEqual({
      output: 'sandbox: a mounted folder was replaced after it was checked; nothing was run\n',
      exitCode: 125,
    });
  });

  // What only the runtime itself replaces is not checked a second time: so it can be seen that there is something to
  // search for.
  it('would be mounted as it is then, if nobody checked again', async () => {
    expect((await swap('skills', byLink)).output).toMatch(/^[0-9a-f-]{36}\n$/);
  });

  it.each([
    ['is a link already', (path: string) => symlink(setup.reference, path)],
    ['is not there', () => Promise.resolve()],
  ])('and one that %s is refused from the beginning', async (_, make) => {
    const path = join(setup.outside, 'declared');
    await make(path);
    await expect(
      openSandbox({
        workspace: setup.workspace,
        mounts: [{ kind: 'declared', path: '/data', directory: path, access: 'ro' }],
      }),
    ).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE' });
  });

  it.each(['/', '/usr', '/tmp', '/proc', '/dev'])(
    'is of no use when it is %s, which the sandbox itself needs',
    async (workspace) => {
      await expect(openSandbox({ workspace })).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE' });
    },
  );

  it('is refused where a mount would lie over the workspace', async () => {
    await expect(
      openSandbox({
        workspace: setup.workspace,
        mounts: [{ kind: 'declared', path: setup.outside, directory: setup.reference, access: 'ro' }],
      }),
    ).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE' });
  });
});

describe.skipIf(process.platform !== 'linux')('whether there is a sandbox', () => {
  const withProgram = async (script: string): Promise<SandboxAvailability> => {
    const program = join(setup.outside, 'bwrap');
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    await chmod(program, 0o755);
    return createBubblewrap({ program }).availability();
  };
  const ALL_OPTIONS = [
    '--unshare-user',
    '--unshare-net',
    '--unshare-cgroup-try',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    '--remount-ro',
    '--ro-bind-try',
    '--hostname',
    '--seccomp',
  ];
  const answers = (trial: string, options = ALL_OPTIONS): string =>
    `case "$1" in --version) echo bubblewrap 0.3.1;; --help) printf '    %s\\n' ${options.join(' ')};; *) ${trial};; esac`;

  it('is told with what to install', async () => {
    const found = await createBubblewrap({ program: join(setup.outside, 'missing') }).availability();
    expect(found).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('cannot be run'),
      hint: expect.stringContaining('apt install bubblewrap'),
    });
  });

  it('is told with what an old one lacks', async () => {
    expect(await withProgram(answers('exit 1', ALL_OPTIONS.slice(1)))).toEqual({
      kind: 'missing',
      reason: expect.stringContaining('too old (0.3.1): it does not know --unshare-user'),
      hint: 'Install bubblewrap 0.4 or later.',
    });
  });

  it.each([
    ['No permissions to create new namespace', 'user namespaces'],
    ['setting up uid map: Permission denied', 'user namespaces'],
    ["Can't mount proc on /newroot/proc: Operation not permitted", '/proc'],
  ])('is told when it says "%s"', async (said, hinted) => {
    expect(await withProgram(answers(`echo "bwrap: ${said}" >&2; exit 1`))).toEqual({
      kind: 'missing',
      reason: `bubblewrap 0.3.1 is installed and cannot shut a command in: bwrap: ${said}`,
      hint: expect.stringContaining(hinted),
    });
  });

  it('is not believed of a program that does nothing', async () => {
    expect(await withProgram(answers('exit 0'))).toMatchObject({ kind: 'missing' });
  });

  it('is found out once, and refuses to open one with the same words', async () => {
    const program = join(setup.outside, 'bwrap');
    await writeFile(
      program,
      `#!/bin/sh\necho run >> "${setup.outside}/runs"\n${answers('echo "bwrap: no" >&2; exit 1')}\n`,
      { mode: 0o755 },
    );
    const sandboxes = createBubblewrap({ program });
    await sandboxes.availability();
    const runs = await readFile(join(setup.outside, 'runs'), 'utf8');
    await expect(
      sandboxes.open({ sessionId: 's', network: 'disabled', mounts: [], workspaceDirectory: setup.workspace }),
    ).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('bwrap: no') });
    expect(await readFile(join(setup.outside, 'runs'), 'utf8')).toBe(runs);
  });
});
