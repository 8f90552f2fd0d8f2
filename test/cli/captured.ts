/** A context whose output is kept instead of shown, for commands that need no process of their own. */
import { Writable } from 'node:stream';
import type { CommandContext } from '../../src/cli/context.ts';
import type { Interruption } from '../../src/cli/interruption.ts';
import { Output } from '../../src/cli/terminal/output.ts';

export interface Captured {
  readonly context: CommandContext;
  readonly text: () => string;
}

export function captured(home: string): Captured {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  // An output needs no more of a stream of the process than any stream has.
  const output = new Output(stream as NodeJS.WriteStream, {});
  // Nobody interrupts here.
  const interruption = {
    signal: new AbortController().signal,
    exitCode: undefined,
    guard: () => () => undefined,
  } as unknown as Interruption;
  return {
    context: { out: output, err: output, json: false, home, isHomeGiven: true, interruption },
    text: () => text,
  };
}
