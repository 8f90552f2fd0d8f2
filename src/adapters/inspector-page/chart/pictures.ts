/** Pictures of charts, which the server draws. Each is asked for once, and again only when that failed. */
import { chartPath, request } from '../model/transport.ts';

const MOST = 40;
const LIMIT_MS = 30_000;
const SVG = 'http://www.w3.org/2000/svg';
/** Pictures have none of these: whatever they came from, nothing in them runs, and nothing of them leads away. */
const UNWANTED = 'script,foreignObject,style,a,image,use,iframe,animate,set';

const pictures = new Map<string, Promise<SVGSVGElement>>();

export interface WantedPicture {
  readonly chart: string;
  /** Of which recording, and of which program: charts of one name may differ. */
  readonly recording: string;
  readonly boot: string;
}

/** What is given is kept: a caller shows a copy. @throws RequestFailure, Error */
export function pictureOf({ chart, recording, boot }: WantedPicture): Promise<SVGSVGElement> {
  const key = JSON.stringify([boot, recording, chart]);
  const known = pictures.get(key);
  if (known !== undefined) return known;
  const loading = load(chartPath(chart, recording));
  pictures.set(key, loading);
  loading.catch(() => pictures.delete(key));
  const [oldest] = pictures.keys();
  if (pictures.size > MOST && oldest !== undefined) pictures.delete(oldest);
  return loading;
}

async function load(path: string): Promise<SVGSVGElement> {
  const document = await xmlOf(path);
  const root = document?.documentElement;
  if (root?.namespaceURI === SVG && root.localName === 'svg') return cleaned(root);
  // The answer to a refusal is no picture; asked this way, it says why.
  await request(path);
  throw new Error('what came is no picture');
}

/** As a document: this is how markup can be had where pages may not make any of text. */
function xmlOf(path: string): Promise<Document | undefined> {
  return new Promise((resolve) => {
    const asking = new XMLHttpRequest();
    asking.open('GET', path);
    asking.responseType = 'document';
    asking.overrideMimeType('application/xml');
    asking.timeout = LIMIT_MS;
    asking.addEventListener('loadend', () =>
      resolve(asking.status === 200 ? (asking.responseXML ?? undefined) : undefined),
    );
    asking.send();
  });
}

function cleaned(root: Element): SVGSVGElement {
  const picture: unknown = document.importNode(root, true);
  if (!(picture instanceof SVGSVGElement)) throw new Error('what came is no picture');
  for (const element of picture.querySelectorAll(UNWANTED)) element.remove();
  return picture;
}

/** As it was drawn, in pixels. */
export function sizeOf(picture: SVGSVGElement): { readonly width: number; readonly height: number } {
  const { width, height } = picture.viewBox.baseVal;
  return { width, height };
}
