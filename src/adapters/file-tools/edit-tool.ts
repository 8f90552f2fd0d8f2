/** `edit`: changes parts of a file, all of them or none, and leaves the rest as it is to the byte. */
import { Buffer } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Tool, ToolContext } from '../../actors/turn/tool.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { applyEdits } from '../../machines/turn/files/apply-edits.ts';
import { editDefinition, editsOf } from '../../machines/turn/files/edit-file.ts';
import type { EditInput, EditOutput } from '../../machines/turn/files/edit-file.ts';
import { fileKindOf } from '../../machines/turn/files/file-kind.ts';
import { MAX_EDIT_BYTES } from '../../machines/turn/files/file-limits.ts';
import { shownPath } from '../../machines/turn/files/file-path.ts';
import { lineDiff } from '../../machines/turn/files/line-diff.ts';
import { chunksOf, contentVersion } from './file-chunks.ts';
import { fileFailed, notFound } from './file-errors.ts';
import { lockedFolder, pathSubject } from './file-tool-ports.ts';
import type { FileToolPorts } from './file-tool-ports.ts';
import type { Place } from './places.ts';
import { encodeText, withPresentFile } from './present-file.ts';
import { putWholeFile } from '../system/held-file.ts';

export function createEditTool(ports: FileToolPorts): Tool<EditInput> {
  return {
    definition: editDefinition,
    subject: ({ path }, context) => pathSubject(path, 'write', context),
    async run(input, context) {
      const places = await ports.places(context);
      const { root } = await places.locate(input.path, 'write');
      const edit = async (): Promise<EditOutput> => {
        const place = await places.locate(input.path, 'write');
        if (place.missing.length > 0) throw notFound('edit', input.path);
        const folder = await places.openParent(place);
        try {
          return await withPresentFile(folder, place, async ({ handle, mode, confirm }) => {
            const before = await readAll(handle, place, context.signal);
            const change = changeOf(before, input);
            const grown = await ports.admit(context, {
              places,
              place,
              change: { bytes: change.content.length - before.length, files: 0 },
            });
            context.signal.throwIfAborted();
            await putWholeFile(folder, {
              name: basename(place.realPath),
              content: change.content,
              mode,
              as: 'replace',
              confirm,
            });
            grown();
            rememberChange(ports, { place, context, before, after: change.content });
            return { path: place.shown, replacements: change.replacements, diff: change.diff };
          });
        } finally {
          await folder.close();
        }
      };
      return ports.locks.run(lockedFolder(root), edit, context.signal).catch((error: unknown) => {
        throw fileFailed('edit', input.path, error);
      });
    },
  };
}

interface Change {
  readonly content: Buffer;
  readonly replacements: number;
  readonly diff: string;
}

function changeOf(before: Buffer, input: EditInput): Change {
  const text = decodeText(before, input.path);
  const { text: edited, replacements } = applyEdits(text, editsOf(input));
  const content = encodeText(edited, input.path);
  if (content.length > MAX_EDIT_BYTES) throw tooLarge(input.path, content.length);
  return { content, replacements, diff: lineDiff(text, edited) };
}

interface KnownChange {
  readonly place: Place;
  readonly context: ToolContext;
  readonly before: Buffer;
  readonly after: Buffer;
}

/** A session that knew the file knows it still. One that had not seen all of it has not seen it now. */
function rememberChange({ seen }: FileToolPorts, { place, context: { session }, before, after }: KnownChange): void {
  if (seen.versionOf(session.sessionId, place.realPath) !== contentVersion(before)) return;
  seen.remember(session.sessionId, place.realPath, contentVersion(after));
}

async function readAll(handle: FileHandle, { path }: Place, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(handle, signal)) {
    bytes += chunk.length;
    if (bytes > MAX_EDIT_BYTES) throw tooLarge(path, (await handle.stat()).size);
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

function decodeText(content: Buffer, path: string): string {
  try {
    if (fileKindOf(content).kind !== 'text') throw new TypeError('it is not text');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new RuntimeError('FILE_NOT_TEXT', `cannot edit ${shownPath(path)}: it is not UTF-8 text`, {
      category: 'validation',
      hint: 'Use a program that knows what kind of file it is.',
      details: { path },
      cause,
    });
  }
}

function tooLarge(path: string, bytes: number): RuntimeError {
  return new RuntimeError(
    'FILE_TOO_LARGE',
    `cannot edit ${shownPath(path)}: it has or would have ${bytes} bytes; expected ${MAX_EDIT_BYTES} at most`,
    {
      category: 'capacity',
      hint: 'Use a program that changes it as it reads it.',
      details: { path, bytes, maxBytes: MAX_EDIT_BYTES },
    },
  );
}
