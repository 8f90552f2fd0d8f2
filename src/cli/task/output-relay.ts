/** Carries a command's output to ours: as the bytes it wrote, or as records for programs. */
import type { OnShellOutput } from '../../adapters/shell/shell-output.ts';
import type { CommandContext } from '../context.ts';

export interface OutputRelay {
  readonly onOutput: OnShellOutput;
  /** Writes what was held back because it might have been half a character. */
  end(): void;
}

export function rawRelay({ out, err }: Pick<CommandContext, 'out' | 'err'>): OutputRelay {
  return {
    onOutput: ({ source, chunk }) => (source === 'stdout' ? out : err).push(chunk),
    end: () => undefined,
  };
}

/** `{"stream":"stdout","text":"…"}` for each piece. */
export function recordRelay({ out }: Pick<CommandContext, 'out'>): OutputRelay {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const push = (stream: 'stdout' | 'stderr', text: string): Promise<void> | undefined =>
    text === '' ? undefined : out.push(`${JSON.stringify({ stream, text })}\n`);
  return {
    onOutput: ({ source, chunk }) => push(source, decoders[source].decode(chunk, { stream: true })),
    end: () => {
      for (const stream of ['stdout', 'stderr'] as const) void push(stream, decoders[stream].decode());
    },
  };
}
