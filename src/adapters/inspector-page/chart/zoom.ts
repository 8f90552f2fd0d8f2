/** How large a picture is shown, as a factor of its own size. */

export const SMALLEST = 0.2;
export const LARGEST = 4;
/**
 * Words of 12 pixels are 11 then. Smaller, and they cannot be read any more: the chart is scrolled instead, unless the
 * user wants all of it.
 */
export const LEGIBLE = 0.92;
const STEP = 1.2;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** All of it is seen, and it is never larger than it was drawn. */
export function wholeZoom(picture: Size, frame: Size): number {
  if (picture.width <= 0 || picture.height <= 0 || frame.width <= 0 || frame.height <= 0) return 1;
  return clamped(Math.min(1, frame.width / picture.width, frame.height / picture.height));
}

/** Whole, or at least in the width, as long as it can be read. */
export function fitted(picture: Size, frame: Size): number {
  const all = wholeZoom(picture, frame);
  return all >= LEGIBLE ? all : Math.max(LEGIBLE, wholeZoom(picture, { ...frame, height: picture.height }));
}

export function clamped(zoom: number): number {
  return Math.min(LARGEST, Math.max(SMALLEST, Number.isFinite(zoom) ? zoom : 1));
}

export function closer(zoom: number, steps: number): number {
  return clamped(zoom * STEP ** steps);
}

/**
 * Where to scroll to, so that what is under a point of the view stays there. @param point in pixels from the corner of
 * the view
 */
export function scrollAround(
  scroll: number,
  point: number,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  return Math.max(0, ((scroll + point) / from) * to - point);
}
