/**
 * Chromium as a program, unpacked once for all test files and all runs, in .build/chromium. It is unpacked beside its
 * place and then moved there in one step, so that whoever finds it finds it whole: of several that unpack at once each
 * brings a whole one. What a killed one left goes with the next.
 */
import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdir, mkdtemp, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readStat } from '../../src/adapters/process-tree/proc-table.ts';

const BUILD_FOLDER = fileURLToPath(new URL('../../.build/chromium', import.meta.url));
const UNPACKER = fileURLToPath(new URL('unpack-chromium.mjs', import.meta.url));
/** It takes three seconds on two cores that have nothing else to do. */
const UNPACKING_LIMIT_MS = 120_000;
const DRAFT = /^chromium-draft-(?<pid>\d+)-/;

/** Where Chromium lies, ready to run. @throws Error when it cannot be unpacked */
export async function chromiumFile(folder = BUILD_FOLDER): Promise<string> {
  const file = join(folder, `chromium-${await packageVersion()}-${process.arch}`);
  if (!(await isProgram(file))) await unpackTo(file, folder);
  return file;
}

async function packageVersion(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const { version } = JSON.parse(await readFile(join(dirname(main), '../../package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function unpackTo(file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await clearDrafts(folder);
  const draft = await mkdtemp(join(folder, `chromium-draft-${process.pid}-`));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [UNPACKER], {
      env: { PATH: process.env['PATH'] ?? '', HOME: draft, TMPDIR: draft },
      timeout: UNPACKING_LIMIT_MS,
    });
    await settle(stdout);
    await rename(stdout, file);
  } finally {
    // Fonts and libraries for machines that have none: ours measure with their own fonts and without a graphics card.
    await rm(draft, { recursive: true, force: true });
  }
}

/** Onto the disk before it gets its name: a machine that loses its power must not keep an empty program. */
async function settle(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(file, 0o755);
}

async function clearDrafts(folder: string): Promise<void> {
  const left = (await readdir(folder)).filter((name) => isAbandoned(name));
  await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

function isAbandoned(name: string): boolean {
  const pid = Number(DRAFT.exec(name)?.groups?.['pid'] ?? process.pid);
  return pid !== process.pid && (readStat(pid)?.state ?? 'dead') === 'dead';
}
