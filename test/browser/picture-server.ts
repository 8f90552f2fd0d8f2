/**
 * Serves pictures on loopback, as pages of others show them: put into a page whose rules forbid everything but its own
 * style sheet, and as an image.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { diagramStyles } from '../../src/adapters/diagram/theme.ts';

/** Of a page that holds the picture itself. */
const STRICT = "default-src 'none'; style-src 'self'";
/** Of a page that only refers to it. */
const STRICT_WITH_IMAGES = `${STRICT}; img-src 'self'`;
/** As forges serve images that somebody put into a repository. */
const OF_IMAGES = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export interface PictureServer {
  readonly origin: string;
  /** The address of a page that has the picture in itself. */
  readonly inlined: (svg: string) => string;
  /** The address of a page that shows the picture as an image. */
  readonly asImage: (svg: string) => string;
  close(): Promise<void>;
}

interface Answer {
  readonly type: string;
  readonly rules: string;
  readonly body: string;
}

export async function servePictures(): Promise<PictureServer> {
  const answers = new Map<string, Answer>([
    [
      '/style.css',
      { type: 'text/css', rules: STRICT, body: `${diagramStyles('auto')}\nbody{margin:0}img,svg{display:block}` },
    ],
  ]);
  const server = createServer(({ url = '' }, response) => {
    const answer = answers.get(url);
    if (answer === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, {
          'content-type': `${answer.type}; charset=utf-8`,
          'content-security-policy': answer.rules,
          'cache-control': 'no-store',
        })
        .end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const add = (answer: Answer): string => {
    const path = `/${answers.size}`;
    answers.set(path, answer);
    return path;
  };
  const pageOf = (content: string, rules: string): string =>
    origin +
    add({
      type: 'text/html',
      rules,
      body: `<!doctype html><html lang="en"><title>A picture</title><link rel="stylesheet" href="/style.css">${content}`,
    });
  return {
    origin,
    inlined: (svg) => pageOf(withoutStyles(svg), STRICT),
    asImage: (svg) =>
      pageOf(`<img alt="" src="${add({ type: 'image/svg+xml', rules: OF_IMAGES, body: svg })}">`, STRICT_WITH_IMAGES),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** As it is drawn with `styles: 'outside'`. */
function withoutStyles(svg: string): string {
  return svg.replace(/<style>[^<]*<\/style>/, '');
}
