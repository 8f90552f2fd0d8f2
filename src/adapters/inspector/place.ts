/**
 * Where one inspector lies: a host name and a path that cannot be guessed.
 *
 * Browsers send a cookie to every port of its host, and keep what a page left at an origin, as service workers, for the
 * next program on that port. So each inspector has a name of its own below `localhost`, which browsers resolve to this
 * machine by themselves, and where it is called by another name its path does the same: the cookie goes to nothing
 * else.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const PLACE_BYTES = 16;

export interface Place {
  /** `wc-<random>.localhost` */
  readonly name: string;
  /** `/<random>/`, under which everything lies. Independent of the name, which programs may ask others to resolve. */
  readonly path: string;
}

export function newPlace(): Place {
  return {
    name: `wc-${randomBytes(PLACE_BYTES).toString('hex')}.localhost`,
    path: `/${randomBytes(PLACE_BYTES).toString('hex')}/`,
  };
}

/**
 * What comes after the path of the place, with its slash; undefined for what lies elsewhere. Takes the same time
 * wherever they differ.
 */
export function within({ path: place }: Place, path: string): string | undefined {
  const isInside = timingSafeEqual(digestOf(path.slice(0, place.length)), digestOf(place));
  return isInside ? path.slice(place.length - 1) : undefined;
}

/** Of the same length whatever was given: comparing two takes the same time wherever they differ. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
