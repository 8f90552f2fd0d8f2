/** The token that clients of `wakechart serve` send. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a request bears this token. Takes as long for every wrong one. */
export function bears(request: Request, token: string): boolean {
  // The name of a scheme may be written either way.
  const given = (request.headers.get('authorization') ?? '').replace(/^bearer +/i, 'Bearer ');
  return timingSafeEqual(digestOf(given), digestOf(`Bearer ${token}`));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
