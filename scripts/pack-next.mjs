// @ts-check
/**
 * The installed package under Next, with the files that docs/http.md shows: built and started as its users do, and asked
 * by clients. Next is too large to be installed with every checkout.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { HTTP_CHECKS, endsWithOpenStreams, prepareServer, writeFromPage } from './http-checks.mjs';

const NEXT = ['next@16', 'react@19', 'react-dom@19'];
const FILES = ['agent.mjs', 'instrumentation.js', 'app/agent/[...path]/route.js', 'next.config.mjs'];

/**
 * @param {string} project where the package is installed
 * @param {(cwd: string, command: string, arguments_: readonly string[]) => Promise<string>} run
 */
export async function serveUnderNext(project, run) {
  env['NEXT_TELEMETRY_DISABLED'] = '1';
  await run(project, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...NEXT]);
  for (const name of FILES) writeFromPage(project, name);
  const next = join(project, 'node_modules/next/dist/bin/next');
  await run(project, execPath, [next, 'build']);
  const { home, yours } = prepareServer(project);
  const server = spawn(execPath, ['--import', yours, next, 'start'], {
    cwd: project,
    env: { ...env, WAKECHART_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(server, 'exit');
  const end = async () => {
    server.kill('SIGTERM');
    return exited;
  };
  try {
    const at = await originOf(server.stdout);
    for (const [what, check] of Object.entries(HTTP_CHECKS)) {
      await check(at);
      console.log(`under Next, wakechart/http ${what}`);
    }
    await endsWithOpenStreams(at, end);
  } finally {
    server.kill('SIGKILL');
    await exited;
  }
}

/** @param {import('node:stream').Readable} output */
async function originOf(output) {
  for await (const line of createInterface({ input: output })) if (/^http:\S+$/.test(line)) return line;
  throw new Error('Next ended before it listened');
}
