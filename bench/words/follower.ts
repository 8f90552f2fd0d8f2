/**
 * The other process of the bench of words: follows a session until its step is over, and tells for each piece how long
 * it was under way.
 */
import { createNodeRuntime } from 'wakechart/node';
import { nowMs } from '../postgres/fleet.ts';

const [place = '', sessionId = ''] = process.argv.slice(2);

if (process.send !== undefined) {
  const runtime = await createNodeRuntime(JSON.parse(place) as object);
  const latencies: number[] = [];
  let open = '';
  process.send('ready');
  for await (const word of runtime.words(sessionId)) {
    if (word.type === 'logged') break;
    if (word.type !== 'said') continue;
    const atMs = nowMs();
    const pieces = `${open}${word.text}`.split(' ');
    open = pieces.pop() ?? '';
    for (const piece of pieces) latencies.push(atMs - Number(piece));
  }
  process.send(latencies);
  await runtime.shutdown();
  process.disconnect();
}
