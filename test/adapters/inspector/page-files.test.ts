/** The files of the page: what is in its folder, and nothing else however it is asked for. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inspected } from './inspector-client.ts';
import type { Inspected } from './inspector-client.ts';

const SECRET = 'not for readers';

interface Page extends Inspected {
  readonly directory: string;
}

async function page(): Promise<Page> {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const directory = join(folder, 'page');
  mkdirSync(join(directory, 'assets', '.hidden'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), SECRET);
  writeFileSync(join(folder, 'page-secret.txt'), SECRET);
  writeFileSync(join(directory, 'index.html'), '<!doctype html>');
  writeFileSync(join(directory, '.env'), SECRET);
  writeFileSync(join(directory, 'assets', '.hidden', 'x.js'), SECRET);
  writeFileSync(join(directory, 'assets', 'main-ü.js'), 'export {};');
  symlinkSync(join(folder, 'secret.txt'), join(directory, 'link.txt'));
  symlinkSync(folder, join(directory, 'up'));
  return { ...(await inspected({ pageDirectory: directory })), directory };
}

describe('the page', () => {
  it('is the index of its folder, with the right types', async () => {
    const { ask, directory } = await page();
    const start = await ask('/');
    expect([start.status, start.text, start.headers['content-type']]).toEqual([
      200,
      '<!doctype html>',
      'text/html; charset=utf-8',
    ]);
    expect((await ask('/index.html')).text).toBe(start.text);
    const script = await ask('/assets/main-%C3%BC.js?v=1');
    expect([script.text, script.headers['content-type']]).toEqual(['export {};', 'text/javascript; charset=utf-8']);
    for (const [name, type] of [
      ['a.css', 'text/css; charset=utf-8'],
      ['a.svg', 'image/svg+xml; charset=utf-8'],
      ['a.PNG', 'image/png'],
      ['a.woff2', 'font/woff2'],
      ['a.exe', 'application/octet-stream'],
      ['a', 'application/octet-stream'],
    ] as const) {
      writeFileSync(join(directory, name), 'x');
      expect((await ask(`/${name}`)).headers['content-type']).toBe(type);
    }
  });

  it('comes compressed where it was built so and the browser takes that, each with a tag of its own', async () => {
    const { ask, directory } = await page();
    writeFileSync(join(directory, 'index.html.gz'), gzipSync('<!doctype html>'));
    const plain = await ask('/');
    const short = await ask('/', { headers: { 'accept-encoding': 'gzip, br' } });
    expect([plain.text, plain.headers['content-encoding'], plain.headers.vary]).toEqual([
      '<!doctype html>',
      undefined,
      'accept-encoding',
    ]);
    expect([
      gunzipSync(short.bytes).toString(),
      short.headers['content-encoding'],
      short.headers['content-type'],
    ]).toEqual(['<!doctype html>', 'gzip', 'text/html; charset=utf-8']);
    expect(short.headers.etag).not.toBe(plain.headers.etag);
  });

  it('is unpacked for a client that takes no gzip where it is there compressed only, as in the package', async () => {
    const { ask, directory } = await page();
    writeFileSync(join(directory, 'only.js.gz'), gzipSync('export {};'));
    const { text, headers } = await ask('/only.js');
    expect([text, headers['content-encoding'], headers['content-type']]).toEqual([
      'export {};',
      undefined,
      'text/javascript; charset=utf-8',
    ]);
    const short = await ask('/only.js', { headers: { 'accept-encoding': 'gzip' } });
    expect([gunzipSync(short.bytes).toString(), short.headers['content-encoding']]).toEqual(['export {};', 'gzip']);
  });

  it('is not sent again to a browser that has it, and is once it was built anew', async () => {
    const { ask, directory } = await page();
    const { etag = '' } = (await ask('/')).headers;
    expect((await ask('/', { headers: { 'if-none-match': etag } })).status).toBe(304);
    writeFileSync(join(directory, 'index.html'), 'newer');
    expect((await ask('/', { headers: { 'if-none-match': etag } })).text).toBe('newer');
  });

  it('says to HEAD how long it is', async () => {
    const { ask } = await page();
    const { status, headers, bytes } = await ask('/', { method: 'HEAD' });
    expect([status, headers['content-length'], bytes.length]).toEqual([200, '15', 0]);
  });

  it.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e%2fsecret.txt',
    '/..%5csecret.txt',
    '/..\\secret.txt',
    '/%252e%252e/secret.txt',
    '/....//secret.txt',
    '/.%00./secret.txt',
    '/../page-secret.txt',
    '/index.html%00.js',
    '/index.html/',
    '/index.html/../../secret.txt',
    '/./index.html',
    '/assets//main-%C3%BC.js',
    '/assets',
    '/assets/',
    '/.env',
    '/assets/.hidden/x.js',
    '/link.txt',
    '/up/secret.txt',
    '/up/page/index.html',
    '/%2Fetc%2Fpasswd',
    '/etc/passwd',
    '/C:/Windows/win.ini',
    '/C:%5cWindows%5cwin.ini',
    '/file:///etc/passwd',
    '/%c0%ae%c0%ae/secret.txt',
    '/%e0%80%af',
    '/%',
    '/%zz',
    '/index.html:$DATA',
    '/INDEX.HTML',
    '/__proto__',
    '/constructor',
    '/~root',
    '/index.html%20',
    '/;/index.html',
    `/${'../'.repeat(400)}etc/passwd`,
    `/${'a/'.repeat(3_000)}`,
  ])('has no way out of its folder, and no way to what is hidden in it: %s', async (path) => {
    const { raw, port, place, cookie } = await page();
    const answer = await raw(
      `GET ${place}${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (?:400|404) /);
    expect(answer).not.toContain(SECRET);
    expect(answer).not.toMatch(/root:|<!doctype|export \{\}/);
  });

  it('does not hang on a file that is none, or fail on one that is too long', async () => {
    const { ask, directory } = await page();
    writeFileSync(join(directory, 'huge.js'), '');
    truncateSync(join(directory, 'huge.js'), 17 * 1024 * 1024);
    expect((await ask('/huge.js')).status).toBe(404);
  });

  it('whose folder is gone is our error, and without one there is only the API', async () => {
    const { ask, directory, problems } = await page();
    rmSync(directory, { recursive: true });
    const gone = await ask('/');
    expect([gone.status, gone.text.includes(directory), problems.length]).toEqual([500, false, 1]);
    const bare = await inspected();
    const nothing = await bare.ask('/');
    expect([nothing.status, nothing.headers['content-type'], nothing.text]).toEqual([
      404,
      'text/plain; charset=utf-8',
      expect.stringContaining('INSPECTOR_NOT_FOUND'),
    ]);
    expect((await bare.ask('/', { headers: { accept: 'application/json' } })).headers['content-type']).toBe(
      'application/json; charset=utf-8',
    );
    expect((await bare.ask('/api/nothing')).headers['content-type']).toBe('application/json; charset=utf-8');
  });
});
