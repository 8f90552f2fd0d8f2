/** The token that clients of `wakechart serve` send. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a request bears this token. Takes as long for every wrong one. */
export function bears(request: Request, token: string): boolean {
  return timingSafeEqual(digestOf(request.headers.get('authorization') ?? ''), digestOf(`Bearer ${token}`));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
