/** What to hand around of an answer that is too large: its beginning and where the whole of it lies. */
import { beginningOf, cutText } from '../../machines/cut-text.ts';
import { messageOf } from '../../machines/errors.ts';
import { utf8Length } from '../../machines/utf8.ts';
import type { JobRecords } from './job-records.ts';
import type { SubagentJobResult } from './subagent-runner.ts';

/** Bytes of an answer that are handed around as they are. */
const RESULT_INLINE_BYTES = 65_536;

/** Characters of a large answer that are shown. */
const HEAD_CHARACTERS = 16_384;

const SUMMARY_CHARACTERS = 500;

const TRUNCATED = '\n[output truncated]\n';

/** `result` as it is handed around. Nothing of it is lost: what cannot be kept in a file stays whole. */
export async function handedAround(
  given: SubagentJobResult,
  records: Pick<JobRecords, 'keepOutput'> | undefined,
): Promise<SubagentJobResult> {
  const result = withoutPlaces(given);
  const { jobId, output, metadata } = result;
  if (records === undefined || utf8Length(output) <= RESULT_INLINE_BYTES) return result;
  try {
    const { path, bytes } = await records.keepOutput(jobId, output);
    return {
      jobId,
      output: `${beginningOf(output, HEAD_CHARACTERS)}${TRUNCATED}`,
      metadata: { summary: summaryOf(output), ...metadata, outputPath: path, outputBytes: bytes },
    };
  } catch (error) {
    return { jobId, output, metadata: { ...metadata, outputNotKept: messageOf(error) } };
  }
}

/** Where an output lies is said by the code that put it there: people and agents open that file. */
function withoutPlaces(result: SubagentJobResult): SubagentJobResult {
  if (result.metadata === undefined) return result;
  const { outputPath, outputBytes, outputNotKept, ...metadata } = result.metadata;
  return [outputPath, outputBytes, outputNotKept].every((value) => value === undefined)
    ? result
    : { ...result, metadata };
}

/** How an answer begins, in one line. */
function summaryOf(output: string): string {
  return cutText(
    beginningOf(output, 4 * SUMMARY_CHARACTERS)
      .replaceAll(/\s+/g, ' ')
      .trim(),
    SUMMARY_CHARACTERS,
  );
}
