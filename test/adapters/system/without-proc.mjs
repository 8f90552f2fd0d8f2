/**
 * A program in a system without /proc, as some containers and chroots are: `node without-proc.mjs <folder>`. Each
 * adapter that holds folders open writes or reads one file in the folder. It writes one line of JSON: what each said.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [, , folder = ''] = process.argv;
/** @param {string} path */
const load = (path) => import(`../../../dist/adapters/${path}.js`);
const [
  { createAttachmentFiles },
  { scanCopy },
  { createWorkspaceStage },
  { Places },
  { openRuntimeFolder },
  { writeWorkspaceFile },
] = await Promise.all(
  [
    'files/attachment-files',
    'workspace-copy-files/copy-scan',
    'shared-files/workspace-stage',
    'file-tools/places',
    'file-tools/runtime-folder',
    'acp/workspace-files',
  ].map(load),
);

/** @type {Record<string, (workspace: string) => Promise<unknown>>} */
const ways = {
  async attachments(workspace) {
    const source = join(workspace, 'source');
    await writeFile(source, 'text');
    const store = createAttachmentFiles({ workspaceDirectory: async () => workspace });
    const [kept] = await store.keep({ sessionId: 's', agentId: 'a' }, [{ path: source }]);
    return readFile(join(workspace, kept.path), 'utf8');
  },
  async workspaceCopies(workspace) {
    await mkdir(join(workspace, 'in'));
    await writeFile(join(workspace, 'in/file'), 'text');
    const { entries } = await scanCopy({
      roots: [{ root: 'workspace', directory: workspace }],
      known: new Map(),
      limits: { maxFiles: 9, maxBytes: 99 },
      onPiece: async (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString(),
    });
    return entries.find((/** @type {{ kind: string }} */ { kind }) => kind === 'file')?.pieces.join('');
  },
  async stage(workspace) {
    const stage = createWorkspaceStage();
    await stage.put(workspace, 1, [{ path: 'notes/one.md', content: Buffer.from('text') }]);
    return Buffer.from((await stage.read(workspace)).files[0].content).toString();
  },
  async tools(workspace) {
    const runtime = await openRuntimeFolder(await Places.open({ workspaceDirectory: workspace }), ['in']);
    await writeFile(runtime.at('file'), 'text');
    await runtime.close();
    return readFile(join(workspace, '.wakechart-runtime/in/file'), 'utf8');
  },
  async acp(workspace) {
    await writeWorkspaceFile(join(workspace, 'in/file'), Buffer.from('text'));
    return readFile(join(workspace, 'in/file'), 'utf8');
  },
};

/** @type {Record<string, unknown>} */
const said = {};
for (const [name, way] of Object.entries(ways)) {
  const workspace = join(folder, name);
  await mkdir(workspace);
  said[name] = await way(workspace).catch(String);
}
process.stdout.write(JSON.stringify(said));
