import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileToolset } from '../../../src/adapters/file-tools/file-tools.ts';
import { Places } from '../../../src/adapters/file-tools/places.ts';
import { withQuotaNotes } from '../../../src/actors/turn/quota-notes.ts';
import { WorkspaceQuotas } from '../../../src/adapters/file-tools/workspace-quotas.ts';
import { refusalOf } from './file-tools-setup.ts';
import { mountedSetup } from './mounted-setup.ts';

const signal = new AbortController().signal;

describe('a quota of bytes', () => {
  it('refuses what would exceed it before anything is written, with figures', async () => {
    const { call, put, workspace } = await mountedSetup({ quota: { maxBytes: 100 } });
    await put('a.txt', 'x'.repeat(60));
    await expect(call('write', { path: 'made/b.txt', content: 'y'.repeat(41) })).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
      category: 'capacity',
      details: { bytes: 60, addedBytes: 41, maxBytes: 100 },
    });
    expect(await readdir(workspace)).toEqual(['a.txt']);
    expect(await call('write', { path: 'b.txt', content: 'y'.repeat(40) })).toMatchObject({ action: 'created' });
    expect(await refusalOf(call('write', { path: 'c.txt', content: 'z' }))).toBe('QUOTA_EXCEEDED');
  });

  it('counts what an edit adds, and lets a file shrink where there is too much already', async () => {
    const { call, put } = await mountedSetup({ quota: { maxBytes: 10 } });
    await put('a.txt', 'abcdefghij');
    expect(await refusalOf(call('edit', { path: 'a.txt', oldText: 'a', newText: 'aa' }))).toBe('QUOTA_EXCEEDED');
    await put('b.txt', 'more');
    expect(await call('edit', { path: 'a.txt', oldText: 'abcde', newText: 'a' })).toMatchObject({ replacements: 1 });
    await call('read', { path: 'b.txt' });
    expect(await call('write', { path: 'b.txt', content: '' })).toMatchObject({ action: 'replaced' });
  });

  it('knows at once what was deleted behind its back, for nobody is refused by an old figure', async () => {
    const { call, put, workspace } = await mountedSetup({ quota: { maxBytes: 100 } });
    await put('a.txt', 'x'.repeat(90));
    expect(await refusalOf(call('write', { path: 'b.txt', content: 'y'.repeat(50) }))).toBe('QUOTA_EXCEEDED');
    await rm(join(workspace, 'a.txt'));
    expect(await refusalOf(call('write', { path: 'b.txt', content: 'y'.repeat(50) }))).toBe('no refusal');
  });

  it('counts what the session keeps for itself too, wherever it writes it', async () => {
    const { call } = await mountedSetup({ quota: { maxBytes: 100 } });
    expect(await refusalOf(call('write', { path: '/runtime/a.txt', content: 'x'.repeat(60) }))).toBe('no refusal');
    expect(await refusalOf(call('write', { path: 'a.txt', content: 'x'.repeat(60) }))).toBe('QUOTA_EXCEEDED');
    expect(await refusalOf(call('write', { path: '/runtime/b.txt', content: 'x'.repeat(60) }))).toBe('QUOTA_EXCEEDED');
    expect(await refusalOf(call('write', { path: 'a.txt', content: 'x'.repeat(40) }))).toBe('no refusal');
  });

  it('does not count what the runtime lays out, and does not say what is true no more', async () => {
    const { call, put, workspace } = await mountedSetup({ quota: { maxBytes: 100, maxFiles: 2 } });
    await put('.wakechart-runtime/tools.json', 'x'.repeat(90));
    await put('.wakechart-runtime/index.md', 'x'.repeat(90));
    await put('.wakechart-runtime/sessions/0192f0c1-2345-7abc-8def-0123456789ab/events.jsonl', 'x'.repeat(90));
    await call('write', { path: 'a.txt', content: 'x'.repeat(90) });
    await expect(call('write', { path: 'b.txt', content: 'x'.repeat(20) })).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
    });
    await rm(join(workspace, 'a.txt'));
    await call('write', { path: 'b.txt', content: 'x'.repeat(20) });
  });

  it('counts what lies where the runtime keeps outputs: commands can write there', async () => {
    const { call, put } = await mountedSetup({ quota: { maxBytes: 100 } });
    await put('.wakechart-runtime/outputs/call.txt', 'x'.repeat(90));
    expect(await refusalOf(call('write', { path: 'b.txt', content: 'x'.repeat(20) }))).toBe('QUOTA_EXCEEDED');
  });

  it('does not follow links', async () => {
    const { call, outside, workspace } = await mountedSetup({ quota: { maxBytes: 300 } });
    await writeFile(join(outside, 'large'), 'x'.repeat(10_000));
    await symlink(outside, join(workspace, 'out'));
    expect(await refusalOf(call('write', { path: 'a.txt', content: 'x' }))).toBe('no refusal');
  });
});

describe('a quota of files', () => {
  it('counts files, folders and links, those too that a write would make', async () => {
    const { call, workspace } = await mountedSetup({ quota: { maxFiles: 3 } });
    await mkdir(join(workspace, 'd'));
    expect(await refusalOf(call('write', { path: 'd/e/f.txt', content: '' }))).toBe('no refusal');
    expect(await refusalOf(call('write', { path: 'g.txt', content: '' }))).toBe('QUOTA_EXCEEDED');
    expect(await refusalOf(call('edit', { path: 'd/e/f.txt', oldText: 'x', newText: 'y' }))).not.toBe('QUOTA_EXCEEDED');
    expect(await readdir(workspace)).toEqual(['d']);
  });

  it('holds for calls that come at once', async () => {
    const { call, workspace } = await mountedSetup({ quota: { maxFiles: 5 } });
    const codes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => refusalOf(call('write', { path: `${index}.txt`, content: 'x' }))),
    );
    expect(codes.filter((code) => code === 'no refusal')).toHaveLength(5);
    expect(await readdir(workspace)).toHaveLength(5);
  });
});

describe('after a command', () => {
  it('there is a note when the workspace holds more than it may, and none before', async () => {
    const { put, workspace } = await mountedSetup();
    const quotas = new WorkspaceQuotas();
    const places = await Places.open({ workspaceDirectory: workspace });
    await put('a.txt', 'x'.repeat(10));
    expect(await quotas.note({ places, limits: { maxBytes: 10 }, signal })).toBeUndefined();
    expect(await quotas.note({ places, limits: {}, signal })).toBeUndefined();
    expect(await new WorkspaceQuotas().note({ places, limits: { maxBytes: 9 }, signal })).toMatch(
      /10 bytes, 9 at most/,
    );
  });

  it('the result says so, and a tool that runs none says nothing', async () => {
    const { environment, workspace, put, tool } = await mountedSetup({ quota: { maxBytes: 5 } });
    await put('a.txt', 'x'.repeat(10));
    const { quotaNote } = createFileToolset();
    const command = {
      definition: { ...tool('read').definition, name: 'command', effects: ['runs_processes'] as const },
      run: () => Promise.resolve({ exitCode: 0 }),
    };
    const [noting, plain] = withQuotaNotes([command, tool('read')], quotaNote);
    const context = {
      session: { sessionId: 's', agentId: 'a' },
      callId: 'c',
      workspaceDirectory: workspace,
      environment,
      signal,
    };
    expect(await noting?.run?.({}, context)).toMatchObject({
      exitCode: 0,
      workspaceNote: expect.stringContaining('10 bytes, 5 at most'),
    });
    expect(await noting?.run?.({}, { ...context, environment: undefined })).toEqual({ exitCode: 0 });
    expect(plain).toBe(tool('read'));
  });
});
