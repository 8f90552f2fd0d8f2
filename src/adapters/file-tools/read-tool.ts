/** `read`: a page of a text file, streamed, so that a file of any size costs no more memory than its page. */
import type { FileHandle } from 'node:fs/promises';
import type { SessionSecrets } from '../../actors/environment/session-secrets.ts';
import type { Tool, ToolContext } from '../../actors/turn/tool.ts';
import { fileKindOf } from '../../machines/turn/files/file-kind.ts';
import { DEFAULT_READ_LINES, MAX_LINE_CHARACTERS } from '../../machines/turn/files/file-limits.ts';
import { LinePage } from '../../machines/turn/files/line-page.ts';
import type { PageRequest } from '../../machines/turn/files/line-page.ts';
import { LineSplitter } from '../../machines/turn/files/line-splitter.ts';
import { readDefinition } from '../../machines/turn/files/read-file.ts';
import type { ReadInput, ReadOutput } from '../../machines/turn/files/read-file.ts';
import { VersionHash, beginningOf, chunksFrom, versionOf } from './file-chunks.ts';
import type { Beginning } from './file-chunks.ts';
import { fileFailed } from './file-errors.ts';
import { pathSubject } from './file-tool-ports.ts';
import type { FileToolPorts } from './file-tool-ports.ts';
import type { Place } from './places.ts';
import { ShownText } from './shown-text.ts';

export function createReadTool(ports: FileToolPorts): Tool<ReadInput> {
  return {
    definition: readDefinition,
    subject: ({ path }, context) => pathSubject(path, 'read', context),
    async run({ path, offset = 1, limit = DEFAULT_READ_LINES }, context) {
      const places = await ports.places(context);
      const place = await places.locate(path, 'read');
      const handle = await places.openFile(place);
      try {
        const { output, version } = await readOpenFile(handle, {
          place,
          page: { offset, limit },
          signal: context.signal,
          secrets: context.environment?.secrets,
        });
        ports.seen.remember(context.session.sessionId, place.realPath, version);
        return output;
      } catch (error) {
        throw fileFailed('read', path, error);
      } finally {
        await handle.close();
      }
    },
  };
}

interface Reading extends Pick<ToolContext, 'signal'> {
  readonly place: Place;
  readonly page: PageRequest;
  readonly secrets: SessionSecrets | undefined;
}

interface ReadFile {
  readonly output: ReadOutput;
  readonly version: string;
}

async function readOpenFile(handle: FileHandle, { place, page, signal, secrets }: Reading): Promise<ReadFile> {
  const beginning = await beginningOf(handle);
  const kind = fileKindOf(beginning.bytes);
  if (kind.kind === 'text') return readPage(beginning, page, { signal, secrets });
  const what = { mediaType: kind.mediaType, path: place.shown, bytes: beginning.size };
  const version = await versionOf(handle, signal);
  if (kind.kind === 'image') return { output: { type: 'image', ...what, mediaType: kind.mediaType }, version };
  return {
    output: { type: 'binary', ...what, note: 'This file is not UTF-8 text, so its content is not shown.' },
    version,
  };
}

async function readPage(
  beginning: Beginning,
  request: PageRequest,
  { signal, secrets }: Pick<Reading, 'signal' | 'secrets'>,
): Promise<ReadFile> {
  const page = new LinePage(request);
  const splitter = new LineSplitter({ maxCharacters: MAX_LINE_CHARACTERS });
  const shown = new ShownText({ secrets, hasMark: true });
  const hash = new VersionHash();
  let isWhole = true;
  for await (const chunk of chunksFrom(beginning, signal)) {
    const isHashed = hash.add(chunk);
    for (const line of splitter.push(shown.push(chunk))) page.add(line);
    // What follows the page is read only for as long as it tells which state of the file this is.
    isWhole = isHashed || !page.isFull;
    if (!isWhole) break;
  }
  if (isWhole) {
    for (const line of splitter.push(shown.end())) page.add(line);
    const last = splitter.end();
    if (last !== undefined) page.add(last);
  }
  return { output: page.toText({ isWhole }), version: hash.version(await beginning.handle.stat({ bigint: true })) };
}
