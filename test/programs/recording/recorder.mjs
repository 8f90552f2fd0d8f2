/**
 * Runs a program in its place and writes down what it is told and what it tells, line by line:
 * `node recorder.mjs FOLDER PROGRAM [ARGUMENT…]`. Each process has a file of its own in the folder.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const [folder = '.', program = '', ...args] = process.argv.slice(2);

/** The number of a process is that of its start: one that comes second to a name takes the next. */
function ownFile() {
  for (let number = readdirSync(folder).length + 1; ; number += 1) {
    const file = join(folder, `${String(number).padStart(3, '0')}.jsonl`);
    try {
      writeFileSync(file, '', { flag: 'wx' });
      return file;
    } catch {
      // Another process has it.
    }
  }
}

const file = ownFile();
/** At once: either of us may be killed. @param {object} entry */
const note = (entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`);

/** Hands on what comes, and notes each line of it before. @param {NodeJS.ReadableStream} from
 *  @param {NodeJS.WritableStream} to @param {(line: string) => void} noteLine */
function tee(from, to, noteLine) {
  let rest = '';
  from.setEncoding('utf8');
  from.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) noteLine(line);
    to.write(chunk);
  });
  return new Promise((resolve) => {
    from.once('end', () => {
      if (rest !== '') noteLine(rest);
      resolve(undefined);
    });
  });
}

note({ start: args });
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
child.stdin.on('error', () => undefined);
process.stdout.on('error', () => undefined);
void tee(process.stdin, child.stdin, (line) => note({ us: line })).then(() => {
  note({ closed: true });
  child.stdin.end();
});
const told = tee(child.stdout, process.stdout, (line) => note({ program: line }));
for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP']))
  process.on(signal, () => void child.kill(signal));
child.once('exit', (code, signal) => {
  void told.then(() => {
    note({ end: { code, signal } });
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
});
