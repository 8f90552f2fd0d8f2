/** An image that comes with a message: shown to agents that take it, found by programs with tools of their own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { says, use } from '../support/http-models/conversation.ts';
import { ACP_PROGRAMS, openAcp, played } from './acp-stage.ts';
import { openClaude } from './claude-stage.ts';
import { openCodex } from './codex-stage.ts';
import { describeProgram } from './programs.ts';
import type { Stage } from './stage.ts';

/** One red pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
/** As PNG or, where a program encodes it anew, as JPEG or WebP begins. */
const IMAGE = /iVBORw0KGgo|"\/9j\/|base64,\/9j\/|UklGR/;

async function asked(stage: Stage): Promise<{ readonly id: string; readonly place: string }> {
  const path = join(stage.userHome, 'pixel.png');
  await writeFile(path, Buffer.from(PIXEL, 'base64'));
  return stage.sessionWith('What is in it?', path);
}

describeProgram('claude', () => {
  it('is told where the image lies, and its own tool shows it to its model', async () => {
    await using stage = await openClaude();
    const { id, place } = await asked(stage);
    stage.conversation().script(use('Read', { file_path: place }), says('A pixel.'));
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'A pixel.' });
    const [first, second] = stage.conversation().requests;
    expect([first?.text.includes('pixel.png'), first?.text.match(IMAGE)]).toEqual([true, null]);
    expect(second?.text).toMatch(IMAGE);
  });
});

describeProgram('codex', () => {
  it('is told where the image lies, and its own tool shows it to its model', async () => {
    await using stage = await openCodex({ agent: { permission: { mode: 'preapproved' } } });
    const { id, place } = await asked(stage);
    stage.conversation().script(use('view_image', { path: place }), says('A pixel.'));
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'A pixel.' });
    const [first, second] = stage.conversation().requests;
    expect([first?.text.includes('pixel.png'), first?.text.match(IMAGE)]).toEqual([true, null]);
    expect(second?.text).toMatch(IMAGE);
  });
});

describe.each(ACP_PROGRAMS)('%s', (program) => {
  describeProgram(program, () => {
    it('is given the image, and its model sees it', async () => {
      await using stage = await openAcp(program, { seesImages: true });
      const { id } = await asked(stage);
      played(stage, program).script(says('A pixel.'));
      expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'A pixel.' });
      expect(played(stage, program).requests[0]?.text).toMatch(IMAGE);
    });
  });
});

describeProgram('opencode', () => {
  it('tells a model that takes no images that it cannot be shown one', async () => {
    await using stage = await openAcp('opencode');
    const { id } = await asked(stage);
    played(stage, 'opencode').script(says('I cannot see it.'));
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'I cannot see it.' });
    const [request] = played(stage, 'opencode').requests;
    expect(request?.text).not.toMatch(IMAGE);
    expect(request?.text).toMatch(/pixel\.png/);
    expect(request?.text).toMatch(/does not support image/);
  });
});
