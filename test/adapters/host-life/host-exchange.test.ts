/** Questions between processes over one folder, by the sockets by which they live. */
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostAnswerer, HostExchange } from '../../../src/actors/host/host-exchange.ts';
import type { HostLife } from '../../../src/actors/host/host-life.ts';
import { MAX_QUESTION_CHARACTERS } from '../../../src/adapters/host-life/host-desk.ts';
import { createHostLife } from '../../../src/adapters/host-life/socket-host-life.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let directory: string;
const lives: HostLife[] = [];

beforeEach(async () => {
  home = await temporaryHome();
  directory = join(home.path, 'hosts');
});
afterEach(async () => {
  for (const life of lives.splice(0)) await life.close();
  await home.remove();
});

function open(): HostLife & HostExchange {
  const life = createHostLife({ directory });
  lives.push(life);
  return life;
}

async function answering(answerer: HostAnswerer): Promise<{ life: HostLife & HostExchange; token: string }> {
  const life = open();
  life.answerWith(answerer);
  return { life, token: (await life.token()) ?? '' };
}

describe('a process that is asked', () => {
  it('answers each question, long ones and many at once', async () => {
    const { token } = await answering(async (question) => question.toUpperCase());
    const asker = open();
    expect(await asker.others()).toEqual({ tokens: [token], beyond: 0 });
    const long = 'ä'.repeat(1_000_000);
    expect(await asker.ask(token, long)).toEqual({ is: 'told', text: 'Ä'.repeat(1_000_000) });
    const many = await Promise.all(Array.from({ length: 100 }, (_, index) => asker.ask(token, `question ${index}`)));
    expect(many).toEqual(many.map((_, index) => ({ is: 'told', text: `QUESTION ${index}` })));
  });

  it('is found by others and not by itself, and the asker leaves nothing behind', async () => {
    const { life, token } = await answering(async () => 'yes');
    expect(await life.others()).toEqual({ tokens: [], beyond: 0 });
    expect(life.isOwn(token)).toBe(true);
    await open().ask(token, 'well?');
    expect(await readdir(directory)).toEqual([`${token}.sock`]);
  });

  it('hears when the asker leaves', async () => {
    const left = new AbortController();
    let heard: AbortSignal | undefined;
    const { token } = await answering((_question, signal) => {
      heard = signal;
      return new Promise(() => undefined);
    });
    const asked = open().ask(token, 'well?', { signal: left.signal });
    await expect.poll(() => heard).toBeDefined();
    left.abort();
    expect(await asked).toEqual({ is: 'silent' });
    await expect.poll(() => heard?.aborted).toBe(true);
  });

  it('is silent where it does not answer in time, answers with an error, or has no answerer', async () => {
    const { token } = await answering(() => new Promise(() => undefined));
    expect(await open().ask(token, 'well?', { timeoutMs: 50 })).toEqual({ is: 'silent' });
    const { token: broken } = await answering(() => Promise.reject(new Error('no')));
    expect(await open().ask(broken, 'well?')).toEqual({ is: 'silent' });
    const old = open();
    expect(await open().ask((await old.token()) ?? '', 'well?')).toEqual({ is: 'silent' });
  });

  it('hangs up on one who says too much, and goes on living', async () => {
    const { token } = await answering(async () => 'yes');
    const connection = connect(join(directory, `${token}.sock`));
    connection.on('error', () => undefined);
    const closed = new Promise((resolve) => connection.on('close', resolve));
    const piece = 'x'.repeat(1_048_576);
    const write = (): void => {
      while (connection.writable && connection.write(piece));
    };
    connection.on('drain', write);
    connection.on('connect', write);
    await closed;
    expect(connection.bytesWritten).toBeGreaterThan(MAX_QUESTION_CHARACTERS);
    expect(await open().ask(token, 'well?')).toEqual({ is: 'told', text: 'yes' });
  });

  it('ends in the middle of questions: those who ask hear that it is gone', async () => {
    const { life, token } = await answering(() => new Promise(() => undefined));
    const asked = open().ask(token, 'well?');
    await life.close();
    expect(await asked).toEqual({ is: 'gone' });
    expect(await open().ask(token, 'well?')).toEqual({ is: 'gone' });
    expect(await open().ask('../../etc/passwd', 'well?')).toEqual({ is: 'silent' });
  });
});
