/**
 * What is wrong with a picture as a browser shows it, as sentences: what lies where it must not, and what cannot be
 * told from its ground.
 */
import type { Box, MeasuredPicture, MeasuredShape, MeasuredText } from './measured-picture.ts';

/** Source: WCAG 2.2, 1.4.3 (text) and 1.4.11 (what has to be seen to understand a drawing). */
const LEAST_CONTRAST = { text: 4.5, line: 3 } as const;

/** Pixels by which boxes may lie in each other without anything to be seen of it. */
const TOLERANCE = 0.5;

/** The rim of the whole picture, which says nothing. */
const DECORATION: ReadonlySet<string> = new Set(['page']);

interface Point {
  readonly x: number;
  readonly y: number;
}

export function placeFaults({ box: page, texts, shapes, drawnWidth }: MeasuredPicture): string[] {
  const states = shapes.filter(({ state, check }) => state !== undefined && check !== 'ring');
  const faults = [
    ...(texts.length === 0 ? ['there is no text'] : []),
    ...(Math.abs(page.width - drawnWidth) > TOLERANCE
      ? [`the picture is ${page.width} wide and drawn for ${drawnWidth}`]
      : []),
  ];
  for (const text of texts) {
    if (text.box.width < 1 || text.box.height < 1) faults.push(`"${text.text}" has no size`);
    if (!contains(page, text.box)) faults.push(`"${text.text}" leaves the picture`);
    for (const state of states) faults.push(...faultsBetween(text, state));
  }
  for (const [index, one] of texts.entries()) {
    for (const other of texts.slice(index + 1))
      if (one.line !== other.line && overlap(one.box, other.box))
        faults.push(`"${one.text}" and "${other.text}" overlap`);
  }
  return faults;
}

function faultsBetween({ text, state: own, box }: MeasuredText, shape: MeasuredShape): string[] {
  if (own === shape.state) return contains(shape.box, box) ? [] : [`"${text}" does not fit into ${own}`];
  if (!overlap(shape.box, box)) return [];
  // What stands in an outer state stands in it with all of its letters.
  return shape.isOuter && contains(shape.box, box) ? [] : [`"${text}" lies over ${shape.state}`];
}

export function contrastFaults({ texts, shapes, lines }: MeasuredPicture): string[] {
  const grounds = shapes.filter(({ fill }) => fill !== 'none');
  const groundAt = (point: Point, order: number): string | undefined =>
    grounds.findLast((ground) => ground.order < order && holds(ground.box, point))?.fill;
  const faults = new Set<string>();
  const compare = (
    what: string,
    color: string,
    { points, order, least }: { readonly points: readonly Point[]; readonly order: number; readonly least: number },
  ): void => {
    for (const ground of new Set(points.flatMap((point) => groundAt(point, order) ?? []))) {
      const contrast = contrastOf(color, ground);
      if (!(contrast >= least)) faults.add(`${what} (${color}) has a contrast of ${contrast.toFixed(2)} to ${ground}`);
    }
  };
  for (const { text, fill, box, order } of texts)
    compare(`"${text}"`, fill, { points: [...cornersOf(box, -1), middleOf(box)], order, least: LEAST_CONTRAST.text });
  for (const { check, stroke, fill, points, order } of lines)
    for (const color of new Set([stroke, fill]))
      if (color !== 'none') compare(`a line (${check})`, color, { points, order, least: LEAST_CONTRAST.line });
  for (const { check, state, stroke, fill, box, order } of shapes) {
    const color = stroke === 'none' ? fill : stroke;
    if (!DECORATION.has(check))
      compare(`the outline of ${state ?? check}`, color, { points: sidesOf(box), order, least: LEAST_CONTRAST.line });
  }
  for (const { opacity, order } of [...texts, ...shapes, ...lines])
    if (opacity !== 1) faults.add(`element ${order} is not opaque`);
  return [...faults];
}

/** From 1 to 21. Source: WCAG 2.2, "contrast ratio" and "relative luminance". */
function contrastOf(one: string, other: string): number {
  const [light, dark] = [luminanceOf(one), luminanceOf(other)].toSorted((left, right) => right - left);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/** @throws Error for what is no opaque color, which these pictures have not */
function luminanceOf(color: string): number {
  const channels = /^rgb\((\d+), (\d+), (\d+)\)$/
    .exec(color)
    ?.slice(1)
    .map((channel) => Number(channel) / 255);
  if (channels === undefined) throw new Error(`expected a color like rgb(0, 0, 0), got ${color}`);
  const [red = 0, green = 0, blue = 0] = channels.map((channel) =>
    channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** `by` pixels outside of the box. */
function cornersOf({ x, y, width, height }: Box, by: number): Point[] {
  return [-by, width + by].flatMap((right) => [-by, height + by].map((down) => ({ x: x + right, y: y + down })));
}

/** A pixel outside of the middle of each side: the corners of a box are round. */
function sidesOf({ x, y, width, height }: Box): Point[] {
  return [
    { x: x - 1, y: y + height / 2 },
    { x: x + width + 1, y: y + height / 2 },
    { x: x + width / 2, y: y - 1 },
    { x: x + width / 2, y: y + height + 1 },
  ];
}

function middleOf({ x, y, width, height }: Box): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

function holds({ x, y, width, height }: Box, point: Point): boolean {
  return point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height;
}

function contains(outer: Box, { x, y, width, height }: Box): boolean {
  return (
    x >= outer.x - TOLERANCE &&
    y >= outer.y - TOLERANCE &&
    x + width <= outer.x + outer.width + TOLERANCE &&
    y + height <= outer.y + outer.height + TOLERANCE
  );
}

function overlap(one: Box, other: Box): boolean {
  return (
    one.x + TOLERANCE < other.x + other.width &&
    other.x + TOLERANCE < one.x + one.width &&
    one.y + TOLERANCE < other.y + other.height &&
    other.y + TOLERANCE < one.y + one.height
  );
}
