/**
 * What a browser says of a picture that it shows: where its texts, shapes and lines are, in pixels of the window, and
 * which colors they really have.
 */
import type { Page } from 'playwright-core';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * `order`: what is painted later covers what has a smaller one. Colors are as browsers compute them: `rgb(0, 0, 0)`, or
 * `none`.
 */
interface Painted {
  readonly order: number;
  readonly fill: string;
  readonly stroke: string;
  /** Of the whole, with everything around it. */
  readonly opacity: number;
}

export interface MeasuredText extends Omit<Painted, 'stroke'> {
  readonly text: string;
  readonly box: Box;
  /** Which line it stands in; pieces of one line differ in color only. */
  readonly line: number;
  /** The state that it stands in. */
  readonly state: string | undefined;
}

export interface MeasuredShape extends Painted {
  /** The class of how it is painted, without its prefix. */
  readonly check: string;
  readonly state: string | undefined;
  /** It has others in it. */
  readonly isOuter: boolean;
  readonly box: Box;
}

export interface MeasuredLine extends Painted {
  readonly check: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface MeasuredPicture {
  readonly box: Box;
  readonly texts: readonly MeasuredText[];
  readonly shapes: readonly MeasuredShape[];
  readonly lines: readonly MeasuredLine[];
  /** The window is scrolled or the picture is scaled where these differ. */
  readonly drawnWidth: number;
}

/** What is used of the browser's own types, which only the code below meets. */
interface PageElement {
  readonly tagName: string;
  readonly textContent: string;
  readonly clientWidth: number;
  readonly parentElement: PageElement | null;
  readonly width?: { readonly baseVal: { readonly value: number } };
  getAttribute(name: string): string | null;
  closest(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  querySelector(selector: string): PageElement | null;
  getBoundingClientRect(): Box;
  getTotalLength(): number;
  getPointAtLength(length: number): { matrixTransform(matrix: object): { readonly x: number; readonly y: number } };
  getScreenCTM(): object;
}

export async function measuredPicture(page: Page, selector = 'svg'): Promise<MeasuredPicture> {
  return page.evaluate(measureInPage, selector);
}

/** Runs in the page, so it can use nothing from outside of itself. */
function measureInPage(selector: string): MeasuredPicture {
  const STEP = 4;
  interface Style {
    readonly fill: string;
    readonly stroke: string;
    readonly opacity: string;
    readonly fillOpacity: string;
    readonly strokeOpacity: string;
  }
  const { document, getComputedStyle } = globalThis as unknown as {
    readonly document: PageElement;
    readonly getComputedStyle: (element: PageElement) => Style;
  };
  const svg = document.querySelector(selector);
  if (svg === null) throw new Error(`there is no ${selector} in the page`);
  const boxOf = (element: PageElement): Box => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x, y, width, height };
  };
  const opacityOf = (element: PageElement): number => {
    let opacity = Number(getComputedStyle(element).fillOpacity) * Number(getComputedStyle(element).strokeOpacity);
    for (let each: PageElement | null = element; each !== null; each = each.parentElement)
      opacity *= Number(getComputedStyle(each).opacity);
    return opacity;
  };
  const checkOf = (element: PageElement): string =>
    (element.getAttribute('class') ?? '').split(' ').at(-1)?.replace('wk-', '') ?? '';
  const stateOf = (element: PageElement): string | undefined =>
    element.closest('[data-state]')?.getAttribute('data-state') ?? undefined;
  const pointsOf = (path: PageElement): { readonly x: number; readonly y: number }[] => {
    const [length, matrix] = [path.getTotalLength(), path.getScreenCTM()];
    return Array.from({ length: Math.ceil(length / STEP) + 1 }, (_, index) => {
      const { x, y } = path.getPointAtLength(Math.min(length, index * STEP)).matrixTransform(matrix);
      return { x, y };
    });
  };
  const texts: MeasuredText[] = [];
  const shapes: MeasuredShape[] = [];
  const lines: MeasuredLine[] = [];
  let line = 0;
  for (const [order, element] of [...svg.querySelectorAll('rect,circle,path,text,tspan')].entries()) {
    const { fill, stroke } = getComputedStyle(element);
    const painted = { order, fill, stroke, opacity: opacityOf(element) };
    const check = checkOf(element);
    if (element.tagName === 'text') line += 1;
    else if (element.tagName === 'tspan')
      texts.push({
        order,
        fill,
        opacity: painted.opacity,
        text: element.textContent,
        box: boxOf(element),
        line,
        state: stateOf(element),
      });
    else if (element.tagName === 'path') lines.push({ ...painted, check, points: pointsOf(element) });
    else
      shapes.push({
        ...painted,
        check,
        state: stateOf(element),
        isOuter: check === 'even' || check === 'odd',
        box: boxOf(element),
      });
  }
  return { box: boxOf(svg), texts, shapes, lines, drawnWidth: svg.width?.baseVal.value ?? 0 };
}
