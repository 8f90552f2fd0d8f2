/** `write`: a whole file, put in place at once, and never over something that the session has not seen. */
import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Tool, ToolContext } from '../../actors/turn/tool.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { shownPath } from '../../machines/turn/files/file-path.ts';
import { countLines } from '../../machines/turn/files/line-endings.ts';
import { writeDefinition } from '../../machines/turn/files/write-file.ts';
import type { WriteInput, WriteOutput } from '../../machines/turn/files/write-file.ts';
import { hasCode } from '../system/error-codes.ts';
import { contentVersion, versionOf } from './file-chunks.ts';
import { changedSince, fileFailed } from './file-errors.ts';
import { lockedFolder, pathSubject } from './file-tool-ports.ts';
import type { FileToolPorts } from './file-tool-ports.ts';
import type { HeldFolder } from '../system/held-folder.ts';
import type { Place, Places } from './places.ts';
import { encodeText, withPresentFile } from './present-file.ts';
import { putWholeFile } from '../system/held-file.ts';

export function createWriteTool(ports: FileToolPorts): Tool<WriteInput> {
  return {
    definition: writeDefinition,
    subject: ({ path }, context) => pathSubject(path, 'write', context),
    async run({ path, content }, context) {
      const bytes = encodeText(content, path);
      const places = await ports.places(context);
      const { root } = await places.locate(path, 'write');
      // Looked up again when it is its turn: the one before may have made the file.
      const write = async (): Promise<WriteOutput> => {
        const place = await places.locate(path, 'write');
        const action = await writeFile({ ports, places, place, content: bytes, context });
        ports.seen.remember(context.session.sessionId, place.realPath, contentVersion(bytes));
        return { path: place.shown, action, lines: countLines(content), bytes: bytes.length };
      };
      return ports.locks.run(lockedFolder(root), write, context.signal).catch((error: unknown) => {
        throw fileFailed('write', path, error);
      });
    },
  };
}

interface Writing {
  readonly ports: FileToolPorts;
  readonly places: Places;
  readonly place: Place;
  readonly content: Uint8Array;
  readonly context: ToolContext;
}

async function writeFile(writing: Writing): Promise<WriteOutput['action']> {
  const { ports, places, place, content, context } = writing;
  const before =
    place.missing.length > 0
      ? 0
      : await lstat(place.realPath).then(
          ({ size }) => size,
          () => 0,
        );
  // Before a folder is made for it.
  const grown = await ports.admit(context, {
    places,
    place,
    change: { bytes: content.length - before, files: place.missing.length },
  });
  const folder = await places.openParent(place);
  try {
    if (place.missing.length === 0) {
      await replaceSeenFile(folder, writing);
      grown();
      return 'replaced';
    }
    context.signal.throwIfAborted();
    await putWholeFile(folder, { name: basename(place.realPath), content, as: 'create' }).catch((error: unknown) => {
      throw hasCode(error, 'EEXIST') ? notSeen(place) : error;
    });
    grown();
    return 'created';
  } finally {
    await folder.close();
  }
}

async function replaceSeenFile(folder: HeldFolder, { ports, place, content, context }: Writing): Promise<void> {
  const { signal, session } = context;
  await withPresentFile(folder, place, async ({ handle, mode, confirm }) => {
    const seen = ports.seen.versionOf(session.sessionId, place.realPath);
    if (seen === undefined) throw notSeen(place);
    if ((await versionOf(handle, signal)) !== seen) throw changedSince(place.path);
    signal.throwIfAborted();
    await putWholeFile(folder, { name: basename(place.realPath), content, mode, as: 'replace', confirm });
  });
}

function notSeen({ path }: Place): RuntimeError {
  return new RuntimeError(
    'FILE_NOT_READ',
    `${shownPath(path)} exists and this session has not read it; nothing was written`,
    {
      category: 'conflict',
      hint: 'Read it first, then decide what to write. To change a part of it use edit.',
      details: { path },
    },
  );
}
